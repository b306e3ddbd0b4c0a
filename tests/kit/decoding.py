"""Check the result of `decode_command` for any frame."""

import re as regex
from typing import Final, get_args

from saratoga_protocol.codec import LONGEST_DETAIL, BadFrame, Codec, Frame
from saratoga_protocol.commands import AnyCommand
from saratoga_protocol.version import LARGEST_NUMBER

KINDS = get_args(AnyCommand)
CODES = frozenset({"bad_frame", "bad_command", "wrong_frame_kind"})
"""The refusals that a decoder may raise."""

TRACE: Final = regex.compile(r"Traceback \(most|File \".*\", line [0-9]|Error\(|object at 0x")
"""Matches text that reveals the inside of a program, such as a traceback."""


def read_or_refused(codec: Codec, frame: Frame) -> str:
    """Return the kind of command in the frame, or the code of its refusal.

    A command must survive encoding and decoding. A refusal must be short, have one of `CODES`, and must
    not name an id that no command can have.
    """
    try:
        command = codec.decode_command(frame)
    except BadFrame as bad:
        return _refusal(bad)
    assert type(command) in KINDS, command
    assert 1 <= command.id <= LARGEST_NUMBER, command
    assert codec.decode_command(codec.encode_command(command)) == command
    return type(command).__name__


def _refusal(bad: BadFrame) -> str:
    assert bad.code in CODES, bad
    assert 0 < len(bad.detail) <= LONGEST_DETAIL + 4, bad
    assert not TRACE.search(bad.detail), bad
    assert bad.re is None or 1 <= bad.re <= LARGEST_NUMBER, bad
    return bad.code
