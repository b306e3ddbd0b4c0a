"""The records of voided races and countdowns."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from msgspec import Struct

from saratoga_protocol.events import VoidedRace
from saratoga_rules.records.record import LogLine
from saratoga_rules.records.void_record import VoidedLog, VoidRecord, format_void_record
from saratoga_rules.records.voided import DAMAGED, SEED_TEXT, VoidedLine
from saratoga_server.domain.tables.state import RaceVoided, TableState
from saratoga_server.ports import LogEntry


class ReadableLog(NamedTuple):
    """A racer's stored log, if it can be read."""

    entries: Sequence[LogEntry]
    is_complete: bool
    """False if the log is damaged; it has no entries here then."""
    has_ended: bool = False
    """True if the board is known to have ended."""


class VoidedResult(Struct, frozen=True):
    """What is to be written about a voided race."""

    voided: VoidedRace
    record: str
    entries: int | None = None
    """The number of entries in all logs, if no other entry may be stored before the void."""

    @property
    def effect(self) -> RaceVoided:
        return RaceVoided(self.voided.race, self.voided.reason, self.record, self.entries)


def voided_of(
    table: TableState,
    logs: Mapping[str, ReadableLog],
    reason: str = DAMAGED,
) -> VoidedResult:
    """Return the record of the table's race, voided for a reason; `logs` by player.

    If nothing is damaged, the record must have every entry that is stored.
    """
    racers = tuple(_voided_log(table, player, logs[player]) for player in sorted(logs))
    entries = None
    if all(log.is_complete for log in logs.values()):
        entries = sum(len(log.entries) for log in logs.values())
    return _result(table, reason, racers, entries)


def voided_countdown(table: TableState, reason: str, left: str = "") -> VoidedResult:
    """Return the record of the table's countdown, voided for a reason of `COUNTDOWN_REASONS`.

    `left` is the racer who left, with the reason `RACER_LEFT`.
    """
    racers = tuple(_voided_racer(table, player) for player in sorted(table.racers))
    return _result(table, reason, racers, left=left)


def _result(
    table: TableState,
    reason: str,
    racers: tuple[VoidedLog, ...],
    entries: int | None = None,
    left: str = "",
) -> VoidedResult:
    record = VoidRecord(
        game=table.settings.game,
        rules_version=table.rules_version,
        table=table.code,
        race=table.race,
        start_at=table.start_at,
        cap=table.settings.cap,
        public=table.settings.public,
        reason=reason,
        commitment=table.commitment,
        seed=_seed(table),
        racers=racers,
        left=left,
    )
    line = record.line
    voided = VoidedRace(
        race=table.race_id,
        game=line.game,
        rules=line.rules_version,
        cap=line.cap,
        public=line.public,
        reason=line.reason,
        commitment=line.commitment,
        seed=line.seed,
        nonces=dict(line.nonces),
        missing=dict(line.missing),
        left=line.left,
        logs=line.logs,
    )
    return VoidedResult(voided, format_void_record(record), entries)


def voided_lines_of(voided: Iterable[VoidedRace]) -> tuple[VoidedLine, ...]:
    """Return the voided races in the form of a record."""
    return tuple(
        VoidedLine(
            race=int(each.race.rpartition("/")[2]),
            game=each.game,
            rules_version=each.rules,
            cap=each.cap,
            public=each.public,
            reason=each.reason,
            logs=each.logs,
            commitment=each.commitment,
            seed=each.seed,
            nonces=each.nonces,
            missing=each.missing,
            left=each.left,
        )
        for each in voided
    )


def _seed(table: TableState) -> str:
    return table.seed if SEED_TEXT.fullmatch(table.seed) else ""


def _voided_racer(table: TableState, player: str) -> VoidedLog:
    nonce = table.nonces.get(player, "")
    racer = table.racers[player]
    return VoidedLog(
        player=player,
        name=racer.name,
        bot=racer.bot,
        nonce=nonce,
        missing="" if nonce else racer.nonce_hash,
    )


def _voided_log(table: TableState, player: str, log: ReadableLog) -> VoidedLog:
    entries = tuple(
        LogLine(max(0, entry.at - table.start_at), entry.number, entry.text)
        for entry in log.entries
    )
    return replace(_voided_racer(table, player), missing="", log=entries, complete=log.is_complete)
