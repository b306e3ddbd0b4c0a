"""One write of what must change together: guards that must hold, then the commands that write.

The store carries out a `Save` whole or not at all (`functions/save.lua`). Any node may write; the
guards decide which of several writes judged on the same state is the one that counts. Values are
packed as MessagePack that Redis's cmsgpack can read: no bin and ext types, no numbers above 2^53,
and no nil inside a list.
"""

from collections.abc import Hashable
from secrets import token_hex
from typing import Any, Final, TypeAlias

import msgpack

Value: TypeAlias = str | bytes | int
"""A value in the store. Numbers are sent as text: Lua changes those above 14 digits."""

MISSING: Final = False
"""In a guard: the field is not there."""

LARGE: Final = 1 << 14
"""Bytes above which a value is sent by itself, so that the store need not unpack it."""


class Save:
    """Guards and writes. The key of the first guard is a hash."""

    def __init__(self) -> None:
        self._guards: list[tuple[object, ...]] = []
        self._writes: list[list[object]] = []
        self._large: list[bytes] = []
        self._reasons: list[Hashable] = []

    def only_if(
        self, reason: Hashable, key: str, field: str, *values: Value | bool, unless: bool = False
    ) -> None:
        """Demand that a hash's field has one of the values, or with `unless` none of them.

        An empty field stands for a whole string, `MISSING` for a value that is not there. `reason`
        is what `StoreClient.save` returns if the guard does not hold; the first such guard counts.
        """
        allowed = [each if each is MISSING else _text(each) for each in values]
        self._guards.append((key, field, allowed, unless))
        self._reasons.append(reason)

    def do(self, command: str, key: str, *values: Value) -> None:
        """Add a command of the store, one of those in `functions/save.lua`."""
        write: list[object] = [command, key]
        for value in values:
            if isinstance(value, bytes) and len(value) > LARGE:
                self._large.append(value)
                write.append(True)
            else:
                write.append(_text(value))
        self._writes.append(write)

    def packed(self) -> tuple[bytes, ...]:
        """Return the arguments of the Function `save`, with a token by which it knows a repeat."""
        return pack((token_hex(8), self._guards, self._writes)), *self._large

    def reason(self, answer: int) -> Hashable | None:
        """Return the reason of the guard that did not hold; `None` if everything was written."""
        return self._reasons[answer - 1] if answer else None


def _text(value: Value) -> str | bytes:
    return str(value) if isinstance(value, int) else value


def pack(value: object) -> bytes:
    packed: bytes | None = msgpack.packb(value, use_bin_type=False)
    assert packed is not None
    return packed


def unpack(packed: bytes) -> Any:
    """Return the value in these bytes. Raises `ValueError` if they are not MessagePack."""
    return msgpack.unpackb(packed)
