"""The record of a race, finished or voided: a text from which the race can be replayed and checked.

A record is plain ASCII with one fact per line; `protocol/FAIRNESS.md` has an example and the form
of every line. It is parsed by form alone, and there is one way to write each fact; `verify` judges
what the facts say. The last line is a digest chained over all lines before it, so no line can be
changed, dropped or moved: h(0) = SHA-256("saratoga record digest 2"), h(i) = SHA-256(h(i-1)
line(i)), without line feeds.

The lines are a header, then for each racer name, nonce and log, then for a finished race the
places. A line of the header whose first word is unknown is ignored: a newer release may have
written it.

The record of an open race, which everyone runs on a clock of their own, has a `kind`: a start for
each run, and no table, race before, nonces or ranking.
"""

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

from saratoga_rules.dealing.fairness import deal_key
from saratoga_rules.games import RULES
from saratoga_rules.position import Position, format_position, parse_position
from saratoga_rules.records.standing import LOG_ENDINGS, Placed

RECORD_FORMAT: Final = 2

MOST_ENTRIES: Final = 5000
"""The most moves in a board's log. Then the server refuses moves, but the player may cash out.

So the longest log has one entry more: the ending. The longest game needs far fewer moves.
"""

NONCE_MISSING: Final = "nonce-missing"
RACER_LEFT: Final = "racer-left"
RACER_GONE: Final = "racer-gone"
SERVER_AWAY: Final = "server-away"
CLOSED: Final = "closed"
CLOSED_IN_COUNTDOWN: Final = "closed-in-countdown"

KNOWN: Final = "known"
"""The kind of an open race on a deal that was raced before."""

VOID_REASONS: Final[Mapping[str, str]] = {
    NONCE_MISSING: "a racer's nonce was missing in the countdown",
    RACER_LEFT: "a racer left in the countdown",
    RACER_GONE: "a racer was removed in the countdown",
    SERVER_AWAY: "the server was away in the countdown",
    CLOSED: "the table was closed during the race",
    CLOSED_IN_COUNTDOWN: "the table was closed in the countdown",
}
"""The reasons for which this release voids a race, each with the words that say it in a sentence."""

# The parts of a record's lines, as regular expressions; protocol/FAIRNESS.md lists the same ones.

NUMBER: Final = "(?:0|[1-9][0-9]{0,14})"
POSITIVE: Final = "[1-9][0-9]{0,5}"
DOLLARS: Final = "(?:0|-?[1-9][0-9]{0,5})"
WORD: Final = "[a-z-]{1,40}"
GAME: Final = "[a-z][a-z0-9-]{0,31}"
TABLE_CODE: Final = "[a-z]{2,12}-[a-z]{2,12}-[0-9]{2}"
RACE_ID: Final = f"{TABLE_CODE}/{POSITIVE}"
OPEN_ID: Final = f"(?:day/{GAME}/[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}|[a-z2-7]{{16}})"
KIND: Final = "(?:day|challenge|known)"
PLAYER: Final = "[a-z2-7]{16}"
HASH: Final = "[0-9a-f]{64}"
NONCE: Final = "[0-9a-f]{32}"
ENTRY: Final = "[a-z0-9.:>CSHD-]{1,40}"
_ESCAPE: Final = r"\\u(?:00[89a-f][0-9a-f]|0[1-9a-f][0-9a-f]{2}|[1-9a-f][0-9a-f]{3})"
NAME: Final = rf"\"(?:[A-Za-z0-9' ._-]|{_ESCAPE}){{1,40}}\""
"""A name as a JSON string; only characters beyond ASCII are escaped, and one above U+FFFF is two escapes."""
NEVER_IN_A_NAME: Final = (
    "[\\u0000-\\u001f\\u007f-\\u00a0\\u00ad\\u034f\\u061c\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180f"
    "\\u2000-\\u206f\\u3000\\u3164\\ud800-\\uf8ff\\ufe00-\\ufe0f\\ufeff\\uffa0\\ufff0-\\uffff"
    "\\U000e0000-\\U0010ffff]"
)
"""Control characters, spaces but one, invisible characters, direction marks, private and unpaired ones."""


@dataclass(frozen=True, slots=True)
class LogLine:
    """An entry of a racer's log."""

    at: int
    """Milliseconds from the start of the race."""
    number: int
    """The commit number at the table: 1, 2, 3 .. over all the boards of a race."""
    text: str
    """A move, or a word of `LOG_ENDINGS`."""

    def __str__(self) -> str:
        return f"{self.at} {self.number} {self.text}"

    @property
    def is_move(self) -> bool:
        return self.text not in LOG_ENDINGS


