"""Sample messages, frames that are nearly commands, and texts that might control a terminal.

The samples are one of every kind with all fields set, and some with as few fields as possible. They
are read from `tests/protocol/golden`, where each stands as JSON below its name, and then in
MessagePack.

A `Spoiler` damages the structure or the bytes of valid frames. It draws everything from one
`Random`, so a seed always gives the same frames. A frame starts as a list of fields, in which a
name may occur twice. The list is changed and then encoded by hand, because ordinary encoders do not
write such frames. Then its bytes may be changed too.
"""

import json
import re as regex
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any, Final, TypeVar

import msgpack
import msgspec

from saratoga_protocol import events
from saratoga_protocol.codec import (
    CODECS,
    JSON,
    MAX_COMMAND_BYTES,
    Frame,
)
from saratoga_protocol.commands import Command
from saratoga_protocol.events import MOST_RIVALS, Event, LeaderboardRow

FOLDER = Path(__file__).parents[1] / "protocol" / "golden"

Message = TypeVar("Message")


def _samples(file: str, decoded: Callable[[str], Message]) -> dict[str, Message]:
    lines = (FOLDER / file).read_text(encoding="utf-8").splitlines()
    return {head[2:]: decoded(text) for head, text in pairwise(lines) if head.startswith("# ")}


COMMANDS: dict[str, Command] = _samples("commands.txt", CODECS[JSON].decode_command)
EVENTS: dict[str, Event] = _samples("events.txt", CODECS[JSON].decode_event)


_ANNA = LeaderboardRow(
    rank=1,
    player="a" * 16,
    name="Anna",
    value=31,
    net=105,
    elapsed=90_500,
    race="mint-otter-42/3",
    rivals=4,
)
_BERT = LeaderboardRow(
    rank=2,
    player="b" * 16,
    name="Bert",
    value=12,
    net=10,
    elapsed=61_000,
    race="mint-otter-42/2",
    rivals=1,
)
BEST = events.Leaderboard(
    game="canfield",
    ranking="best",
    period="day",
    key="2026-09-01",
    bots=False,
    total=2,
    offset=0,
    rows=[_ANNA, _BERT],
    me=_BERT,
)
BANKROLL = events.Leaderboard(
    game="lafayette",
    ranking="bankroll",
    period="all",
    key="all",
    bots=True,
    total=40,
    offset=0,
    rows=[
        LeaderboardRow(rank=1, player="o" * 16, name="Otto", value=-45, races=1, rivals=MOST_RIVALS)
    ],
)


def racer(
    player: str, name: str = "", bot: bool = False, nonce_hash: str = "d1" * 32
) -> events.Racer:
    """Return a racer, by default with the player id as the name."""
    return events.Racer(player=player, name=name or player, bot=bot, nonce_hash=nonce_hash)


TRICKS: Final = (
    "\x1b[2J",
    "\x1b]0;another title\x07",
    "\x9b31m",
    "\x08\x08",
    "\rAnna won",
    "\nrace mint-otter-42/3 is over",
    "\x7f",
    "\x00",
    "\u202egnp.exe",
    "\u2066",
    "\u200f",
    "\u2028",
    "\ufeff",
    "\u00ad",
    "\u034f",
    "\u180e",
    "\u3164",
    "\U000e0041",
)
"""Sequences that control a terminal, and signs that hide a difference of two names."""

HOSTILE: Final = "".join(TRICKS) + "[red on blue][link=http://cards.example]"
"""All tricks in one text, and Rich markup."""

OBEYED: Final = frozenset(
    chr(code)
    for first, last in [
        (0x00, 0x1F),
        (0x7F, 0x9F),
        (0x200E, 0x200F),
        (0x2028, 0x202E),
        (0x2066, 0x2069),
        (0xFEFF, 0xFEFF),
    ]
    for code in range(first, last + 1)
) | {"\u061c"}
"""Characters that a terminal obeys: C0, C1, line breaks, and changes of the writing direction."""


TRACE: Final = regex.compile(r"Traceback \(most|File \".*\", line [0-9]|Error\(|object at 0x")
"""Matches text that reveals the inside of a program, such as a traceback."""


def varied(
    random: Random, samples: Sequence[Command], known: Mapping[str, Sequence[object]]
) -> Command:
    """Return one of the samples with other values, which `known` lists by the names of fields."""
    sample = random.choice(samples)
    values = {
        name: random.choice(known[name]) for name in sample.__struct_fields__ if name in known
    }
    return msgspec.structs.replace(sample, **values)


