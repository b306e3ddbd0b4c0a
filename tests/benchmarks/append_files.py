"""Append-only files of a store, made longer: as if more tables had raced, move by move.

Only what a race's own keys were changed by is told again, with codes of tables that are not there: a house
that opens on the file finds the tables it had, and a store with more in it.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

Command = list[bytes]

_BLOCK = (b"MULTI", b"EXEC")


def commands(text: bytes) -> Iterator[Command]:
    """Every command of an append-only file."""
    at = 0
    while at < len(text):
        end = text.index(b"\r\n", at)
        words, at = int(text[at + 1 : end]), end + 2
        command = []
        for _ in range(words):
            end = text.index(b"\r\n", at)
            size, start = int(text[at + 1 : end]), end + 2
            command.append(text[start : start + size])
            at = start + size + 2
        yield command


def packed(command: Sequence[bytes]) -> bytes:
    return b"*%d\r\n%b" % (
        len(command),
        b"".join(b"$%d\r\n%b\r\n" % (len(word), word) for word in command),
    )


def of_races(found: Iterator[Command]) -> list[Command]:
    """What changed a race's keys, in the blocks that it came in."""
    kept: list[Command] = []
    for command in found:
        name = command[0].upper()
        if name == b"EXEC" and kept and kept[-1][0].upper() == b"MULTI":
            kept.pop()
        elif name in _BLOCK or (len(command) > 1 and b":race:" in command[1]):
            kept.append(command)
    return kept


def lengthen(file: Path, size: int) -> int:
    """Let an append-only file be as many bytes long, at least; returns how many moves are in it.

    Raises `ValueError` if nobody has raced yet.
    """
    mould = of_races(commands(file.read_bytes()))
    codes = {command[1].split(b":")[2] for command in mould if len(command) > 1}
    moves = sum(command[0].upper() == b"RPUSH" for command in mould)
    if not moves:
        raise ValueError(f"no move is in {file}")
    text, marks = b"".join(map(packed, mould)), sorted(codes)
    length, copies = file.stat().st_size, 0
    with file.open("ab") as longer:
        while length < size:
            copies += 1
            copy = text
            for code in marks:
                # as long as the code it stands for, or the file would be spoilt
                other = (b"%d." % copies).ljust(len(code), b"-")[: len(code)]
                other = other[: len(code) - 2] + b"%02d" % marks.index(code)
                copy = copy.replace(b":" + code + b":", b":" + other + b":")
            length += longer.write(copy)
    return moves * (copies + 1)
