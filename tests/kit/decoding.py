"""What must hold of everything that `decode_command` answers, whatever it was given."""

import re as regex
from typing import Final, get_args

from saratoga_protocol.codec import LONGEST_DETAIL, BadFrame, Codec, Frame
from saratoga_protocol.commands import AnyCommand
from saratoga_protocol.version import LARGEST_NUMBER

KINDS = get_args(AnyCommand)
CODES = frozenset({"bad_frame", "bad_command", "wrong_frame_kind"})
"""All that a decoder may find wrong."""

TRACE: Final = regex.compile(r"Traceback \(most|File \".*\", line [0-9]|Error\(|object at 0x")
"""What shows the inside of a program."""


def read_or_refused(codec: Codec, frame: Frame) -> str:
    """The kind of command in the frame, or the code of its refusal; anything else fails.

    A command must be one that the codec writes and reads again as the same; a refusal must be
    short, on the list, and must not name an id that no command could have had.
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
