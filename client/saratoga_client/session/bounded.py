"""Bounds for what a session remembers, so that no server can fill this program's memory."""

from typing import TypeVar

Key = TypeVar("Key")
Value = TypeVar("Value")


def put_newest(known: dict[Key, Value], key: Key, value: Value, most: int) -> None:
    """Set an entry as the newest one; drop the oldest entry above `most`."""
    known.pop(key, None)
    known[key] = value
    if len(known) > most:
        del known[next(iter(known))]
