r"""The record of a finished race: a text from which the race can be replayed and checked.

A record is plain ASCII with one fact per line. Every line ends with a line feed. There is exactly
one way to write a record: text that differs by a byte when written again is refused. The last line
is a digest chained over all lines before it, so no line can be changed, dropped or moved.

    saratoga record 1                                       the format's version
    game canfield
    rules 1                                                 the version of the rules
    race mint-otter-42/3                                    table and number
    start 1788278400000                                     milliseconds since 1970 UTC
    cap 10                                                  minutes; 0 for none
    public yes                                              the table was listed for everybody
    commitment 8186f102..
    seed random 000102..                                    or `seed chosen ..`
    deal stock=.. waste=- reserve=..                        the opening position
    ranked yes
    racer abcdefghijklmnop person "Anna"                    by ascending player id; or `bot`
    nonce 00010203..
    nonce-hash be45cb26..
    1532 1 draw                                             milliseconds, commit number, entry
    2890 3 w>t2
    9120 4 cash-out
    ended 7 2 cashed out                                    banked, moves, state
    place 1 abcdefghijklmnop 7 -15 2890 cashed out          banked, net, reached (or -), state
    voided 2 canfield 1 10 yes damaged 2                    races voided before this one (`voided`)
    digest 5d41402a..

The name is a JSON string with all characters beyond ASCII escaped (`"Zo\u00eb"`). An entry is a
move or a word of `LOG_ENDINGS`. A win has no entry of its own: the position shows it.

The digest is h(n) over the n lines before it, without their line feeds:
h(0) = SHA-256("saratoga record digest 1"), h(i) = SHA-256(h(i-1) line(i)).
"""

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import count
from typing import Final

from saratoga_rules.position import Position, format_position, parse_position
from saratoga_rules.records.grammar import (
    CHOSEN,
    COMMIT,
    COUNT,
    DEAL,
    DOLLARS,
    ENDING,
    HASH,
    MOVE,
    NONCE,
    NUMBER,
    PLAYER,
    SEAT,
    STATE,
)
from saratoga_rules.records.lines import (
    RACER,
    RecordReader,
    UnknownFact,
    checked_racer,
    parse_name,
    parse_race_lines,
    refuse_difference,
)
from saratoga_rules.records.standing import Placed, State
from saratoga_rules.records.voided import VoidedLine, parse_voided, voided_lines

RECORD_FORMAT: Final = 1

LOG_ENDINGS: Final = frozenset(state.value for state in State) - {"racing", "won"}
"""The words of a log for the endings that the position alone does not show: each is the board's state."""

_WORDS: Final[Mapping[State, str]] = {
    state: "cashed out" if state is State.CASH_OUT else state.replace("-", " ") for state in State
}
"""The words of record format 1 for the states."""

_STATES: Final[Mapping[str, State]] = {words: state for state, words in _WORDS.items()}

MOST_ENTRIES: Final = 5000
"""The most moves in a board's log. Then the server refuses moves, but the player may cash out.

So the longest log has one entry more: the ending. The longest game needs far fewer moves.
"""


@dataclass(frozen=True, slots=True)
class LogLine:
    """An entry of a racer's log."""

    at: int
    """Milliseconds from the start of the race."""
    number: int
    """The commit number at the table: 1, 2, 3 .. over all the boards of a race."""
    text: str
    """A move, or a word of `LOG_ENDINGS`."""

    @property
    def is_move(self) -> bool:
        return self.text not in LOG_ENDINGS


@dataclass(frozen=True, slots=True, kw_only=True)
class RacerLog:
    """A racer in a record: nonce, log and final count."""

    player: str
    name: str
    bot: bool
    nonce: str
    """The nonce in hexadecimal, as are all hashes, nonces and seeds of a record."""
    nonce_hash: str
    log: tuple[LogLine, ...]
    banked: int
    state: State

    @property
    def moves(self) -> int:
        """The number of moves made."""
        return sum(line.is_move for line in self.log)


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultLine:
    """A racer's row in the order of finish."""

    place: int
    player: str
    banked: int
    net: int
    reached: int | None
    """Milliseconds from the start to when the count last rose to `banked`; `None` if it never rose."""
    state: State