@dataclass(frozen=True, slots=True, kw_only=True)
class RacerLog:
    """A racer in a record: name, nonce and log."""

    player: str
    name: str
    bot: bool
    nonce: str
    """The nonce in hexadecimal, as are all hashes and seeds of a record; empty if it was not revealed."""
    nonce_hash: str
    log: tuple[LogLine, ...] = ()
    damaged: bool = False
    """True if the server could not read the rest of the log; then the race was voided."""
    started: int = 0
    """The start of the run in an open race, in milliseconds since 1970 UTC."""

    @property
    def moves(self) -> int:
        """The number of moves made."""
        return sum(line.is_move for line in self.log)


class Previous(NamedTuple):
    """The table's race before, finished or voided, and the digest of its record."""

    race: str
    digest: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RaceRecord:
    """A race that finished or was voided."""

    game: str
    rules_version: int
    table: str
    race: int
    """The number of the race at that table, from 1."""
    previous: Previous | None = None
    start_at: int
    """The start of the race, in milliseconds since 1970 UTC; if none came, when it would have
    started. Of an open race: when it was opened, and its deal committed to."""
    cap: int
    """The time limit in minutes; 0 = none."""
    public: bool
    """True if the table was listed for everybody."""
    ranked: bool
    """True if the results of people count for leaderboards."""
    commitment: str
    seed: str
    """The seed; the deal key itself in an open race of kind `known`, whose deal was raced before."""
    deal: Position | str | None
    """The opening position, as it is written if the game or its rules are unknown; `None` if none was dealt."""
    voided: str = ""
    """The reason for which the server voided the race, such as those of `VOID_REASONS`; else empty."""
    blamed: tuple[str, ...] = ()
    """The racers because of whom the countdown was voided, by ascending id."""
    racers: tuple[RacerLog, ...]
    """The racers, by ascending player id."""
    results: tuple[Placed, ...] = ()
    """The results, in order of place; none if the race was voided."""
    ignored: tuple[tuple[int, str], ...] = ()
    """The lines that this release does not read, each with its index among all lines."""
    kind: str = ""
    """`day`, `challenge` or `known`: an open race, whose id stands in `table`. Empty for a race at a table."""
    closes: int = 0
    """The time until which an open race could be entered, in milliseconds since 1970 UTC."""

    @property
    def race_id(self) -> str:
        return self.table if self.kind else f"{self.table}/{self.race}"

    @property
    def key(self) -> bytes:
        """The deal key, which seed and nonces make."""
        seed = bytes.fromhex(self.seed)
        return seed if self.kind == KNOWN else deal_key(seed, self.race_id, self.nonces)

    @property
    def time_allowed(self) -> int | None:
        """The milliseconds from the start to the deadline; `None` without a time limit."""
        return self.cap * 60_000 or None

    @property
    def opening(self) -> Position:
        """The opening position; raises `ValueError` if nothing was dealt, or by unknown rules."""
        if not isinstance(self.deal, Position):
            raise ValueError("nothing was dealt, or by unknown rules")
        return self.deal

    @property
    def nonces(self) -> dict[str, bytes]:
        """The nonces that were revealed by player id, as `fairness.deal_key` takes them."""
        return {each.player: bytes.fromhex(each.nonce) for each in self.racers if each.nonce}

    def racer(self, player: str) -> RacerLog:
        """Return a racer by player id; raise `KeyError` if the player did not race."""
        for racer in self.racers:
            if racer.player == player:
                return racer
        raise KeyError(player)


def format_record(record: RaceRecord) -> str:
    """Return a record as text with its digest, for `parse_record`."""
    lines = list(_lines(record))
    for index, line in record.ignored:
        lines.insert(index, line)
    return "\n".join([*lines, f"digest {_chained(lines)}", ""])


def digest_of(text: str) -> str:
    """Return the digest of all lines of a record but the last."""
    return _chained(text.split("\n")[:-2])


def _chained(lines: Iterable[str]) -> str:
    chain = hashlib.sha256(f"saratoga record digest {RECORD_FORMAT}".encode()).digest()
    for line in lines:
        chain = hashlib.sha256(chain + line.encode("utf-8", "surrogatepass")).digest()
    return chain.hex()


