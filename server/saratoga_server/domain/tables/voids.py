"""Voided races and countdowns: make the record of what cannot go on.

Pure: takes a table and the entries that could be read, and returns what is to be written.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import takewhile
from typing import NamedTuple

from msgspec import Struct

from saratoga_protocol.events import VoidedRace
from saratoga_rules.records.record import ENTRY, LogLine
from saratoga_rules.records.void_record import VoidedLog, VoidRecord, format_void_record
from saratoga_rules.records.voided import DAMAGED, NONCE_TEXT, SEED_TEXT, VoidedLine
from saratoga_server.domain.tables.state import TableState, commitment_of
from saratoga_server.ports import LogEntry


class ReadableLog(NamedTuple):
    """A racer's stored log, as far as it can be read."""

    entries: Sequence[LogEntry]
    is_complete: bool


class VoidedResult(Struct, frozen=True):
    """What is to be written about a voided race."""

    voided: VoidedRace
    record: str


def voided_of(table: TableState, logs: Mapping[str, ReadableLog]) -> VoidedResult:
    """Return the record of the table's race, voided because stored data are damaged; `logs` by player."""
    racers = tuple(_voided_log(table, player, logs[player]) for player in sorted(logs))
    return _result(table, DAMAGED, racers)


def voided_countdown(table: TableState, reason: str) -> VoidedResult:
    """Return the record of the table's countdown, voided for a reason of `COUNTDOWN_REASONS`."""
    return _result(
        table, reason, tuple(_voided_racer(table, player) for player in sorted(table.racers))
    )


def _result(table: TableState, reason: str, racers: tuple[VoidedLog, ...]) -> VoidedResult:
    record = VoidRecord(
        game=table.settings.game,
        rules_version=table.rules_version,
        table=table.code,
        race=table.race,
        start_at=table.start_at,
        cap=table.settings.cap,
        public=table.settings.public,
        reason=reason,
        commitment=_commitment(table),
        seed=_seed(table),
        racers=racers,
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
        logs=line.logs,
    )
    return VoidedResult(voided, format_void_record(record))


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
        )
        for each in voided
    )


def _seed(table: TableState) -> str:
    return table.seed if SEED_TEXT.fullmatch(table.seed) else ""


def _commitment(table: TableState) -> str:
    """Return the stored commitment; if it cannot be read, that of the seed; empty if neither can be."""
    if SEED_TEXT.fullmatch(table.commitment):
        return table.commitment
    seed = _seed(table)
    return commitment_of(table, bytes.fromhex(seed)) if seed else ""


def _voided_racer(table: TableState, player: str) -> VoidedLog:
    nonce = table.nonces.get(player, "")
    seat = table.seat(player)
    return VoidedLog(
        player=player,
        name=table.racer_names.get(player, player),
        bot=player in table.racer_bots,
        nonce=nonce if NONCE_TEXT.fullmatch(nonce) else "",
        missing=seat.nonce_hash if seat is not None and not nonce else "",
    )


def _voided_log(table: TableState, player: str, log: ReadableLog) -> VoidedLog:
    read = [
        LogLine(max(0, entry.at - table.start_at), entry.number, entry.text)
        for entry in log.entries
    ]
    entries = tuple(takewhile(_is_writable, read))
    return replace(
        _voided_racer(table, player),
        missing="",
        log=entries,
        complete=log.is_complete and len(entries) == len(read),
    )


def _is_writable(line: LogLine) -> bool:
    """Return whether a record can have the entry: a move or an ending, with its time and number in range."""
    return ENTRY.fullmatch(f"{line.at} {line.number} {line.text}") is not None
