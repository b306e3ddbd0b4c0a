"""The verification of a record: its own consistency, and its agreement with a sighting.

The sighting is the evidence that this machine saved during the race. A consistent record may
still be of another race; only a sighting excludes that.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from saratoga_client.session.testimony import Testimony, compare_with_record
from saratoga_client.session.witness import CONSISTENT, MISSING, Sighting, Sightings, Witness
from saratoga_client.wording import capitalised
from saratoga_rules.records.digest_words import digest_words
from saratoga_rules.records.record import RaceRecord, RacerLog, digest_of
from saratoga_rules.records.standing import Placed
from saratoga_rules.records.verify import Check, verify

WITNESS: Final = "witness"
"""The name of the check against what this machine saw."""

ALARMS: Final = "alarms"
"""The name of the check that fails if this machine raised alarms about the race."""

NOT_VERIFIED: Final = "not verified"
"""The verdict on a record that agrees with what this machine saw, and fails another check."""

UNKNOWN_HERE: Final = "cannot be checked here"
"""The verdict on a record that contradicts nothing, and that only a newer program can check."""

LONGEST_FAULT: Final = 300
"""Maximum number of characters of a fault in an alarm: the server chooses how much is wrong."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """All checks of one record, with the parsed record."""

    checks: tuple[Check, ...]
    testimony: Testimony
    alarms: tuple[str, ...] = ()
    """The alarms that this machine raised during the race or after it."""
    record: RaceRecord | None
    """The record; `None` if it cannot be read."""
    standing: tuple[Placed, ...]
    digest: str

    @property
    def words(self) -> str:
        """The four words of the digest; empty if the text is no record."""
        return digest_words(self.digest) if self.digest else ""

    @property
    def ok(self) -> bool:
        return all(check.ok for check in self.checks)

    @property
    def is_contradicted(self) -> bool:
        """True if a check failed that this program can make."""
        return any(check.is_contradicted for check in self.checks)

    @property
    def verdict(self) -> str:
        """Return the verdict of the testimony, or `NOT_VERIFIED` or `UNKNOWN_HERE` if only other checks failed."""
        if self.ok or self.testimony.disagreements:
            return self.testimony.verdict
        return NOT_VERIFIED if self.is_contradicted else UNKNOWN_HERE

    @property
    def faults(self) -> tuple[str, ...]:
        """Return a sentence for each contradiction, and one for each other check that failed."""
        failed = [check for check in self.checks if not check.ok and not check.unknown]
        others = [check.detail for check in failed if check.name not in (WITNESS, ALARMS)]
        return (
            *self.testimony.disagreements,
            *self.alarms,
            *(f"the record is not verified: {_shortened(detail)}" for detail in others),
        )

    @property
    def race(self) -> str:
        return "" if self.record is None else self.record.race_id

    @property
    def game(self) -> str:
        return "" if self.record is None else self.record.game

    @property
    def places(self) -> list[tuple[Placed, RacerLog]]:
        """Return the order of finish, recomputed from the moves, with each racer's log."""
        if self.record is None:
            return []
        return [(placed, self.record.racer(placed.player)) for placed in self.standing]

    @property
    def sentence(self) -> str:
        """Return the verdict in a sentence."""
        if not self.ok and not self.is_contradicted:
            (why, *_) = (check.detail for check in self.checks if not check.ok)
            named = self.race or "The record"
            return f"{named} cannot be checked here: {_shortened(why)}."
        if not self.ok:
            faults = sum(check.is_contradicted for check in self.checks)
            of_race = f" of {self.race}" if self.race else ""
            return f"NOT VERIFIED: {faults} of {len(self.checks)} checks{of_race} failed."
        if self.record is not None and self.record.voided:
            return (
                f"{self.race} was voided by the server, so it counts for nothing. What the server opened "
                f"of it is verified: {self.testimony.verdict}."
            )
        losses = self.testimony.losses
        lost = f" {capitalised(losses)}." if losses else ""
        return f"{self.race} is verified: {self.testimony.verdict}.{lost}"