def _lines(record: RaceRecord) -> Iterator[str]:
    yield f"saratoga record {RECORD_FORMAT}"
    yield f"game {record.game}"
    yield f"rules {record.rules_version}"
    if record.kind:
        yield f"kind {record.kind}"
        yield f"open {record.race_id}"
        yield f"opened {record.start_at}"
        yield f"closes {record.closes}"
        yield f"cap {record.cap}"
    else:
        yield f"race {record.race_id}"
        yield f"previous {' '.join(record.previous) if record.previous else '-'}"
        yield f"start {record.start_at}"
        yield f"cap {record.cap}"
        yield f"public {'yes' if record.public else 'no'}"
        yield f"ranked {'yes' if record.ranked else 'no'}"
    yield f"commitment {record.commitment or '-'}"
    yield f"seed {record.seed}"
    if isinstance(record.deal, Position):
        yield f"deal {format_position(record.deal)}"
    elif record.deal is not None:
        yield f"deal {record.deal}"
    if record.voided:
        yield " ".join(["voided", record.voided, *record.blamed])
    for racer in record.racers:
        word = "run" if record.kind else "racer"
        yield f"{word} {racer.player} {'bot' if racer.bot else 'person'} {json.dumps(racer.name)}"
        if record.kind:
            yield f"started {racer.started}"
        else:
            yield f"nonce {racer.nonce or '-'}"
            yield f"nonce-hash {racer.nonce_hash}"
        yield from map(str, racer.log)
        if racer.damaged:
            yield "damaged"
    for row in record.results:
        reached = "-" if row.reached is None else row.reached
        yield f"place {row.place} {row.player} {row.banked} {row.net} {reached} {row.state}"


class RecordError(ValueError):
    """A text that is not a record; says which line is wrong, and why."""


class UnknownFormat(RecordError):
    """A record that an older or newer release wrote, in a form that this one does not read."""


def parse_record(text: str) -> RaceRecord:
    """Return the record in a text. Raise `RecordError` if it has not the form of one.

    `format_record` writes the same text again.
    """
    reader = _Reader(text)
    _check_format(reader)
    game = reader.header("game", f"({GAME})")[1]
    rules_version = int(reader.header("rules", f"({POSITIVE})")[1])
    kind, closes, previous, public, ranked = "", 0, None, True, False
    if reader.starts("kind"):
        kind = reader.header("kind", f"({KIND})")[1]
        table, race = reader.header("open", f"({OPEN_ID})")[1], 1
        start_at = int(reader.header("opened", f"({NUMBER})")[1])
        closes = int(reader.header("closes", f"({NUMBER})")[1])
        cap = int(reader.header("cap", f"({POSITIVE})")[1])
    else:
        table, number = reader.header("race", f"({TABLE_CODE})/({POSITIVE})").groups()
        race = int(number)
        before, digest = reader.header("previous", f"(?:-|({RACE_ID}) ({HASH}))").groups()
        previous = Previous(before, digest) if before else None
        start_at = int(reader.header("start", f"({NUMBER})")[1])
        cap = int(reader.header("cap", f"({NUMBER})")[1])
        public = reader.header("public", "(yes|no)")[1] == "yes"
        ranked = reader.header("ranked", "(yes|no)")[1] == "yes"
    committed = reader.header("commitment", "(-)" if kind == KNOWN else f"({HASH})")[1]
    seed = reader.header("seed", f"({HASH})")[1]
    deal = _parse_deal(reader, is_known=game in RULES.get(rules_version, {}))
    voided, blamed = "", ""
    if not kind and reader.starts("voided"):
        voided, blamed = reader.header("voided", f"({WORD})((?: {PLAYER})*)").groups()
    reader.skip_unknown()
    racers = tuple(_parse_racers(reader, is_voided=bool(voided), is_open=bool(kind)))
    results = () if voided else tuple(_parse_results(reader))
    reader.take(f"digest ({HASH})", "a racer, an entry, a place or the digest")
    reader.end()
    return RaceRecord(
        game=game,
        rules_version=rules_version,
        table=table,
        race=race,
        previous=previous,
        start_at=start_at,
        cap=cap,
        public=public,
        ranked=ranked,
        commitment="" if kind == KNOWN else committed,
        seed=seed,
        deal=deal,
        voided=voided,
        blamed=tuple(blamed.split()),
        racers=racers,
        results=results,
        ignored=tuple(reader.ignored),
        kind=kind,
        closes=closes,
    )