Fields = list[tuple[Any, Any]]
"""A message before it is encoded; keys may have any type and occur twice."""

NUMBERS: Final = (
    *(0, 1, -1, 2, 16, 17, 20, 21, 100, 101, 2**31, 2**53 - 1, 2**53, 2**63 - 1, 2**63, 2**64 - 1),
    *(-(2**63), 0.0, -0.0, 1.0, 1.5, 1e308, float("inf"), float("-inf"), float("nan")),
)
TEXTS: Final = (
    *("", " ", "x", "\x00", "\n", "a" * 64, "a" * 65, "a" * 4000, "\u202e", "\ud7ff", "\uffff"),
    *("mint-otter-42", "mint-otter-42\n", "MINT-OTTER-42", "mint-otter-4\uff12", "mint-otter-42/0"),
    *("mint-otter-42/1", "mint-otter-42/999999", "mint-otter-42/1000000", "../../etc/passwd"),
    *("draw", "redeal", "w>up", "t1>t2:99", "t1>t2:-1", "up.S>t3", "up.♠>t3", "t0>t9"),
    "t\uff11>t2",
    *("${jndi:x}", "{0.__class__}", "%s%n", "' OR 1=1 --", "<script>", "EVAL return 1"),
    *("\r\nGET /", "best\n", "0" * 64, "g" * 64, "0" * 63, "ab" * 16),
    *("canfield", "best", "all", "hello", "move"),
    *("😀" * 20, "ﷺ" * 18, "e\u0301" * 10, "\uff21\uff22", "Anna", "\u0430nna", "null", "true"),
)
WORDS: Final = ("type", "id", "re", "table", "race", "after", "move", "zeal", "", "__class__", "ID")
OTHERS: Final[Sequence[Any]] = (None, True, False, b"", b"draw", [], {}, [[]], {"a": {}}, [1, "x"])


