"""The hashes of a fair deal are pinned, because other programs must compute the same ones."""

import hashlib
import hmac
from typing import TypeAlias

import pytest
from hypothesis import given
from hypothesis import strategies as st

from saratoga_rules.dealing.fairness import commitment, deal_key, nonce_hash

SEED = bytes(range(32))
ANNA, BEN = "a" * 16, "b" * 16
NONCES = {ANNA: bytes(16), BEN: bytes(range(16))}

seeds = st.binary(min_size=32, max_size=32)
words = st.text("abcdefghijklmnopqrstuvwxyz0123456789-/", max_size=20)
numbers = st.integers(0, 10**6)
nonces = st.dictionaries(words, st.binary(min_size=16, max_size=16), max_size=4)


_Promise: TypeAlias = tuple[bytes, str, int, str, int, int, bool]


def _commitment(
    seed: bytes, game: str, rules: int, table: str, race: int, cap: int = 10, public: bool = True
) -> str:
    return commitment(seed, game, rules, table, race, cap=cap, public=public)


def test_the_commitment_follows_its_written_layout() -> None:
    written = (
        b"\0\0\0\x15saratoga commitment 1"
        b"\0\0\0\x08canfield"
        b"\0\0\0\x011"
        b"\0\0\0\x0dmint-otter-42"
        b"\0\0\0\x013"
        b"\0\0\0\x0210"
        b"\0\0\0\x03yes"
        b"\0\0\0\x20" + SEED
    )
    assert commitment(SEED, "canfield", 1, "mint-otter-42", 3, cap=10, public=True) == (
        hashlib.sha256(written).hexdigest()
    )


def test_nonce_hashes_are_plain_sha_256_and_pinned() -> None:
    assert nonce_hash(bytes(16)) == (
        "374708fff7719dd5979ec875d56cd2286f6d3cf7ec317a3b25632aab28ec37bb"
    )
    assert nonce_hash(bytes(range(16))) == (
        "be45cb2605bf36bebde684841a28f0fd43c69850a3dce5fedba69928ee3a8991"
    )


def test_the_deal_key_follows_its_written_layout() -> None:
    written = (
        b"\0\0\0\x13saratoga deal key 1"
        b"\0\0\0\x0fmint-otter-42/3"
        b"\0\0\0\x012"
        b"\0\0\0\x10" + ANNA.encode() + b"\0\0\0\x10" + NONCES[ANNA]
    ) + (b"\0\0\0\x10" + BEN.encode() + b"\0\0\0\x10" + NONCES[BEN])
    assert deal_key(SEED, "mint-otter-42/3", NONCES) == hmac.digest(SEED, written, "sha256")


@given(
    st.tuples(seeds, words, numbers, words, numbers, numbers, st.booleans()),
    st.tuples(seeds, words, numbers, words, numbers, numbers, st.booleans()),
)
def test_a_commitment_is_bound_to_everything_it_names(one: _Promise, other: _Promise) -> None:
    assert (_commitment(*one) == _commitment(*other)) == (one == other)


@given(words, nonces, nonces)
def test_every_nonce_and_every_racer_changes_the_deal(
    race: str, one: dict[str, bytes], other: dict[str, bytes]
) -> None:
    assert (deal_key(SEED, race, one) == deal_key(SEED, race, other)) == (one == other)


@pytest.mark.parametrize("seed", [b"", bytes(31), bytes(33)])
def test_a_seed_of_another_length_is_refused(seed: bytes) -> None:
    with pytest.raises(ValueError, match="32 bytes"):
        _commitment(seed, "canfield", 1, "mint-otter-42", 1)
    with pytest.raises(ValueError, match="32 bytes"):
        deal_key(seed, "mint-otter-42/1", NONCES)


@pytest.mark.parametrize("nonce", [b"", bytes(15), bytes(17)])
def test_a_nonce_of_another_length_is_refused(nonce: bytes) -> None:
    with pytest.raises(ValueError, match="16 bytes"):
        nonce_hash(nonce)
    with pytest.raises(ValueError, match="16 bytes"):
        deal_key(SEED, "mint-otter-42/1", {ANNA: nonce})
