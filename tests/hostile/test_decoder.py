"""The decoder turns every frame into a command or a refusal from the closed list."""

from collections import Counter
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit.mutations import CODES, KINDS, Spoiler, read_or_refused
from saratoga_protocol.codec import CODECS
from saratoga_protocol.version import JSON, MSGPACK

BOTH = pytest.mark.parametrize("subprotocol", [MSGPACK, JSON])

FRAMES = 20_000


@BOTH
@given(chance=st.randoms(use_true_random=False))
def test_a_spoilt_command_is_a_command_or_refused(subprotocol: str, chance: Random) -> None:
    spoiler = Spoiler(chance, subprotocol)
    for _ in range(10):
        read_or_refused(CODECS[subprotocol], spoiler.frame())


@BOTH
def test_twenty_thousand_spoilt_frames_reach_every_command_and_every_refusal(
    subprotocol: str,
) -> None:
    spoiler = Spoiler(Random("Saratoga"), subprotocol)
    found = Counter(read_or_refused(CODECS[subprotocol], spoiler.frame()) for _ in range(FRAMES))
    assert found.keys() == {kind.__name__ for kind in KINDS} | CODES
    # frames of both kinds occur: accepted ones and refused ones
    assert 0.3 < sum(found[code] for code in CODES) / FRAMES < 0.9
    assert found["bad_command"] > FRAMES / 10 < found["bad_frame"] * 5


@BOTH
def test_the_same_seed_makes_the_same_frames(subprotocol: str) -> None:
    one, other = (Spoiler(Random(7), subprotocol) for _ in range(2))
    assert [one.frame() for _ in range(500)] == [other.frame() for _ in range(500)]
