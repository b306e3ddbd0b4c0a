"""Repeatable chance: numbers that look random and depend only on given values."""

from binascii import crc32


def percent(*values: object) -> int:
    """Return a number from 0 to 99 that depends only on the values."""
    return crc32(" ".join(map(str, values)).encode()) % 100
