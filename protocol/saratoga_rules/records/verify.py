"""Verify a race by computing everything in its record again.

A record can prove that it is consistent: the seed is the one committed to, seed and nonces make
this deal, every move was legal and in time, and counts, endings and places follow. Whether it is
the race that *was* played can only be checked by a witness who kept what the server showed at the
time.

Each check has one of three outcomes: the record agrees, the record is contradicted, or this program
cannot check it here, because an older or newer release made the record or the server lost a part of
it.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, TypeAlias

from saratoga_rules.dealing.deal import deal_for_key
from saratoga_rules.dealing.fairness import commitment, nonce_hash
from saratoga_rules.game import Game
from saratoga_rules.play import is_won
from saratoga_rules.position import Position
from saratoga_rules.records.record import (
    CLOSED,
    CLOSED_IN_COUNTDOWN,
    KNOWN,
    MOST_ENTRIES,
    NONCE_MISSING,
    RACER_GONE,
    RACER_LEFT,
    SERVER_AWAY,
    VOID_REASONS,
    LogLine,
    RaceRecord,
    RacerLog,
    UnknownFormat,
    digest_of,
    format_record,
    parse_record,
)
from saratoga_rules.records.replay import (
    ReplayError,
    Step,
    UnknownGame,
    game_of,
    state_of,
    steps_from,
)
from saratoga_rules.records.standing import (
    IDLE_MILLIS,
    LAST_BOARD_MILLIS,
    Placed,
    RacerScore,
    Reached,
    State,
    last_reached,
    may_be_ranked,
    ranking,
)
from saratoga_rules.stuck.stuck import is_stuck, may_declare

LATEST_START: Final = 10_000
"""Milliseconds after its closing at which the last run of an open race starts: its countdown, and a slow server."""

PROOF_LIMIT: Final = 50_000
"""The most arrangements searched to prove a board stuck; the server searches far fewer."""


@dataclass(frozen=True, slots=True)
class Check:
    """The outcome of one check."""

    name: str
    ok: bool
    detail: str
    """A sentence that says what was found, or what is wrong."""
    unknown: bool = False
    """True if this program cannot make the check; `ok` is false then."""

    @property
    def is_contradicted(self) -> bool:
        return not self.ok and not self.unknown

    @property
    def mark(self) -> str:
        return "ok" if self.ok else "unknown" if self.unknown else "WRONG"


def check_of(name: str, faults: Iterable[str], otherwise: str) -> Check:
    """Return a check that says what is wrong, or `otherwise` if there is no fault."""
    found = "; ".join(faults)
    return Check(name, not found, found or otherwise)


def unchecked(name: str, why: str) -> Check:
    """Return a check that this program cannot make."""
    return Check(name, False, why, unknown=True)


@dataclass(frozen=True, slots=True)
class Verdict:
    """The outcome of all checks; each check builds on those before it."""

    checks: tuple[Check, ...]
    record: RaceRecord | None = None
    """The record; `None` if the text is not a record that this program can read."""
    standing: tuple[Placed, ...] = ()
    """The order of finish that follows from the moves; empty if it was not computed."""

    @property
    def ok(self) -> bool:
        return all(check.ok for check in self.checks)

    @property
    def is_contradicted(self) -> bool:
        return any(check.is_contradicted for check in self.checks)

    @property
    def faults(self) -> tuple[Check, ...]:
        """The checks that contradict the record, or that cannot be made."""
        return tuple(check for check in self.checks if not check.ok)


def verify(source: str | bytes | RaceRecord) -> Verdict:
    """Check a record, or its text, and return the verdict.

    Proving a board stuck can take seconds; the other checks are fast.
    """
    if isinstance(source, RaceRecord):
        source = format_record(source)
    if isinstance(source, bytes):
        try:
            source = source.decode("ascii")
        except UnicodeDecodeError as fault:
            wrong = f"byte {fault.start + 1} is not ASCII, and a record has only ASCII"
            return Verdict((Check("text", False, wrong),))
    try:
        record = parse_record(source)
    except UnknownFormat as fault:
        return Verdict((unchecked("text", str(fault)),))
    except ValueError as fault:
        return Verdict((Check("text", False, str(fault)),))
    kind = ", which the server voided" if record.voided else ""
    checks = [
        Check("text", True, f"a record of race {record.race_id}{kind}"),
        check_of("digest", _digest_faults(source), "the digest matches the lines before it"),
        _previous_check(record),
        check_of("commitment", _commitment_faults(record), _commitment_sentence(record)),
        check_of("nonces", _nonce_faults(record), _nonces_sentence(record)),
    ]
    standing: tuple[Placed, ...] = ()
    try:
        game = game_of(record)
    except UnknownGame as fault:
        checks.append(unchecked("rules", str(fault)))
    else:
        version = f"{game.title}, version {record.rules_version} of the rules"
        checks.append(Check("rules", True, version))
        standing = _check_story(game, record, checks)
    if record.voided:
        checks.append(check_of("voided", _void_faults(record), _void_sentence(record)))
    return Verdict(tuple(checks), record, standing)


def _digest_faults(text: str) -> Iterator[str]:
    if not text.endswith(f"\ndigest {digest_of(text)}\n"):
        yield f"the text was changed: the digest of its lines is {digest_of(text)}"


def _previous_check(record: RaceRecord) -> Check:
    if record.kind:
        return Check("previous", True, "an open race, which belongs to no table")
    if record.previous is None:
        return Check("previous", True, "the table has no race before")
    race = record.previous.race
    table, _, number = race.rpartition("/")
    if table != record.table or int(number) >= record.race:
        return Check("previous", False, f"{race} was not before {record.race_id} at its table")
    return Check("previous", True, f"the table's race before was {race}")


def _commitment_faults(record: RaceRecord) -> Iterator[str]:
    if record.kind == KNOWN:
        return
    promised = commitment(
        bytes.fromhex(record.seed),
        record.game,
        record.rules_version,
        record.table,
        record.race,
        cap=record.cap,
        public=record.public,
    )
    if promised != record.commitment:
        yield f"the commitment of this seed is {promised}"


def _commitment_sentence(record: RaceRecord) -> str:
    if record.kind == KNOWN:
        return "the deal was raced before, so there is no commitment to it"
    return "the seed matches the commitment"


def _nonce_faults(record: RaceRecord) -> Iterator[str]:
    if record.kind:
        return
    if not record.racers:
        yield "the record has no racers"
    for racer in record.racers:
        if racer.nonce and nonce_hash(bytes.fromhex(racer.nonce)) != racer.nonce_hash:
            yield f"the nonce of {racer.name} does not match its hash"
        elif not racer.nonce and not (record.voided and record.deal is None):
            yield f"the nonce of {racer.name} was not revealed, but the race was dealt"


def _nonces_sentence(record: RaceRecord) -> str:
    if record.kind:
        return "an open race has no nonces: the seed alone makes the deal"
    hidden = ", ".join(racer.name for racer in record.racers if not racer.nonce)
    revealed = "every nonce matches its hash"
    return f"{revealed}, except that of {hidden}: not revealed" if hidden else revealed


_Story: TypeAlias = Mapping[str, list[Step]]
"""Every entry with the position after it, by player id."""


def _check_story(game: Game, record: RaceRecord, checks: list[Check]) -> tuple[Placed, ...]:
    """Append the checks of deal, moves, times, endings and places; return the order of finish.

    What builds on a check that contradicts the record is not checked.
    """
    if not isinstance(record.deal, Position):
        if not record.voided:
            checks.append(Check("deal", False, "the race finished, but nothing was dealt"))
        return ()
    checks.append(
        check_of("deal", _deal_faults(game, record), "the seed and the nonces produce this deal")
    )
    if not checks[-1].ok:
        return ()
    try:
        story = {racer.player: _steps(game, record.deal, racer) for racer in record.racers}
    except ReplayError as fault:
        checks.append(Check("moves", False, str(fault)))
        return ()
    moves = sum(racer.moves for racer in record.racers)
    checks.append(Check("moves", True, f"{moves} moves, all legal"))
    checks.append(check_of("times", _time_faults(record), "every entry is in time and in order"))
    if damaged := [racer.name for racer in record.racers if racer.damaged]:
        lost = f"the server could not read the rest of the log of {', '.join(damaged)}"
        checks.append(unchecked("damaged", lost))
    else:
        numbered = "the commit numbers run from 1 without gaps"
        checks.append(check_of("numbers", _number_faults(record), numbered))
    endings = check_of(
        "endings", _ending_faults(game, record, story), "every board ended as its log says"
    )
    checks.append(endings)
    if record.voided:
        return ()
    placed = tuple(ranking(game, (_score(game, record.deal, *each) for each in story.items())))
    checks.append(
        check_of("finish", _finish_faults(record, placed), "the places follow from the moves")
    )
    checks.append(
        check_of("ranked", _ranked_faults(record), "ranked" if record.ranked else "not ranked")
    )
    return placed


def _deal_faults(game: Game, record: RaceRecord) -> Iterator[str]:
    if deal_for_key(game, record.key) != record.deal:
        yield "the seed and the nonces produce another deal"


def _steps(game: Game, deal: Position, racer: RacerLog) -> list[Step]:
    if len(racer.log) > MOST_ENTRIES + 1:
        raise ReplayError(
            f"{racer.name}: the log has {len(racer.log)} entries, more than {MOST_ENTRIES} and an ending"
        )
    try:
        return steps_from(game, deal, racer.log)
    except ReplayError as fault:
        raise ReplayError(f"{racer.name}, {fault}") from None


def _time_faults(record: RaceRecord) -> Iterator[str]:
    if record.kind:
        for racer in record.racers:
            if not record.start_at <= racer.started <= record.closes + LATEST_START:
                yield f"{racer.name}: the run began while the race was not open"
    for clock in _clocks(record):
        yield from _late_entries(record, clock)


def _clocks(record: RaceRecord) -> list[tuple[RacerLog, ...]]:
    """Return the racers by the clock they raced on, which also numbers their entries."""
    return [(racer,) for racer in record.racers] if record.kind else [record.racers]


def _late_entries(record: RaceRecord, racers: tuple[RacerLog, ...]) -> Iterator[str]:
    entries = _entries_by_number(racers)
    # over all boards, times never fall as the commit numbers rise
    for (before, _), (after, racer) in pairwise(entries):
        if after.at < before.at:
            yield f"{racer.name}: number {after.number} at {after.at} ms follows {before.at} ms"
    allowed = record.time_allowed
    for line, racer in entries:
        if allowed is not None and line.at >= allowed and line.text != State.OUT_OF_TIME:
            yield f"{racer.name}: {line.text} at {line.at} ms is not before the deadline"


def _number_faults(record: RaceRecord) -> Iterator[str]:
    for racer in record.racers:
        for before, after in pairwise(racer.log):
            if after.number <= before.number:
                yield f"{racer.name}: number {after.number} follows {before.number}"
    for clock in _clocks(record):
        for expected, (line, racer) in enumerate(_entries_by_number(clock), start=1):
            if line.number != expected:
                yield f"{racer.name}: expected number {expected}, found {line.number}"
                return


def _entries_by_number(racers: tuple[RacerLog, ...]) -> list[tuple[LogLine, RacerLog]]:
    entries = [(line, racer) for racer in racers for line in racer.log]
    return sorted(entries, key=lambda entry: entry[0].number)


def _ending_faults(game: Game, record: RaceRecord, story: _Story) -> Iterator[str]:
    states = []
    for racer in record.racers:
        made = story[racer.player]
        for fault in _end_faults(game, record, racer, made):
            yield f"{racer.name}: {fault}"
            # further proofs take time and cannot make this record valid
            return
        states.append(state_of(game, made, record.opening))
        if states[-1] is State.RACING and not record.voided:
            yield f"{racer.name}: the board did not end"
    is_damaged = any(racer.damaged for racer in record.racers)
    if record.voided == CLOSED and State.RACING not in states and not is_damaged:
        yield "every board had ended before the race was closed, so it had results"


def _end_faults(game: Game, record: RaceRecord, racer: RacerLog, made: list[Step]) -> Iterator[str]:
    """Yield what is wrong with the end of a racer's board; `made` is the replay of the racer's log."""
    for line, position in made[:-1]:
        if not line.is_move or is_won(game, position):
            yield f"the log continues after the board ended at {line.at} ms"
    if not made:
        return
    line, position = made[-1]
    if not line.is_move and is_won(game, position):
        yield f"{line.text} follows the win"
    before = made[-2].line.at if len(made) > 1 else 0
    match line.text:
        case State.STUCK:
            yield from _stuck_faults(game, position)
        case State.OUT_OF_TIME:
            yield from _timeout_faults(record.time_allowed, line.at)
        case State.IDLE | State.BOTS_STOPPED | State.ENDED_BY_HOST | State.ENDED_BY_VOTE if (
            record.kind
        ):
            yield f"ended as {line.text}, but in an open race everyone runs alone"
        case State.IDLE if line.at - before < IDLE_MILLIS:
            yield f"ended as idle less than {IDLE_MILLIS} ms after the racer's last move"
        case _:
            yield from _faults_beside(record, racer, line)


def _timeout_faults(allowed: int | None, at: int) -> Iterator[str]:
    if allowed is None:
        yield "ended out of time in a race without a time limit"
    elif at < allowed:
        yield f"ended out of time at {at} ms, before the deadline"


def _faults_beside(record: RaceRecord, racer: RacerLog, ending: LogLine) -> Iterator[str]:
    """Yield what is wrong with an ending that depends on the other racers."""
    others = [each for each in record.racers if each is not racer]
    # people do not wait for bots
    others = [each for each in others if not each.bot] or others
    last = max((each.log[-1].at for each in others if each.log), default=None)
    late = [each for each in others if each.log and each.log[-1].at > ending.at and not each.bot]
    match ending.text:
        case State.ENDED_BY_HOST if last is None:
            yield "ended by the host, but nobody else raced"
        case State.ENDED_BY_HOST if last is not None and ending.at - last < LAST_BOARD_MILLIS:
            yield f"ended by the host less than {LAST_BOARD_MILLIS} ms after all other boards"
        case State.BOTS_STOPPED if not racer.bot:
            yield "stopped as a bot, but a person raced here"
        case State.BOTS_STOPPED if late:
            yield f"stopped as a bot while {late[0].name} still raced"
        case State.ENDED_BY_VOTE if not others:
            yield "ended by a vote, but nobody else raced"


def _stuck_faults(game: Game, position: Position) -> Iterator[str]:
    if not may_declare(position):
        yield "declared stuck before every stock card had been seen"
        return
    stuck = is_stuck(game, position, limit=PROOF_LIMIT)
    if stuck is None:
        yield f"a search of {PROOF_LIMIT} arrangements did not prove the board stuck"
    elif not stuck:
        yield "declared stuck, but more cards could have been banked"


def _score(game: Game, deal: Position, player: str, made: list[Step]) -> RacerScore:
    counts = [(position.banked, Reached(line.at, line.number)) for line, position in made]
    return RacerScore(
        player=player,
        banked=made[-1].position.banked if made else deal.banked,
        state=state_of(game, made, deal),
        reached=last_reached(deal.banked, counts),
    )


def _finish_faults(record: RaceRecord, placed: tuple[Placed, ...]) -> Iterator[str]:
    if len(placed) != len(record.results):
        yield f"{len(placed)} players raced, but {len(record.results)} have a place"
    for row, claimed in zip(placed, record.results, strict=False):
        if row != claimed:
            reached = "never" if row.reached is None else f"at {row.reached} ms"
            yield (
                f"place {row.place} should be {row.player}: {row.banked} banked, net {row.net},"
                f" reached {reached}, {row.state}"
            )


def _ranked_faults(record: RaceRecord) -> Iterator[str]:
    people = sum(not racer.bot for racer in record.racers)
    if record.ranked and not may_be_ranked(cap=record.cap, racers=people):
        yield "it should not be ranked"


def _void_faults(record: RaceRecord) -> Iterator[str]:
    hidden = tuple(racer.player for racer in record.racers if not racer.nonce)
    racers = [racer.player for racer in record.racers]
    if record.voided == NONCE_MISSING and (record.blamed != hidden or not hidden):
        yield "the racers whose nonces are missing are not those who are blamed"
    elif record.voided in (RACER_LEFT, RACER_GONE) and (
        len(record.blamed) != 1 or record.blamed[0] not in racers
    ):
        yield "a racer left or was removed, but not exactly one of the racers is blamed"
    elif record.voided in (SERVER_AWAY, CLOSED, CLOSED_IN_COUNTDOWN) and record.blamed:
        yield "nobody is blamed for this reason"
    if record.voided == CLOSED and record.deal is None:
        yield "the race was closed while it ran, but nothing was dealt"
    if record.voided in VOID_REASONS and record.voided != CLOSED and record.deal is not None:
        yield "the countdown was voided, but there is a deal"
    if record.deal is None and any(racer.log or racer.damaged for racer in record.racers):
        yield "nothing was dealt, but there are entries"


def _void_sentence(record: RaceRecord) -> str:
    names = ", ".join(racer.name for racer in record.racers if racer.player in record.blamed)
    why = VOID_REASONS.get(record.voided, record.voided) + (f" ({names})" if names else "")
    return f"{why}. The race counts for nothing: no place, no money"
