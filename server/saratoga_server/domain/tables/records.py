"""The records of a table's races: what all of them have, and those of races that were voided."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from msgspec import Struct

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
from saratoga_server.domain.tables.state import RaceVoided, TableState
from saratoga_server.ports import LogEntry


class ReadLog(NamedTuple):
    """A racer's stored log, as far as it can be read."""

    entries: Sequence[LogEntry]
    damaged: bool
    """True if there are more entries, which cannot be read or do not follow from those before."""
    has_ended: bool = False
    """True if the board is known to have ended."""


class VoidedRace(Struct, frozen=True):
    """A race that was voided, and what is to be written about it."""

    ended: Ended
    record: str
    entries: int | None = None
    """The number of entries in all logs, if no other entry may be stored before the void."""

    @property
    def effect(self) -> RaceVoided:
        return RaceVoided(self.ended.race, self.ended.reason, self.record, self.entries)


def voided_race(table: TableState, opening: Position, logs: Mapping[str, ReadLog]) -> VoidedRace:
    """Return the table's running race, voided because the table closes; `logs` by player.

    If no log is damaged, the record must have every entry that is stored.
    """
    racers = tuple(
        racer_log(table, player, log.entries, damaged=log.damaged)
        for player, log in sorted(logs.items())
    )
    is_whole = not any(log.damaged for log in logs.values())
    entries = sum(len(log.entries) for log in logs.values()) if is_whole else None
    return _voided(table, CLOSED, (), opening, racers, entries)


def voided_countdown(table: TableState, reason: str, *blamed: str) -> VoidedRace:
    """Return the table's countdown, voided for a reason, with the racers to blame for it."""
    racers = tuple(racer_log(table, player) for player in sorted(table.racers))
    return _voided(table, reason, tuple(sorted(blamed)), None, racers)


def _voided(
    table: TableState,
    reason: str,
    blamed: tuple[str, ...],
    deal: Position | None,
    racers: tuple[RacerLog, ...],
    entries: int | None = None,
) -> VoidedRace:
    record = race_record(table, deal, racers, reason, blamed)
    text = format_record(record)
    ended = Ended(
        race=record.race_id, digest=digest_of(text), reason=reason, blamed=list(record.blamed)
    )
    return VoidedRace(ended, text, entries)


def race_record(
    table: TableState,
    deal: Position | None,
    racers: tuple[RacerLog, ...],
    voided: str = "",
    blamed: tuple[str, ...] = (),
) -> RaceRecord:
    """Return the record of the table's race, without results."""
    previous = table.previous
    return RaceRecord(
        game=table.settings.game,
        rules_version=table.rules_version,
        table=table.code,
        race=table.race,
        previous=None if previous is None else Previous(previous.race, previous.digest),
        start_at=table.start_at,
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
    )