@dataclass(frozen=True, slots=True, kw_only=True)
class RaceRecord:
    """A finished race."""

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
    commitment: str
    seed: str
    chosen_seed: bool
    """True if the seed was chosen by a person; such a race is not ranked."""
    deal: Position
    ranked: bool
    racers: tuple[RacerLog, ...]
    """The racers, by ascending player id."""
    results: tuple[ResultLine, ...]
    """The results, in order of place."""
    voided: tuple[VoidedLine, ...] = ()
    """The races at this table that the server voided since the record before."""

    @property
    def race_id(self) -> str:
        return f"{self.table}/{self.race}"

    @property
    def time_allowed(self) -> int | None:
        """The milliseconds from the start to the deadline; `None` without a time limit."""
        return self.cap * 60_000 or None

    @property
    def nonces(self) -> dict[str, bytes]:
        """The nonces by player id, as `fairness.deal_key` takes them."""
        return {racer.player: bytes.fromhex(racer.nonce) for racer in self.racers}

    def racer(self, player: str) -> RacerLog:
        """Return a racer by player id; raise `KeyError` if the player did not race."""
        for racer in self.racers:
            if racer.player == player:
                return racer
        raise KeyError(player)


def results_of(placed: Iterable[Placed]) -> tuple[ResultLine, ...]:
    """Return the result lines of a record for an order of finish (`standing.ranking`)."""
    return tuple(
        ResultLine(
            place=row.place,
            player=row.player,
            banked=row.banked,
            net=row.net,
            reached=row.reached.at if row.reached else None,
            state=row.state,
        )
        for row in placed
    )


def format_record(record: RaceRecord) -> str:
    """Return a record as text with its digest, for `parse_record`."""
    lines = list(_lines(record))
    return "\n".join([*lines, f"digest {chained(lines)}", ""])


def digest_of(text: str) -> str:
    """Return the digest of all lines of a record but the last."""
    return chained(text.split("\n")[:-2])


def parse_record(text: str) -> RaceRecord:
    """Return the record in a text. Raise `RecordError` if `format_record` would write it differently."""
    reader = RecordReader(text)
    record = _parse_race(reader)
    written = format_record(record)
    refuse_difference(written, text)
    return record


def _lines(record: RaceRecord) -> Iterator[str]:
    yield f"saratoga record {RECORD_FORMAT}"
    yield f"game {record.game}"
    yield f"rules {record.rules_version}"
    yield f"race {record.race_id}"
    yield f"start {record.start_at}"
    yield f"cap {record.cap}"
    yield f"public {'yes' if record.public else 'no'}"
    yield f"commitment {record.commitment}"
    yield f"seed {'chosen' if record.chosen_seed else 'random'} {record.seed}"
    yield f"deal {format_position(record.deal)}"
    yield f"ranked {'yes' if record.ranked else 'no'}"
    for racer in record.racers:
        yield f"racer {racer.player} {'bot' if racer.bot else 'person'} {json.dumps(racer.name)}"
        yield f"nonce {racer.nonce}"
        yield f"nonce-hash {racer.nonce_hash}"
        for line in racer.log:
            yield f"{line.at} {line.number} {line.text}"
        yield f"ended {racer.banked} {racer.moves} {_WORDS[racer.state]}"
    for row in record.results:
        reached = "-" if row.reached is None else row.reached
        yield f"place {row.place} {row.player} {row.banked} {row.net} {reached} {_WORDS[row.state]}"
    yield from voided_lines(record.voided)


def chained(lines: Iterable[str]) -> str:
    """Return the digest of a record's lines."""
    chain = hashlib.sha256(b"saratoga record digest 1").digest()
    for line in lines:
        chain = hashlib.sha256(chain + line.encode("utf-8", "surrogatepass")).digest()
    return chain.hex()