class _Reader:
    """A reader of a record's lines."""

    def __init__(self, text: str) -> None:
        self.lines = text.split("\n")
        self.number = 0
        self.ignored: list[tuple[int, str]] = []

    @property
    def line(self) -> str:
        """The next line to read."""
        return self.lines[self.number] if self.number < len(self.lines) else ""

    def take(self, pattern: str, expected: str) -> re.Match[str]:
        """Read a line of this form. Raise `RecordError` for any other."""
        found = re.fullmatch(pattern, self.line)
        if found is None:
            is_end = self.number >= len(self.lines)
            there = "the end of the text" if is_end else repr(self.line[:60])
            raise RecordError(f"line {self.number + 1}: expected {expected}, found {there}")
        self.number += 1
        return found

    def header(self, word: str, pattern: str) -> re.Match[str]:
        """Read the header line of a word."""
        self.skip_unknown()
        return self.take(f"{word} {pattern}", f"a line '{word}'")

    def skip_unknown(self) -> None:
        """Pass over header lines that this release does not know."""
        while self.line.split(" ")[0] not in _WORDS and _UNKNOWN.fullmatch(self.line):
            self.ignored.append((self.number, self.line))
            self.number += 1

    def starts(self, word: str) -> bool:
        """Return whether the next line that is not unknown starts with a word."""
        self.skip_unknown()
        return self.line.startswith(word + " ")

    def end(self) -> None:
        """Raise `RecordError` unless the text ends here, with a line feed."""
        if self.lines[self.number :] != [""]:
            raise RecordError(f"line {self.number + 1}: the text must end after the digest's line")


_UNKNOWN: Final = re.compile("[a-z][a-z-]{0,31} [ -~]{0,400}")

_WORDS: Final = frozenset(
    [
        "saratoga",
        "game",
        "rules",
        "kind",
        "open",
        "opened",
        "closes",
        "race",
        "previous",
        "start",
        "cap",
        "public",
        "ranked",
        "commitment",
        "seed",
        "deal",
        "voided",
        "racer",
        "nonce",
        "nonce-hash",
        "run",
        "started",
        "damaged",
        "place",
        "digest",
    ]
)
"""The first words of all lines but entries; no line that begins so is ignored."""


def _check_format(reader: _Reader) -> None:
    void, version = reader.take("saratoga (void )?record ([1-9][0-9]{0,5})", "a record").groups()
    if void or int(version) != RECORD_FORMAT:
        is_newer = not void and int(version) > RECORD_FORMAT
        raise UnknownFormat(f"made by {'a newer' if is_newer else 'an older'} release")


def _parse_deal(reader: _Reader, *, is_known: bool) -> Position | str | None:
    if not reader.starts("deal"):
        return None
    written = reader.header("deal", "([ -~]+)")[1]
    try:
        return parse_position(written) if is_known else written
    except ValueError as fault:
        raise RecordError(f"line {reader.number}: {fault}") from None


def _parse_racers(reader: _Reader, *, is_voided: bool, is_open: bool) -> Iterator[RacerLog]:
    before, word = "", "run" if is_open else "racer"
    while reader.line.startswith(f"{word} "):
        found = reader.take(f"{word} ({PLAYER}) (person|bot) ({NAME})", f"a {word}")
        player, kind, quoted = found.groups()
        name = str(json.loads(quoted))
        if player <= before:
            raise RecordError(
                f"line {reader.number}: racers are ordered by id, so not {player} here"
            )
        if re.search(NEVER_IN_A_NAME, name):
            raise RecordError(f"line {reader.number}: {quoted} has characters that no name has")
        nonce = hashed = started = ""
        if is_open:
            started = reader.take(f"started ({NUMBER})", "the start of the run")[1]
        else:
            nonce = reader.take(f"nonce ({NONCE}|-)", "the nonce")[1]
            hashed = reader.take(f"nonce-hash ({HASH})", "the hash of the nonce")[1]
        log = tuple(_parse_log(reader))
        is_damaged = is_voided and reader.line == "damaged"
        reader.number += is_damaged
        yield RacerLog(
            player=player,
            name=name,
            bot=kind == "bot",
            nonce="" if nonce == "-" else nonce,
            nonce_hash=hashed,
            log=log,
            damaged=is_damaged,
            started=int(started or 0),
        )
        before = player


def _parse_log(reader: _Reader) -> Iterator[LogLine]:
    while reader.line[:1].isdigit():
        at, number, text = reader.take(f"({NUMBER}) ({POSITIVE}) ({ENTRY})", "an entry").groups()
        yield LogLine(int(at), int(number), text)


def _parse_results(reader: _Reader) -> Iterator[Placed]:
    form = f"place ({POSITIVE}) ({PLAYER}) ({NUMBER}) ({DOLLARS}) ({NUMBER}|-) ({WORD})"
    while reader.line.startswith("place "):
        place, player, banked, dollars, reached, state = reader.take(form, "a place").groups()
        yield Placed(
            place=int(place),
            player=player,
            banked=int(banked),
            net=int(dollars),
            reached=None if reached == "-" else int(reached),
            state=state,
        )
