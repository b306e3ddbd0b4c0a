"""Frames that are nearly commands: real ones, spoilt in their structure or in their bytes.

`Spoiler` draws all of it from one `Random`, so that a seed tells a million frames again. A frame is
first a list of fields (a name may come twice), which is spoilt and written by hand: no encoder of
ours would write what is looked for here. Then its bytes may be spoilt too.
"""

import json
from collections.abc import Callable, Sequence
from random import Random
from typing import Any, Final

import msgpack
import msgspec

from kit.messages import COMMANDS
from saratoga_protocol.codec import Frame
from saratoga_protocol.commands import AnyCommand
from saratoga_protocol.version import JSON, MAX_COMMAND_BYTES

Fields = list[tuple[Any, Any]]
"""A message before it is written; keys may be anything, and come twice."""

NUMBERS: Final = (
    *(0, 1, -1, 2, 16, 17, 20, 21, 100, 101, 2**31, 2**53 - 1, 2**53, 2**63 - 1, 2**63, 2**64 - 1),
    *(-(2**63), 0.0, -0.0, 1.0, 1.5, 1e308, float("inf"), float("-inf"), float("nan")),
)
TEXTS: Final = (
    *("", " ", "x", "\x00", "\n", "a" * 64, "a" * 65, "a" * 4000, "\u202e", "\ud7ff", "\uffff"),
    *("mint-otter-42", "mint-otter-42\n", "MINT-OTTER-42", "mint-otter-4\uff12", "mint-otter-42/0"),
    *("mint-otter-42/1", "mint-otter-42/999999", "mint-otter-42/1000000", "../../etc/passwd"),
    *(
        "draw",
        "redeal",
        "w>up",
        "t1>t2:99",
        "t1>t2:-1",
        "up.S>t3",
        "up.♠>t3",
        "t0>t9",
        "t\uff11>t2",
    ),
    *(
        "${jndi:x}",
        "{0.__class__}",
        "%s%n",
        "' OR 1=1 --",
        "<script>",
        "EVAL return 1",
        "\r\nGET /",
    ),
    *(
        "0" * 64,
        "g" * 64,
        "0" * 63,
        "ab" * 16,
        "canfield",
        "best",
        "best\n",
        "all",
        "hello",
        "move",
    ),
    *("😀" * 20, "ﷺ" * 18, "e\u0301" * 10, "\uff21\uff22", "Anna", "\u0430nna", "null", "true"),
)
WORDS: Final = ("type", "id", "re", "table", "race", "after", "move", "zeal", "", "__class__", "ID")
OTHERS: Final[Sequence[Any]] = (None, True, False, b"", b"draw", [], {}, [[]], {"a": {}}, [1, "x"])


