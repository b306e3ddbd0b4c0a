"""The records of a table's races: what all of them have, and those of races that were voided."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from saratoga_protocol.events import Ended
from saratoga_rules.position import Position
from saratoga_rules.records.record import (
    CLOSED,
    LogLine,
    Previous,
    RaceRecord,
    RacerLog,
    digest_of,
    format_record,
)
from saratoga_server.domain.tables.state import CommandRejected, TableState
from saratoga_server.ports import LogEntry, RaceFinish


class Voided(NamedTuple):
    """A race or countdown that ends without results."""

    ended: Ended
    finish: RaceFinish
    """Its record, to be stored with the table."""


class ReadLog(NamedTuple):
    """A racer's stored log, as far as it can be read."""

    entries: Sequence[LogEntry]
    damaged: bool
    """True if there are more entries, which cannot be read or do not follow from those before."""
    has_ended: bool = False
    """True if the board is known to have ended."""


def closed_race(table: TableState, opening: Position, logs: Mapping[str, ReadLog]) -> Voided:
    """Return the table's running race, voided because the table closes; `logs` by player.

    If no log is damaged, the record must have every entry that is stored. Raises `CommandRejected`
    if every board has ended: its results must be stored first.
    """
    if all(log.has_ended for log in logs.values()):
        raise CommandRejected(
            "wrong_phase",
            f"Every board of race {table.race_id} has ended, so its results count. Close the table "
            "when a server has stored them.",
        )
    racers = tuple(
        racer_log(table, player, log.entries, damaged=log.damaged)
        for player, log in sorted(logs.items())
    )
    is_whole = not any(log.damaged for log in logs.values())
    entries = sum(len(log.entries) for log in logs.values()) if is_whole else None
    return _voided(race_record(table, opening, racers, CLOSED), entries)


def voided_countdown(table: TableState, reason: str, *blamed: str) -> Voided:
    """Return the table's countdown, voided for a reason, with the racers to blame for it."""
    racers = tuple(racer_log(table, player) for player in sorted(table.racers))
    return _voided(race_record(table, None, racers, reason, tuple(sorted(blamed))))


def _voided(record: RaceRecord, entries: int | None = None) -> Voided:
    text, blamed = format_record(record), list(record.blamed)
    ended = Ended(race=record.race_id, digest=digest_of(text), reason=record.voided, blamed=blamed)
    return Voided(ended, RaceFinish(race=record.race, record=text, entries=entries))


def race_record(
    table: TableState,
    deal: Position | None,
    racers: tuple[RacerLog, ...],
    voided: str = "",
    blamed: tuple[str, ...] = (),
) -> RaceRecord:
    """Return the record of the table's race, without results."""
    previous, run = table.previous, table.open
    return RaceRecord(
        game=table.settings.game,
        rules_version=table.rules_version,
        kind=run.kind if run else "",
        closes=run.closes if run else 0,
        table=run.id if run else table.code,
        race=table.race,
        previous=None if previous is None else Previous(previous.race, previous.digest),
        start_at=run.opened if run else table.start_at,
        cap=table.settings.cap,
        public=table.settings.public,
        ranked=table.ranked,
        commitment=table.commitment,
        seed=table.seed,
        deal=deal,
        voided=voided,
        blamed=blamed,
        racers=racers,
    )


def racer_log(
    table: TableState, player: str, entries: Sequence[LogEntry] = (), *, damaged: bool = False
) -> RacerLog:
    """Return a racer of the table's race as the record has it."""
    racer = table.racers[player]
    return RacerLog(
        player=player,
        name=racer.name,
        bot=racer.bot,
        nonce=table.nonces.get(player, ""),
        nonce_hash=racer.nonce_hash,
        log=tuple(
            LogLine(max(0, entry.at - table.start_at), entry.number, entry.text)
            for entry in entries
        ),
        damaged=damaged,
        started=table.start_at if table.open else 0,
    )
