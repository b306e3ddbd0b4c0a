"""Verify a finished race by computing everything in its record again.

A record can prove that it is consistent: the seed is the one committed to, seed and nonces make
this deal, every move was legal and in time, and counts, endings and places follow. Whether it is
the race that *was* played can only be checked by a witness who kept the commitment, the nonce
hashes or the digest announced at the time.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

from saratoga_rules.dealing.deal import deal_for_key
from saratoga_rules.dealing.fairness import commitment, deal_key, nonce_hash
from saratoga_rules.game import Game
from saratoga_rules.position import Position
from saratoga_rules.records.checks import Check, check_of
from saratoga_rules.records.endings import faults_of_ending
from saratoga_rules.records.lines import UnknownFact
from saratoga_rules.records.ranked import may_be_ranked
from saratoga_rules.records.record import (
    MOST_ENTRIES,
    LogLine,
    RaceRecord,
    RacerLog,
    digest_of,
    format_record,
    parse_record,
    results_of,
)
from saratoga_rules.records.replay import ReplayError, Step, game_of, steps
from saratoga_rules.records.standing import Count, Placed, RacerScore, State, last_reached, ranking
from saratoga_rules.records.void_checks import earlier_races_check, void_checks
from saratoga_rules.records.void_record import VoidRecord, is_void_record, parse_void_record


@dataclass(frozen=True, slots=True)
class Verdict:
    """The outcome of all checks; each check builds on those before it."""

    checks: tuple[Check, ...]
    record: RaceRecord | None
    """The record; `None` if the text is not a record."""
    standing: tuple[Placed, ...] = ()
    """The order of finish that follows from the moves; empty if the moves could not be replayed."""
    void: VoidRecord | None = None
    """The record of a race that the server voided, if the text is one; then there is no `record`."""

    @property
    def ok(self) -> bool:
        return all(check.ok for check in self.checks)

    @property
    def faults(self) -> tuple[Check, ...]:
        return tuple(check for check in self.checks if not check.ok)


def verify(source: str | bytes | RaceRecord) -> Verdict:
    """Check a record, or its text, and return the verdict.

    Proving a board stuck can take seconds; the other checks are fast.
    """
    if isinstance(source, RaceRecord):
        return _verify_text(format_record(source))
    if isinstance(source, str):
        return _verify_text(source)
    try:
        return _verify_text(source.decode("ascii"))
    except UnicodeDecodeError as fault:
        wrong = f"byte {fault.start + 1} is not ASCII, and a record has only ASCII"
        return Verdict((Check("text", False, wrong),), None)


def _verify_text(text: str) -> Verdict:
    sealed = check_of("digest", _digest_faults(text), "the digest matches the lines before it")
    if is_void_record(text):
        return _verify_void(sealed, text)
    try:
        record = parse_record(text)
    except ValueError as fault:
        return Verdict((sealed, _unreadable(fault)), None)
    readable = Check("text", True, f"a record of race {record.race_id}")
    try:
        game = game_of(record)
    except ReplayError as fault:
        # the version of the rules is in the commitment, so no server can change it afterwards
        unknown = Check("rules", False, str(fault), unknown=True)
        return Verdict((sealed, readable, unknown, *_promise_checks(record)), record)
    known = Check("rules", True, f"{game.title}, version {record.rules_version} of the rules")
    checks = [sealed, readable, known, *_source_checks(game, record)]
    if not checks[-1].ok:
        # moves on another deal cannot be checked
        return Verdict(tuple(checks), record)
    story = _story(record)
    if isinstance(story, str):
        return Verdict((*checks, Check("moves", False, story)), record)
    placed = _placed(game, record, story)
    return Verdict((*checks, *_story_checks(game, record, story, placed)), record, placed)


def _verify_void(sealed: Check, text: str) -> Verdict:
    try:
        void = parse_void_record(text)
    except ValueError as fault:
        return Verdict((sealed, _unreadable(fault)), None)
    return Verdict((sealed, *void_checks(void)), None, void=void)


def _unreadable(fault: ValueError) -> Check:
    return Check("text", False, str(fault), unknown=isinstance(fault, UnknownFact))


_Story: TypeAlias = Mapping[str, list[Step]]
"""Every entry with the position after it, by player id."""


def _digest_faults(text: str) -> Iterator[str]:
    if not text.endswith(f"\ndigest {digest_of(text)}\n"):
        yield f"the text was changed: the digest of its lines is {digest_of(text)}"


def _source_checks(game: Game, record: RaceRecord) -> Iterator[Check]:
    """Yield the checks of what was fixed before the first move: commitment, nonces and deal."""
    yield from _promise_checks(record)
    yield check_of("deal", _deal_faults(game, record), "the seed and the nonces produce this deal")


def _promise_checks(record: RaceRecord) -> Iterator[Check]:
    """Yield the checks of what was promised before the deal; they need no rules."""
    yield check_of("commitment", _commitment_faults(record), "the seed matches the commitment")
    yield check_of("nonces", _nonce_faults(record), "every nonce matches its hash")


def _commitment_faults(record: RaceRecord) -> Iterator[str]:
    seed = bytes.fromhex(record.seed)
    promised = commitment(
        seed,
        record.game,
        record.rules_version,
        record.table,
        record.race,
        cap=record.cap,
        public=record.public,
    )
    if promised != record.commitment:
        yield f"the commitment of this seed is {promised}"


def _nonce_faults(record: RaceRecord) -> Iterator[str]:
    if not record.racers:
        yield "the record has no racers"
    for racer in record.racers:
        if nonce_hash(bytes.fromhex(racer.nonce)) != racer.nonce_hash:
            yield f"the nonce of {racer.name} does not match its hash"


def _deal_faults(game: Game, record: RaceRecord) -> Iterator[str]:
    key = deal_key(bytes.fromhex(record.seed), record.race_id, record.nonces)
    if deal_for_key(game, key) != record.deal:
        yield "the seed and the nonces produce another deal"


def _story(record: RaceRecord) -> _Story | str:
    """Replay every board; return its steps by player, or a sentence that says why the replay failed."""
    story: dict[str, list[Step]] = {}
    for racer in record.racers:
        if len(racer.log) > MOST_ENTRIES + 1:
            return f"{racer.name}: the log has {len(racer.log)} entries, more than {MOST_ENTRIES} and an ending"
    for racer in record.racers:
        try:
            story[racer.player] = steps(record, racer.player)
        except ReplayError as fault:
            return f"{racer.name}, {fault}"
    return story


def _placed(game: Game, record: RaceRecord, story: _Story) -> tuple[Placed, ...]:
    return tuple(ranking(game, (_racer(record, racer, story) for racer in record.racers)))


def _racer(record: RaceRecord, racer: RacerLog, story: _Story) -> RacerScore:
    counts = [
        Count(position.banked, line.at, line.number) for line, position in story[racer.player]
    ]
    return RacerScore(
        player=racer.player,
        banked=_end(record, story, racer).banked,
        state=racer.state,
        reached=last_reached(record.deal.banked, counts),
    )


def _end(record: RaceRecord, story: _Story, racer: RacerLog) -> Position:
    made = story[racer.player]
    return made[-1].position if made else record.deal


def _story_checks(
    game: Game, record: RaceRecord, story: _Story, placed: tuple[Placed, ...]
) -> Iterator[Check]:
    """Yield the checks of moves, times, scores, endings and places."""
    moves = sum(racer.moves for racer in record.racers)
    yield Check("moves", True, f"{moves} moves, all legal")
    yield check_of("times", _time_faults(record), "every entry is in time and in order")
    yield check_of("numbers", _number_faults(record), "the commit numbers run from 1 without gaps")
    yield check_of("scores", _score_faults(record, story), "the counts follow from the moves")
    yield check_of(
        "endings", _ending_faults(game, record, story), "every board ended as its log says"
    )
    yield check_of("finish", _finish_faults(record, placed), "the places follow from the moves")
    yield check_of("ranked", _ranked_faults(record), "ranked" if record.ranked else "not ranked")
    if record.voided:
        yield earlier_races_check(record)


def _time_faults(record: RaceRecord) -> Iterator[str]:
    # over all boards, times never fall as the commit numbers rise
    for (before, _), (after, racer) in pairwise(_entries_by_number(record)):
        if after.at < before.at:
            yield f"{racer.name}: number {after.number} at {after.at} ms follows {before.at} ms"
    allowed = record.time_allowed
    for line, racer in _entries_by_number(record):
        late = allowed is not None and line.at >= allowed
        if late and line.text != State.OUT_OF_TIME:
            yield f"{racer.name}: {line.text} at {line.at} ms is not before the deadline"


def _number_faults(record: RaceRecord) -> Iterator[str]:
    for racer in record.racers:
        for before, after in pairwise(racer.log):
            if after.number <= before.number:
                yield f"{racer.name}: number {after.number} follows {before.number}"
    for expected, (line, racer) in enumerate(_entries_by_number(record), start=1):
        if line.number != expected:
            yield f"{racer.name}: expected number {expected}, found {line.number}"
            return


def _entries_by_number(record: RaceRecord) -> list[tuple[LogLine, RacerLog]]:
    entries = [(line, racer) for racer in record.racers for line in racer.log]
    return sorted(entries, key=lambda entry: entry[0].number)


def _score_faults(record: RaceRecord, story: _Story) -> Iterator[str]:
    for racer in record.racers:
        banked = _end(record, story, racer).banked
        if banked != racer.banked:
            yield f"{racer.name} banked {banked} cards, not {racer.banked}"


def _ending_faults(game: Game, record: RaceRecord, story: _Story) -> Iterator[str]:
    for racer in record.racers:
        for fault in faults_of_ending(game, record, racer, story[racer.player]):
            yield f"{racer.name}: {fault}"
            # further proofs take time and cannot make this record valid
            return


def _finish_faults(record: RaceRecord, placed: tuple[Placed, ...]) -> Iterator[str]:
    right = results_of(placed)
    if len(right) != len(record.results):
        yield f"{len(right)} players raced, but {len(record.results)} have a place"
    for row, claimed in zip(right, record.results, strict=False):
        if row != claimed:
            reached = "never" if row.reached is None else f"at {row.reached} ms"
            yield (
                f"place {row.place} should be {row.player}: {row.banked} banked, net {row.net},"
                f" reached {reached}, {row.state}"
            )


def _ranked_faults(record: RaceRecord) -> Iterator[str]:
    people = sum(not racer.bot for racer in record.racers)
    may_be = may_be_ranked(chosen_seed=record.chosen_seed, cap=record.cap, racers=people)
    if record.ranked and not may_be:
        yield "it should not be ranked"
