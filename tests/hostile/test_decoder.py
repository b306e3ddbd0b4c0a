"""The decoder turns every frame into a command or a refusal from the closed list, and the largest ids are exact."""

from collections import Counter
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit.messages import CODES, KINDS, Spoiler, read_or_refused
from saratoga_protocol.codec import CODECS, JSON, MSGPACK

BOTH = pytest.mark.parametrize("subprotocol", [MSGPACK, JSON])

FRAMES = 20_000
"""The number of frames in `make test`; `make fuzz` spoils a million."""


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