def prove(
    record: bytes,
    wanted: str = "",
    sighting: Sighting | None = None,
    witness: Sightings | None = None,
    words: str = "",
    kept: str = "",
) -> Proof:
    """Check a record; `wanted` is the id of the race that the user named, if any.

    `words` are the four words of the digest that a friend was shown, and `kept` is the record of that race
    that this machine keeps, if any. Without a `sighting`, the one saved on this machine is used; without a
    `witness`, this machine's.
    """
    witness = witness or Witness()
    verdict = verify(record)
    checks = list(verdict.checks)
    testimony, digest = Testimony((), ()), ""
    alarms: tuple[str, ...] = ()
    found = verdict.record
    if found is not None:
        text = record.decode("ascii")
        race, digest = found.race_id, digest_of(text)
        checks.append(_words_check(digest, words))
        if kept and digest_of(kept) != digest:
            checks.append(_other_record(kept))
        if wanted:
            checks.append(_right_race(wanted, race))
        sighting = sighting or witness.load(wanted or race)
        testimony = compare_with_record(sighting, text)
        checks.append(_witness_check(testimony))
        alarms = () if sighting is None else tuple(sorted(set(sighting.alarms) - MISSING))
        if alarms:
            checks.append(Check(ALARMS, False, "; ".join(alarms)))
    elif any(check.unknown for check in checks):
        text = record.decode("ascii")
        digest = digest_of(text)
        sighting = sighting or witness.load(wanted)
        if sighting is not None and sighting.is_promised:
            testimony = Testimony((), tuple(_unread_faults(sighting, text)))
        checks.append(_witness_check(testimony))
    return Proof(
        checks=tuple(checks),
        testimony=testimony,
        alarms=alarms,
        record=verdict.record,
        standing=verdict.standing,
        digest=digest,
    )


def _shortened(detail: str) -> str:
    return detail if len(detail) <= LONGEST_FAULT else f"{detail[: LONGEST_FAULT - 3]}..."


def _words_check(digest: str, words: str) -> Check:
    found = digest_words(digest)
    if words in ("", found):
        return Check("words", True, f"the four words of the digest are {found}")
    return Check("words", False, f"the words {words} are of another record; this one has {found}")


def _other_record(kept: str) -> Check:
    found = digest_words(digest_of(kept))
    kept_here = f"this machine keeps another record of the race, with the words {found}"
    return Check("kept", False, f"{kept_here}; two servers may have races of one id")


def _right_race(wanted: str, got: str) -> Check:
    if wanted == got:
        return Check("race", True, f"the record is of race {wanted}")
    return Check("race", False, f"race {wanted} was asked for, but the record is of race {got}")


def _unread_faults(sighting: Sighting, text: str) -> Iterator[str]:
    """Yield how the lines of a newer record that this program can read contradict what this machine saw."""
    seen = {"digest": sighting.digest, "commitment": sighting.commitment, "cap": sighting.cap}
    lines = (line.partition(" ") for line in text.split("\n")[:10])
    found = {word: value for word, _, value in lines} | {"digest": digest_of(text)}
    for word, value in seen.items():
        if value not in ("", None) and found.get(word, str(value)) != str(value):
            yield f"the {word} was {value}, and in the record is {found[word]}"


def _witness_check(testimony: Testimony) -> Check:
    if testimony.disagreements:
        return Check(WITNESS, False, "; ".join(testimony.disagreements))
    if testimony.seen:
        seen = ", ".join(testimony.seen)
        is_whole = testimony.worth != CONSISTENT
        what = "the race that" if is_whole else "consistent with the part of the race that"
        lost = f"; {testimony.losses}" if testimony.losses else ""
        return Check(WITNESS, True, f"this is {what} this machine saw: {seen}{lost}")
    return Check(WITNESS, True, "this machine saw nothing of this race")
