"""The record of a race that the server voided: everything that was secret, as far as it can be read.

A server voids a race if its stored data are damaged, so that a board cannot be replayed, and a countdown if a
racer's nonce is missing. The race has no results. Its record is plain ASCII with one fact per line, and ends with a digest, as that of a finished race
(`record`). There is exactly one way to write it.

    saratoga void record 1                                  the format's version
    game canfield
    rules 1                                                 the version of the rules
    race mint-otter-42/3                                    table and number
    start 1788278400000                                     milliseconds since 1970 UTC
    cap 10                                                  minutes; 0 for none
    public yes                                              the table was listed for everybody
    reason damaged                                          a key of `voided.VOID_REASONS`
    left abcdefghijklmnop                                   with the reason `racer-left` only: who left
    commitment 8186f102..                                   or `commitment unreadable`
    seed 000102..                                           or `seed unreadable`
    racer abcdefghijklmnop person "Anna"                    by ascending player id; or `bot`
    nonce 00010203..                                        or `nonce unreadable`
    1532 1 draw                                             milliseconds, commit number, entry
    log complete                                            or `log damaged`: the rest is unreadable
    digest 5d41402a..

A voided countdown had no race, so its racers have no entries and no line `log ..`; `start` is the time at which
the race would have started. A nonce that was not revealed is `nonce missing be45cb26..`, with its hash.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from typing import Final

from saratoga_rules.dealing.fairness import nonce_hash
from saratoga_rules.records.grammar import HASH, NONCE, PLAYER
from saratoga_rules.records.lines import (
    RACER,
    RecordReader,
    UnknownFact,
    checked_racer,
    parse_name,
    parse_race_lines,
    refuse_difference,
)
from saratoga_rules.records.record import (
    LogLine,
    chained,
    parse_log,
)
from saratoga_rules.records.voided import (
    ANY_REASON,
    COUNTDOWN_REASONS,
    RACER_LEFT,
    UNREADABLE,
    VOID_REASONS,
    VoidedLine,
)

VOID_HEAD: Final = "saratoga void record "
VOID_FORMAT: Final = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class VoidedLog:
    """A racer of a voided race or countdown: nonce and log, as far as they can be read."""

    player: str
    name: str
    bot: bool
    nonce: str
    """The nonce in hexadecimal; empty if it could not be read, or was not revealed."""
    log: tuple[LogLine, ...] = ()
    complete: bool = False
    """False if the log is damaged after its last entry here, and in a countdown, which has no logs."""
    missing: str = ""
    """The hash of a nonce that was not revealed in the countdown; else empty."""

    @property
    def nonce_hash(self) -> str:
        """The hash of the nonce; empty if the nonce could not be read."""
        return nonce_hash(bytes.fromhex(self.nonce)) if self.nonce else self.missing


@dataclass(frozen=True, slots=True, kw_only=True)
class VoidRecord:
    """A race that the server voided."""

    game: str
    rules_version: int
    table: str
    race: int
    """The number of the race at that table, from 1."""
    start_at: int
    """The start of the race, in milliseconds since 1970 UTC."""
    cap: int
    """The time limit in minutes; 0 = none."""
    public: bool
    """True if the table was listed for everybody."""
    reason: str
    """A key of `voided.VOID_REASONS`."""
    commitment: str
    """The commitment in hexadecimal; empty if it could not be read."""
    seed: str
    """The seed in hexadecimal; empty if it could not be read."""
    racers: tuple[VoidedLog, ...]
    """The racers, by ascending player id."""
    left: str = ""
    """The id of the racer who left, with the reason `racer-left`."""

    @property
    def race_id(self) -> str:
        return f"{self.table}/{self.race}"

    @property
    def is_countdown(self) -> bool:
        """Whether the countdown was voided, so that there was no race."""
        return self.reason in COUNTDOWN_REASONS

    @property
    def line(self) -> VoidedLine:
        """The race as the table's next record has it."""
        return VoidedLine(
            race=self.race,
            game=self.game,
            rules_version=self.rules_version,
            cap=self.cap,
            public=self.public,
            reason=self.reason,
            logs=sum(racer.complete for racer in self.racers),
            commitment=self.commitment,
            seed=self.seed,
            nonces={racer.player: racer.nonce for racer in self.racers if racer.nonce},
            missing={racer.player: racer.missing for racer in self.racers if racer.missing},
            left=self.left,
        )


def is_void_record(text: str) -> bool:
    """Return whether the text says that it is the record of a voided race."""
    return text.startswith(VOID_HEAD)


