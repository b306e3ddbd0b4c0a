"""The verdict on a record: its own consistency, and its agreement with what this machine saw.

A consistent record may still be of another race; only what this machine saw excludes that. Every
check, and so the verdict, has one of three outcomes: the record agrees, it is contradicted, or it
cannot be checked here.
"""

from dataclasses import dataclass
from typing import Final

from saratoga_client.problems import MISSING
from saratoga_client.session.witness import RACED, UNSEEN, WATCHED, SeenRace
from saratoga_client.wording import counted
from saratoga_rules.records.digest_words import digest_words
from saratoga_rules.records.facts import CONTRADICTED, UNCHECKED, Finding, compare
from saratoga_rules.records.record import digest_of
from saratoga_rules.records.verify import Check, Verdict, unchecked, verify

WITNESS: Final = "witness"
"""The name of the check against what this machine saw."""

LONGEST_FAULT: Final = 300
"""Maximum number of characters of a fault in a sentence: the server chooses how much is wrong."""

CHANGED: Final = {
    "player": "which player you are",
    "open": "that friends race here, and not each alone",
    "terms": "the game, the time limit or the kind of table, or left the race out",
    "commitment": "the deal that was fixed before the race",
    "racers": "who takes part",
    "racer": "a racer's name, or who is a bot",
    "hash": "a racer's part in the deal",
    "revealed": "whether your part in the deal came in time",
    "left": "whether you left the race",
    "start": "when the race starts or ends",
    "ranked": "whether the race counts for the leaderboards",
    "board": "the cards on your board",
    "entry": "your moves",
    "head": "the moves of a racer",
    "result": "a racer's result",
    "net": "a racer's result",
    "order": "the order of finish, or left the race out",
    "seed": "the deal",
    "end": "the record of the race",
    "void": "whether and why the race was called off",
}
"""What a server has changed that states another value of a fact, by the kind of the fact."""

VERDICTS: Final = {
    RACED: "it is the race that you played",
    WATCHED: "it is the race that you watched",
    UNSEEN: "this machine did not see all of it, so only the record speaks for it",
}


def alarm_sentence(found: Finding) -> str:
    """Return a contradiction as players read it."""
    return f"Race {found.key[1]}: the server has changed {CHANGED[found.key[0]]}. Do not trust it."


def missing_sentence(race: str) -> str:
    """Return the sentence about a race whose record the server does not have."""
    return f"{MISSING}the server started race {race}, and does not show what became of it."


def not_sent_sentence(race: str) -> str:
    """Return the sentence about a race whose record did not come for another reason."""
    return f"{race} is not checked yet: the server has not sent it."


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof(Verdict):
    """The verdict on one record, with the checks against what this machine saw and what the user has."""

    findings: tuple[Finding, ...]
    """How the record differs from what this machine saw, and how the server contradicted itself before."""
    worth: str
    """What this machine saw of the race: `RACED`, `WATCHED` or `UNSEEN`."""
    text: str
    digest: str

    @property
    def words(self) -> str:
        """The four words of the digest; empty if the text is no record."""
        return digest_words(self.digest) if self.digest else ""

    @property
    def verdict(self) -> str:
        """Return `RACED`, `WATCHED`, `UNSEEN`, `contradicted` or `unchecked`."""
        if self.ok:
            return self.worth
        return CONTRADICTED if self.is_contradicted else UNCHECKED

    @property
    def race(self) -> str:
        return "" if self.record is None else self.record.race_id

    @property
    def alarms(self) -> tuple[str, ...]:
        """Return a sentence for each thing that the server has changed, or one for a record that is wrong in itself."""
        changed = dict.fromkeys(map(alarm_sentence, self.findings))
        if changed or not self.is_contradicted:
            return tuple(changed)
        why = next(check.detail for check in self.checks if check.is_contradicted)
        return (f"Race {self.race}: the record is wrong: {why[:LONGEST_FAULT]}.",)

    @property
    def sentence(self) -> str:
        """Return the verdict in a sentence."""
        named = self.race or "This record"
        if self.is_contradicted:
            faults = sum(check.is_contradicted for check in self.checks)
            return f"NOT VERIFIED: {named} fails {faults} of {counted(len(self.checks), 'check')}."
        if not self.ok:
            return f"{named} cannot be checked here: {self.faults[0].detail[:LONGEST_FAULT]}."
        if self.record is not None and self.record.voided:
            return f"{named} was called off, so it counts for nothing. It is verified: {VERDICTS[self.worth]}."
        return f"{named} is verified: {VERDICTS[self.worth]}."


def prove(record: bytes, wanted: str = "", seen: SeenRace | None = None, words: str = "") -> Proof:
    """Check a record; `wanted` is the id of the race that the user named, if any.

    `seen` is what this machine saw of that race (`Witness.evidence`), and `words` are the four
    words of the digest that a friend was shown.
    """
    verdict = verify(record)
    found, checks = verdict.record, [*verdict.checks]
    text = record.decode("ascii", "replace")
    digest = "" if found is None else digest_of(text)
    findings = [] if seen is None else [*seen.clashes]
    if found is not None:
        if wanted not in ("", found.race_id):
            asked = f"race {wanted} was asked for, but the record is of race {found.race_id}"
            checks.append(Check("race", False, asked))
        mine = digest_words(digest)
        is_mine = words in ("", mine)
        other = f"the words {words} are of another record; this one has {mine}"
        detail = f"the four words of the digest are {mine}" if is_mine else other
        checks.append(Check("words", is_mine, detail))
        if seen is not None:
            findings += compare(seen.facts, found, digest, seen.player)
    checks.append(_witness_check(seen, findings))
    return Proof(
        checks=tuple(checks),
        findings=tuple(each for each in findings if each.kind == CONTRADICTED),
        worth=UNSEEN if seen is None else seen.worth,
        record=found,
        standing=verdict.standing,
        text=text,
        digest=digest,
    )


def _witness_check(seen: SeenRace | None, findings: list[Finding]) -> Check:
    """Return the check against what this machine saw."""
    if wrong := [each for each in findings if each.kind == CONTRADICTED]:
        details = (
            f"{' '.join([kind, *more])}: {was} was shown, and now {now}"
            for _, (kind, _, *more), was, now in wrong
        )
        return Check(WITNESS, False, "; ".join(details)[:LONGEST_FAULT])
    if seen is None or not seen.is_listed:
        return Check(WITNESS, True, "this machine saw nothing of this race")
    counted_facts = counted(len(seen.facts), "fact")
    if open_ := sum(each.kind == UNCHECKED for each in findings):
        return unchecked(WITNESS, f"{open_} of {counted_facts} cannot be compared here")
    lost = "; the server said that it lost what came before" if seen.is_lost else ""
    return Check(WITNESS, True, f"it agrees with {counted_facts} seen here{lost}")
