"""The writes in an append-only file, parsed: where each ends, and whether the last one was interrupted."""

import re
from collections.abc import Iterator
from typing import Final

_NEXT_COMMAND: Final = re.compile(rb"\r\n\*[0-9]+\r\n\$[0-9]+\r\n")
"""Matches the end of a word and the beginning of another command."""


def interrupted_at(content: bytes) -> int | None:
    """Return the length of the complete writes, if all that follows is the beginning of one more; else `None`.

    A crash leaves such an end. A damaged length looks like it, but takes the later commands for one word.
    """
    end = at = max(ends_of_writes(content), default=0)
    # the whole commands of an interrupted transaction
    while (command := _command(content, at)) is not None:
        at = command[0]
    return end if end < len(content) and _is_beginning(content, at) else None


def _is_beginning(content: bytes, at: int) -> bool:
    """Return True if the content from `at` on is the beginning of one command, or empty."""
    mark, words = b"*", 1
    while words:
        header = _number(content, at, mark)
        if header is None:
            return re.fullmatch(rb"(\%b[0-9]{0,19}\r?)?" % mark, content[at:]) is not None
        at, number = header
        if mark == b"*":
            mark, words = b"$", number
        elif at + number + 2 > len(content):
            return _NEXT_COMMAND.search(content, at) is None
        else:
            at, words = at + number + 2, words - 1
    return False


def ends_of_writes(content: bytes) -> Iterator[int]:
    """Yield the end of each write; what was written in one transaction is one write."""
    at, is_open = 0, False
    while (command := _command(content, at)) is not None:
        at, word = command
        if word == b"multi":
            is_open = True
        elif word == b"exec":
            is_open = False
        if not is_open:
            yield at


def _command(content: bytes, at: int) -> tuple[int, bytes] | None:
    """Return the end and the first word of the command at `at`; `None` if there is no complete one."""
    header = _number(content, at, b"*")
    if header is None or header[1] < 1:
        return None
    at, words = header
    first = b""
    for index in range(words):
        header = _number(content, at, b"$")
        if header is None or header[1] < 0:
            return None
        start, length = header
        at = start + length + 2
        if content[at - 2 : at] != b"\r\n":
            return None
        if index == 0:
            first = content[start : start + length].lower()
    return at, first


def _number(content: bytes, at: int, mark: bytes) -> tuple[int, int] | None:
    """Return the place behind a line such as `*3`, and its number; `None` if it is no such line."""
    end = content.find(b"\r\n", at, at + 24)
    if end < 0 or content[at : at + 1] != mark or not content[at + 1 : end].isdigit():
        return None
    return end + 2, int(content[at + 1 : end])