class Spoiler:
    """A maker of damaged frames for one subprotocol."""

    def __init__(self, random: Random, subprotocol: str) -> None:
        self._random = random
        self._is_text = subprotocol == JSON
        self._commands = [msgspec.to_builtins(command) for command in COMMANDS.values()]

    def frame(self, command: Command | None = None) -> Frame:
        """Encode a command, by default a random one, and damage it at some places or none."""
        random = self._random
        given = random.choice(self._commands) if command is None else msgspec.to_builtins(command)
        fields = list(given.items())
        for _ in range(random.choice((0, 1, 1, 1, 2, 3))):
            random.choice(SPOILING)(self, fields)
        frame = self._written(fields)
        if random.random() < 0.35:
            for _ in range(random.choice((1, 1, 2, 8))):
                frame = random.choice(BREAKING)(self, frame)
        frame = frame[: MAX_COMMAND_BYTES // 4]
        return self._sent(frame)

    def _sent(self, frame: bytes) -> Frame:
        """Return the frame as text or bytes; one frame in fifty has the wrong one of the two."""
        if self._is_text is (self._random.random() < 0.02):
            return frame
        return frame.decode("utf-8", errors="replace")

    # Spoiling fields

    def drop(self, fields: Fields) -> None:
        if fields:
            del fields[self._random.randrange(len(fields))]

    def add_again(self, fields: Fields) -> None:
        if fields:
            name, value = self._random.choice(fields)
            fields.append((name, value if self._random.random() < 0.5 else self._value()))

    def rename(self, fields: Fields) -> None:
        if fields:
            at = self._random.randrange(len(fields))
            fields[at] = (self._random.choice(WORDS), fields[at][1])

    def add(self, fields: Fields) -> None:
        fields.append((self._random.choice(WORDS), self._value()))

    def replace(self, fields: Fields) -> None:
        if fields:
            at = self._random.randrange(len(fields))
            fields[at] = (fields[at][0], self._value())

    def add_field_of_another(self, fields: Fields) -> None:
        """Add a field that belongs to another command."""
        other = self._random.choice(self._commands)
        fields.append(self._random.choice(list(other.items())))

    def change_type(self, fields: Fields) -> None:
        """Replace the command's type by another command's type, and keep all other fields."""
        other = self._random.choice(self._commands)["type"]
        fields[:] = [(name, other if name == "type" else value) for name, value in fields]

    def shuffle(self, fields: Fields) -> None:
        self._random.shuffle(fields)

    def add_odd_key(self, fields: Fields) -> None:
        if not self._is_text:
            fields.append((self._random.choice((0, -1, None, b"type", 1.5, True)), self._value()))

    def _value(self) -> Any:
        random = self._random
        kind = random.random()
        if kind < 0.4:
            return random.choice(NUMBERS)
        if kind < 0.8:
            return random.choice(TEXTS)
        if kind < 0.95:
            return random.choice(OTHERS)
        deep: Any = 1
        for _ in range(random.choice((3, 40, 400))):
            deep = [deep] if random.random() < 0.5 else {"a": deep}
        return deep

    # Writing

    def _written(self, fields: Fields) -> bytes:
        return self._as_text(fields) if self._is_text else _as_map(fields)

    def _as_text(self, fields: Fields) -> bytes:
        is_ascii = self._random.random() < 0.5
        pairs = (f"{_text(str(name), is_ascii)}:{_text(value, is_ascii)}" for name, value in fields)
        return ("{" + ",".join(pairs) + "}").encode("utf-8", errors="replace")

    # Breaking bytes

    def flip(self, frame: bytes) -> bytes:
        if not frame:
            return frame
        at = self._random.randrange(len(frame))
        return frame[:at] + bytes([frame[at] ^ 1 << self._random.randrange(8)]) + frame[at + 1 :]

    def cut(self, frame: bytes) -> bytes:
        return frame[: self._random.randrange(len(frame) + 1)]

    def insert(self, frame: bytes) -> bytes:
        at = self._random.randrange(len(frame) + 1)
        return frame[:at] + self._random.randbytes(self._random.choice((1, 2, 5))) + frame[at:]

    def repeat(self, frame: bytes) -> bytes:
        start, end = sorted(self._random.randrange(len(frame) + 1) for _ in range(2))
        return frame[:end] + frame[start:end] + frame[end:]

    def join(self, frame: bytes) -> bytes:
        other = self._written(list(self._random.choice(self._commands).items()))
        return frame + other[self._random.choice((0, len(other) // 2)) :]

    def add_false_length(self, frame: bytes) -> bytes:
        """Insert at the start a length or a nesting depth that the frame does not have."""
        return self._random.choice(FALSE_LENGTHS) + frame

    def replace_by_noise(self, frame: bytes) -> bytes:
        return self._random.randbytes(self._random.randrange(80))


SPOILING: Final[tuple[Callable[[Spoiler, Fields], None], ...]] = (
    *(Spoiler.replace,) * 4,
    *(Spoiler.drop, Spoiler.add_again, Spoiler.rename, Spoiler.add, Spoiler.add_field_of_another),
    *(Spoiler.change_type, Spoiler.shuffle, Spoiler.add_odd_key),
)

BREAKING: Final[tuple[Callable[[Spoiler, bytes], bytes], ...]] = (
    *(Spoiler.flip, Spoiler.flip, Spoiler.cut, Spoiler.insert, Spoiler.repeat),
    *(Spoiler.join, Spoiler.add_false_length, Spoiler.replace_by_noise),
)

FALSE_LENGTHS: Final = (
    *(b"\xdd\xff\xff\xff\xff", b"\xdf\xff\xff\xff\xff", b"\xdb\xff\xff\xff\xff", b"\x91" * 1200),
    *(b"\x81\xa1a" * 600, b"[" * 1200, b'{"a":' * 400, b"\xc1", b"\xef\xbb\xbf", b"\xff\xfe"),
    b"\x00",
    *(b"\xc9\xff\xff\xff\xff\x05", b"\xd8\xff" + b"x" * 16, b'"' + b"\\" * 9, b"9" * 1000, b"-"),
)


def _text(value: Any, is_ascii: bool) -> str:
    try:
        return json.dumps(value, ensure_ascii=is_ascii)
    except TypeError:
        return json.dumps(repr(value))


def _as_map(fields: Fields) -> bytes:
    """Encode a MessagePack map by hand, so that keys may occur twice."""
    head = bytes([0x80 | len(fields)]) if len(fields) < 16 else b"\xde" + len(fields).to_bytes(2)
    return head + b"".join(_packed(name) + _packed(value) for name, value in fields)


def _packed(value: Any) -> bytes:
    packed: bytes = msgpack.packb(value, unicode_errors="surrogatepass")
    return packed