class Spoiler:
    """Makes frames for one subprotocol."""

    def __init__(self, chance: Random, subprotocol: str) -> None:
        self._chance = chance
        self._is_text = subprotocol == JSON
        self._commands = [msgspec.to_builtins(command) for command in COMMANDS.values()]

    def frame(self, command: AnyCommand | None = None) -> Frame:
        """A frame made from a command (any, if none is named), spoilt in one way or in several."""
        chance = self._chance
        if command is None:
            fields = list(chance.choice(self._commands).items())
        else:
            fields = list(msgspec.to_builtins(command).items())
        for _ in range(chance.choice((0, 1, 1, 1, 2, 3))):
            chance.choice(_SPOILING)(self, fields)
        frame = self._written(fields)
        if chance.random() < 0.35:
            for _ in range(chance.choice((1, 1, 2, 8))):
                frame = chance.choice(_BREAKING)(self, frame)
        frame = frame[: MAX_COMMAND_BYTES // 4]
        return self._sent(frame)

    def _sent(self, frame: bytes) -> Frame:
        """Now and then a frame is of the other kind; a text that is none is sent as what it may be."""
        if self._is_text is (self._chance.random() < 0.02):
            return frame
        return frame.decode("utf-8", errors="replace")

    # Spoiling fields

    def _drop(self, fields: Fields) -> None:
        if fields:
            del fields[self._chance.randrange(len(fields))]

    def _twice(self, fields: Fields) -> None:
        if fields:
            name, value = self._chance.choice(fields)
            fields.append((name, value if self._chance.random() < 0.5 else self._value()))

    def _rename(self, fields: Fields) -> None:
        if fields:
            at = self._chance.randrange(len(fields))
            fields[at] = (self._chance.choice(WORDS), fields[at][1])

    def _add(self, fields: Fields) -> None:
        fields.append((self._chance.choice(WORDS), self._value()))

    def _replace(self, fields: Fields) -> None:
        if fields:
            at = self._chance.randrange(len(fields))
            fields[at] = (fields[at][0], self._value())

    def _borrow(self, fields: Fields) -> None:
        """A field of another command."""
        other = self._chance.choice(self._commands)
        fields.append(self._chance.choice(list(other.items())))

    def _become(self, fields: Fields) -> None:
        """Another command's type over one's own fields."""
        other = self._chance.choice(self._commands)["type"]
        fields[:] = [(name, other if name == "type" else value) for name, value in fields]

    def _shuffle(self, fields: Fields) -> None:
        self._chance.shuffle(fields)

    def _odd_key(self, fields: Fields) -> None:
        if not self._is_text:
            fields.append((self._chance.choice((0, -1, None, b"type", 1.5, True)), self._value()))

    def _value(self) -> Any:
        chance = self._chance
        kind = chance.random()
        if kind < 0.4:
            return chance.choice(NUMBERS)
        if kind < 0.8:
            return chance.choice(TEXTS)
        if kind < 0.95:
            return chance.choice(OTHERS)
        deep: Any = 1
        for _ in range(chance.choice((3, 40, 400))):
            deep = [deep] if chance.random() < 0.5 else {"a": deep}
        return deep

    # Writing

    def _written(self, fields: Fields) -> bytes:
        return self._as_text(fields) if self._is_text else _as_map(fields)

    def _as_text(self, fields: Fields) -> bytes:
        is_ascii = self._chance.random() < 0.5
        pairs = (f"{_text(str(name), is_ascii)}:{_text(value, is_ascii)}" for name, value in fields)
        return ("{" + ",".join(pairs) + "}").encode("utf-8", errors="replace")

    # Breaking bytes

    def _flip(self, frame: bytes) -> bytes:
        if not frame:
            return frame
        at = self._chance.randrange(len(frame))
        return frame[:at] + bytes([frame[at] ^ 1 << self._chance.randrange(8)]) + frame[at + 1 :]

    def _cut(self, frame: bytes) -> bytes:
        return frame[: self._chance.randrange(len(frame) + 1)]

    def _insert(self, frame: bytes) -> bytes:
        at = self._chance.randrange(len(frame) + 1)
        return frame[:at] + self._chance.randbytes(self._chance.choice((1, 2, 5))) + frame[at:]

    def _repeat(self, frame: bytes) -> bytes:
        start, end = sorted(self._chance.randrange(len(frame) + 1) for _ in range(2))
        return frame[:end] + frame[start:end] + frame[end:]

    def _join(self, frame: bytes) -> bytes:
        other = self._written(list(self._chance.choice(self._commands).items()))
        return frame + other[self._chance.choice((0, len(other) // 2)) :]

    def _promise(self, frame: bytes) -> bytes:
        """A length or a depth that nothing stands behind."""
        return self._chance.choice(_PROMISES) + frame

    def _noise(self, frame: bytes) -> bytes:
        return self._chance.randbytes(self._chance.randrange(80))


_SPOILING: Final[tuple[Callable[[Spoiler, Fields], None], ...]] = (
    *(Spoiler._replace,) * 4,
    *(Spoiler._drop, Spoiler._twice, Spoiler._rename, Spoiler._add, Spoiler._borrow),
    *(Spoiler._become, Spoiler._shuffle, Spoiler._odd_key),
)

_BREAKING: Final[tuple[Callable[[Spoiler, bytes], bytes], ...]] = (
    *(Spoiler._flip, Spoiler._flip, Spoiler._cut, Spoiler._insert, Spoiler._repeat),
    *(Spoiler._join, Spoiler._promise, Spoiler._noise),
)

_PROMISES: Final = (
    *(b"\xdd\xff\xff\xff\xff", b"\xdf\xff\xff\xff\xff", b"\xdb\xff\xff\xff\xff", b"\x91" * 1200),
    *(
        b"\x81\xa1a" * 600,
        b"[" * 1200,
        b'{"a":' * 400,
        b"\xc1",
        b"\xef\xbb\xbf",
        b"\xff\xfe",
        b"\x00",
    ),
    *(b"\xc9\xff\xff\xff\xff\x05", b"\xd8\xff" + b"x" * 16, b'"' + b"\\" * 9, b"9" * 1000, b"-"),
)


def _text(value: Any, is_ascii: bool) -> str:
    try:
        return json.dumps(value, ensure_ascii=is_ascii)
    except TypeError:
        return json.dumps(repr(value))


def _as_map(fields: Fields) -> bytes:
    """A MessagePack map written by hand, so that keys may come twice."""
    head = bytes([0x80 | len(fields)]) if len(fields) < 16 else b"\xde" + len(fields).to_bytes(2)
    return head + b"".join(_packed(name) + _packed(value) for name, value in fields)


def _packed(value: Any) -> bytes:
    packed: bytes = msgpack.packb(value, unicode_errors="surrogatepass")
    return packed
