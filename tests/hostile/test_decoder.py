"""The decoder turns every frame into a command or a refusal from the closed list, and the largest ids are exact."""

from collections import Counter
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit.messages import TRACE, Spoiler
from saratoga_protocol.codec import (
    CODECS,
    JSON,
    LONGEST_DETAIL,
    MSGPACK,
    BadFrame,
    Codec,
    Frame,
)
from saratoga_protocol.commands import LARGEST_NUMBER, Command

BOTH = pytest.mark.parametrize("subprotocol", [MSGPACK, JSON])

FRAMES = 20_000
"""The number of frames in `make test`; `make fuzz` spoils a million."""

KINDS = Command.__subclasses__()
CODES = frozenset({"bad_frame", "bad_command", "wrong_frame_kind"})
"""The refusals that a decoder may raise."""


def read_or_refused(codec: Codec, frame: Frame) -> str:
    """Return the kind of command in the frame, or the code of its refusal.

    A command must survive encoding and decoding. A refusal must be short, have one of `CODES`, and
    must not name an id that no command can have.
    """
    try:
        command = codec.decode_command(frame)
    except BadFrame as bad:
        return _refusal(bad)
    assert type(command) in KINDS, command
    assert 1 <= command.id <= LARGEST_NUMBER, command
    assert codec.decode_command(codec.encode(command)) == command
    return type(command).__name__


def _refusal(bad: BadFrame) -> str:
    assert bad.code in CODES, bad
    assert 0 < len(bad.detail) <= LONGEST_DETAIL + 4, bad
    assert not TRACE.search(bad.detail), bad
    assert bad.re is None or 1 <= bad.re <= LARGEST_NUMBER, bad
    return bad.code


@BOTH
@given(chance=st.randoms(use_true_random=False))
def test_a_spoilt_command_is_a_command_or_refused(subprotocol: str, chance: Random) -> None:
    spoiler = Spoiler(chance, subprotocol)
    for _ in range(10):
        read_or_refused(CODECS[subprotocol], spoiler.frame())


@BOTH
@pytest.mark.parametrize("frames", [FRAMES, pytest.param(500_000, marks=pytest.mark.long)])
def test_spoilt_frames_reach_every_command_and_every_refusal(subprotocol: str, frames: int) -> None:
    spoiler = Spoiler(Random("Saratoga"), subprotocol)
    found = Counter(read_or_refused(CODECS[subprotocol], spoiler.frame()) for _ in range(frames))
    assert found.keys() == {kind.__name__ for kind in KINDS} | CODES
    # frames of both kinds occur: accepted ones and refused ones
    assert 0.3 < sum(found[code] for code in CODES) / frames < 0.9
    assert found["bad_command"] > frames / 10 < found["bad_frame"] * 5