def format_void_record(record: VoidRecord) -> str:
    """Return the record of a voided race as text with its digest, for `parse_void_record`."""
    lines = list(_lines(record))
    return "\n".join([*lines, f"digest {chained(lines)}", ""])


def parse_void_record(text: str) -> VoidRecord:
    """Return the record in a text. Raise `RecordError` if `format_void_record` would write it differently."""
    reader = RecordReader(text)
    record = _parse(reader)
    refuse_difference(format_void_record(record), text)
    return record


def _lines(record: VoidRecord) -> Iterator[str]:
    yield f"{VOID_HEAD}{VOID_FORMAT}"
    yield f"game {record.game}"
    yield f"rules {record.rules_version}"
    yield f"race {record.race_id}"
    yield f"start {record.start_at}"
    yield f"cap {record.cap}"
    yield f"public {'yes' if record.public else 'no'}"
    yield f"reason {record.reason}"
    if record.left:
        yield f"left {record.left}"
    yield f"commitment {record.commitment or UNREADABLE}"
    yield f"seed {record.seed or UNREADABLE}"
    for racer in record.racers:
        yield f"racer {racer.player} {'bot' if racer.bot else 'person'} {json.dumps(racer.name)}"
        if racer.missing:
            yield f"nonce missing {racer.missing}"
        else:
            yield f"nonce {racer.nonce or UNREADABLE}"
        if record.is_countdown:
            continue
        for line in racer.log:
            yield f"{line.at} {line.number} {line.text}"
        yield f"log {'complete' if racer.complete else 'damaged'}"


_HEAD: Final = re.compile(f"{VOID_HEAD}([0-9]+)")
_REASON: Final = re.compile(f"reason ({'|'.join(VOID_REASONS)})")
_ANY_REASON: Final = re.compile(f"reason {ANY_REASON}")
_LEFT: Final = re.compile(f"left ({PLAYER})")
_COMMITMENT: Final = re.compile(f"commitment ({HASH}|{UNREADABLE})")
_SEED: Final = re.compile(f"seed ({HASH}|{UNREADABLE})")
_NONCE: Final = re.compile(f"nonce ({NONCE}|{UNREADABLE})")
_MISSING: Final = re.compile(f"nonce missing ({HASH})")
_LOG: Final = re.compile("log (complete|damaged)")
_DIGEST: Final = re.compile(f"digest {HASH}")


def _parse(reader: RecordReader) -> VoidRecord:
    version = reader.take(_HEAD, "the words 'saratoga void record 1'")[1]
    if version != str(VOID_FORMAT):
        why = f"this is a void record of format {version}; this program reads format {VOID_FORMAT}"
        raise UnknownFact(1, why)
    game, rules_version, table, race, start_at, cap, public = parse_race_lines(reader)
    reason = reader.take(_REASON, "the reason", _ANY_REASON)[1]
    left = reader.take(_LEFT, "the racer who left")[1] if reason == RACER_LEFT else ""
    committed = reader.take(_COMMITMENT, "the commitment")[1]
    seed = reader.take(_SEED, "the seed")[1]
    racers = tuple(_parse_racers(reader, reason in COUNTDOWN_REASONS))
    reader.take(_DIGEST, "a racer or the digest")
    return VoidRecord(
        game=game,
        rules_version=rules_version,
        table=table,
        race=race,
        start_at=start_at,
        cap=cap,
        public=public,
        reason=reason,
        commitment="" if committed == UNREADABLE else committed,
        seed="" if seed == UNREADABLE else seed,
        racers=racers,
        left=left,
    )


def _parse_racers(reader: RecordReader, is_countdown: bool) -> Iterator[VoidedLog]:
    before = ""
    for number in count(1):
        if not reader.starts("racer"):
            return
        player, kind, quoted = reader.take(RACER, "a racer").groups()
        before = checked_racer(reader, number, before, player)
        name = parse_name(reader, quoted)
        if is_countdown and reader.starts("nonce missing"):
            missing = reader.take(_MISSING, "the hash of the missing nonce")[1]
            yield VoidedLog(player=player, name=name, bot=kind == "bot", nonce="", missing=missing)
            continue
        nonce = reader.take(_NONCE, "the nonce")[1]
        if is_countdown:
            readable = "" if nonce == UNREADABLE else nonce
            yield VoidedLog(player=player, name=name, bot=kind == "bot", nonce=readable)
            continue
        log = tuple(parse_log(reader))
        ending = reader.take(_LOG, "an entry, 'log complete' or 'log damaged'")[1]
        yield VoidedLog(
            player=player,
            name=name,
            bot=kind == "bot",
            nonce="" if nonce == UNREADABLE else nonce,
            log=log,
            complete=ending == "complete",
        )