_HEAD: Final = re.compile("saratoga record ([0-9]+)")
COMMITMENT: Final = re.compile(f"commitment ({HASH})")
_SEED: Final = re.compile(f"seed (?:random {HASH}|chosen {CHOSEN})")
_DEAL: Final = re.compile(f"deal ({DEAL})")
_RANKED: Final = re.compile("ranked (yes|no)")
_NONCE: Final = re.compile(f"nonce ({NONCE})")
_NONCE_HASH: Final = re.compile(f"nonce-hash ({HASH})")
ENTRY: Final = re.compile(f"({NUMBER}) ({COMMIT}) ({MOVE}|{ENDING})")
_ENDED: Final = re.compile(f"ended ({COUNT}) ({COUNT}) ({STATE})")
_PLACE: Final = re.compile(
    f"place ({SEAT}) ({PLAYER}) ({COUNT}) ({DOLLARS}) ({NUMBER}|-) ({STATE})"
)
_DIGEST: Final = re.compile(f"digest ({HASH})")


def _parse_race(reader: RecordReader) -> RaceRecord:
    version = reader.take(_HEAD, "the words 'saratoga record 1'")[1]
    if version != str(RECORD_FORMAT):
        why = f"this is a record of format {version}; this program reads format {RECORD_FORMAT}"
        raise UnknownFact(1, why)
    game, rules_version, table, race, start_at, cap, public = parse_race_lines(reader)
    committed = reader.take(COMMITMENT, "the commitment")[1]
    _, kind, seed = reader.take(_SEED, "the seed")[0].split(" ")
    deal = _parse_deal(reader)
    ranked = reader.take(_RANKED, "'ranked yes' or 'ranked no'")[1] == "yes"
    racers = tuple(_parse_racers(reader))
    results = tuple(_parse_results(reader))
    voided = tuple(parse_voided(reader))
    reader.take(_DIGEST, "a racer, a place or the digest")
    return RaceRecord(
        game=game,
        rules_version=rules_version,
        table=table,
        race=race,
        start_at=start_at,
        cap=cap,
        public=public,
        commitment=committed,
        seed=seed,
        chosen_seed=kind == "chosen",
        deal=deal,
        ranked=ranked,
        racers=racers,
        results=results,
        voided=voided,
    )


def _parse_deal(reader: RecordReader) -> Position:
    written = reader.take(_DEAL, "the deal")[1]
    try:
        return parse_position(written)
    except ValueError as fault:
        reader.refuse(str(fault))


def _parse_racers(reader: RecordReader) -> Iterator[RacerLog]:
    before = ""
    for number in count(1):
        if not reader.starts("racer"):
            return
        player, kind, quoted = reader.take(RACER, "a racer").groups()
        before = checked_racer(reader, number, before, player)
        name = parse_name(reader, quoted)
        nonce = reader.take(_NONCE, "the nonce")[1]
        hashed = reader.take(_NONCE_HASH, "the hash of the nonce")[1]
        log = tuple(parse_log(reader))
        banked, _, state = reader.take(_ENDED, "an entry or the end")[0].split(" ", 3)[1:]
        yield RacerLog(
            player=player,
            name=name,
            bot=kind == "bot",
            nonce=nonce,
            nonce_hash=hashed,
            log=log,
            banked=int(banked),
            state=_STATES[state],
        )


def parse_log(reader: RecordReader) -> Iterator[LogLine]:
    """Yield the entries of a log. Raise `RecordError` if one is neither a move nor an ending."""
    while reader.line[:1].isdigit():
        at, number, text = reader.take(ENTRY, "an entry").groups()
        yield LogLine(int(at), int(number), text)


def _parse_results(reader: RecordReader) -> Iterator[ResultLine]:
    while reader.starts("place"):
        place, player, banked, dollars, reached, state = reader.take(_PLACE, "a place").groups()
        yield ResultLine(
            place=int(place),
            player=player,
            banked=int(banked),
            net=int(dollars),
            reached=None if reached == "-" else int(reached),
            state=_STATES[state],
        )
