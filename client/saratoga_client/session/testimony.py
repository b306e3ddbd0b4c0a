"""The comparison of a record with the evidence that this machine saved during the race."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from saratoga_client.session.announced_result import RESULT_AND_VOID, faults_of_outcome
from saratoga_client.session.seen_board import SeenBoard, compare_board
from saratoga_client.session.seen_standings import compare_standings
from saratoga_client.session.witness import CONSISTENT, NOT_STARTED, Sighting, faults_of_blame
from saratoga_client.wording import counted
from saratoga_rules.position import format_position, redact
from saratoga_rules.records.record import (
    NONCE_MISSING,
    RaceRecord,
    RecordError,
    digest_of,
    parse_record,
)

VOID_AND_RESULT: Final = "the server said that it voided the race, and now has a result of it"

CONTRADICTED: Final = "not the race seen here"
"""The verdict of a machine that saw something else."""


@dataclass(frozen=True, slots=True)
class Testimony:
    """The comparison of a sighting with a record."""

    seen: tuple[str, ...]
    """The parts that were compared, such as `commitment` and `moves`."""
    disagreements: tuple[str, ...]
    """Sentences that describe contradictions; empty if record and sighting agree."""
    worth: str = CONSISTENT
    """The verdict if record and sighting agree: `Sighting.worth`."""
    losses: str = ""
    """What was seen, and the server said that it had lost, in words; empty if it lost nothing."""

    @property
    def verdict(self) -> str:
        """Return `WITNESSED`, `WATCHED`, `CONSISTENT` or `CONTRADICTED`."""
        return CONTRADICTED if self.disagreements else self.worth


def compare_with_record(sighting: Sighting | None, text: str) -> Testimony:
    """Compare the text of a record with the sighting of its race."""
    try:
        record = parse_record(text)
    except RecordError as fault:
        return Testimony((), (f"the record cannot be read: {fault}",))
    if sighting is None or not sighting.is_promised:
        # before the racers are listed, the host may still change the settings and with them the deal
        return Testimony((), ())
    may_lose = sighting.may_lose
    own = compare_board(record, sighting.player, sighting.own, may_lose=may_lose)
    if record.voided:
        faults = (*_disagreements_of_void(sighting, record), *own.faults)
        parts = _present(_parts_of_void(sighting, record))
        return Testimony(parts, faults, sighting.worth, _losses(own.lost, 0, 0))
    digest = digest_of(text)
    standings = compare_standings(record, sighting.standings, sighting.entries, may_lose=may_lose)
    lost = sighting.lost_outcome
    return Testimony(
        _present(_parts(sighting)),
        (*_disagreements(sighting, record, digest), *own.faults, *standings.faults),
        sighting.worth,
        _losses(own.lost, standings.lost, results=int(lost is not None and lost.digest != digest)),
    )


def _present(parts: dict[str, object]) -> tuple[str, ...]:
    return tuple(part for part, value in parts.items() if value)


def _losses(moves: int, standings: int, results: int) -> str:
    counts = {"move": moves, "standing": standings, "result": results}
    what = " and ".join(counted(count, noun) for noun, count in counts.items() if count)
    return f"the server says that it lost {what} that this machine saw" if what else ""


def _parts(sighting: Sighting) -> dict[str, object]:
    return {
        "commitment": sighting.commitment,
        "nonces": sighting.nonce_hashes,
        "racers": sighting.names,
        "time limit": sighting.cap is not None,
        "start": sighting.start_at,
        "deal": sighting.deal,
        "moves": sighting.entries,
        "boards": any(isinstance(each, SeenBoard) for each in sighting.own),
        "standings": sighting.standings,
        "result": sighting.outcome,
    }


def _parts_of_void(sighting: Sighting, record: RaceRecord) -> dict[str, object]:
    return {
        "commitment": record.commitment,
        "nonces": sighting.nonce_hashes,
        "racers": sighting.names,
        "time limit": sighting.cap is not None,
        "start": sighting.start_at,
        "deal": sighting.deal and record.deal,
        "moves": sighting.entries,
    }


def _disagreements(sighting: Sighting, record: RaceRecord, digest: str) -> Iterator[str]:
    yield from _disagreements_of_race(sighting, record)
    if sighting.nonce_hashes:
        hashes = {racer.player: racer.nonce_hash for racer in record.racers}
        yield from _nonce_disagreements(sighting.nonce_hashes, hashes)
    yield from _racer_faults(sighting, record)
    yield from _time_faults(sighting, record)
    nonces = {racer.player: racer.nonce for racer in record.racers}
    if sighting.nonce and nonces.get(sighting.player, sighting.nonce) != sighting.nonce:
        yield "the record's nonce for this player is not the one that this player drew"
    if sighting.deal and sighting.deal != format_position(redact(record.opening)):
        yield "the record's deal is not the one that this player was dealt"
    if sighting.ranked not in (None, record.ranked):
        was, recorded = ("unranked", "ranked") if record.ranked else ("ranked", "unranked")
        yield f"the race was {was} when it started, and in the record is {recorded}"
    if sighting.voided and not sighting.may_lose:
        yield VOID_AND_RESULT
    if sighting.outcome is not None:
        yield from faults_of_outcome(sighting.outcome, record, digest)


def _racer_faults(sighting: Sighting, record: RaceRecord) -> Iterator[str]:
    for racer in record.racers:
        names = sighting.names.get(racer.player, [racer.name])
        if racer.name not in names:
            yield f"{racer.player} raced as {names[-1]}, and in the record is {racer.name}"
        if sighting.names and racer.bot != (racer.player in sighting.bots):
            raced, recorded = ("a person", "a bot") if racer.bot else ("a bot", "a person")
            yield f"{racer.player} raced as {raced}, and in the record is {recorded}"


def _time_faults(sighting: Sighting, record: RaceRecord) -> Iterator[str]:
    if sighting.cap is not None and sighting.cap != record.cap:
        yield f"the time limit was {sighting.cap} minutes, and in the record is {record.cap}"
    if sighting.public not in (None, record.public):
        was, recorded = ("private", "public") if record.public else ("public", "private")
        yield f"the table was {was}, and in the record is {recorded}"
    if not sighting.start_at:
        return
    if sighting.start_at != record.start_at:
        yield f"the race started at {sighting.start_at}, and in the record at {record.start_at}"
    deadline = sighting.start_at + record.cap * 60_000 if record.cap else 0
    if sighting.deadline != deadline:
        yield f"the deadline was {sighting.deadline}, and by the record it was {deadline}"


def _disagreements_of_void(sighting: Sighting, record: RaceRecord) -> Iterator[str]:
    yield from _disagreements_of_race(sighting, record)
    yield from _racer_faults(sighting, record)
    yield from _time_faults(sighting, record)
    if sighting.outcome is not None:
        yield RESULT_AND_VOID
    if sighting.voided not in ("", record.voided) and not sighting.may_lose:
        yield f"the reason for the void was {sighting.voided}, and in the record is {record.voided}"
    if sighting.nonce_hashes:
        hashes = {racer.player: racer.nonce_hash for racer in record.racers}
        yield from _nonce_disagreements(sighting.nonce_hashes, hashes)
    if record.voided == NONCE_MISSING and sighting.player in record.blamed:
        yield from faults_of_blame(sighting)
    if record.deal is None and sighting.has_started:
        yield NOT_STARTED
    if (
        sighting.deal
        and record.deal is not None
        and sighting.deal != format_position(redact(record.deal))
    ):
        yield "the record's deal is not the one that this player was dealt"


def _disagreements_of_race(sighting: Sighting, record: RaceRecord) -> Iterator[str]:
    if record.race_id != sighting.race:
        yield f"the record is of race {record.race_id}, not of {sighting.race}"
    if record.game != sighting.game:
        yield f"the race was of {sighting.game}, and the record is of {record.game}"
    # a commitment that the server could not read is no contradiction
    if record.commitment and record.commitment != sighting.commitment:
        yield "the record's commitment is not the one announced before the race"


def _nonce_disagreements(seen: dict[str, str], recorded: dict[str, str]) -> Iterator[str]:
    for player in sorted(seen.keys() | recorded.keys()):
        if player not in recorded:
            yield f"{player} was in the countdown, but is not in the record"
        elif player not in seen:
            yield f"{player} is in the record, but was not in the countdown"
        elif seen[player] != recorded[player]:
            yield f"the nonce of {player} does not match the hash from the countdown"
