"""The deal of a race follows from its seed and the racers' nonces, as the pages say."""

import hashlib
import hmac
from typing import TypeAlias

import pytest
from hypothesis import given
from hypothesis import strategies as st

from saratoga_rules.dealing.deal import deal, deal_for_key, practice_key
from saratoga_rules.dealing.fairness import commitment, deal_key, nonce_hash
from saratoga_rules.dealing.shuffle import shuffled_deck
from saratoga_rules.games import GAMES
from saratoga_rules.position import format_position

# Deal


KEY = bytes(range(32))

FIRST_DEALS = {
    "canfield": (
        "stock=9D4C8SQD3S3CTSAC6C6D4H7DJC7H8C9S2H5CKHTCAH7CTDTH9H8DKS7S8HQS4D4SQHJD waste=-"
        " reserve=KC2C5SAD6HASJH6S3DKD9C2S5H up=0,1,0,0 down=- columns=5D/2D/3H/QC"
        " base=11 passes=1"
    ),
    "canfield-aisleriot": (
        "stock=9D4C8SQD3S3CTSAC6C6D4H7DJC7H8C9S2H5CKHTCAH7CTDTH9H8DKS7S8HQS4D4SQHJD waste=-"
        " reserve=KC2C5SAD6HASJH6S3DKD9C2S5H up=0,1,0,0 down=- columns=5D/2D/3H/QC"
        " base=11 passes=1"
    ),
    "lafayette": (
        "stock=QC9D4C8SQD3S3CTSAC6C6D4H7DJC7H8C9S2H5CKHTCAH7CTDTH9H8DKS7S8HQS4D4SQHJD waste=-"
        " reserve=KC2C5SAD6HASJH6S3DKD9C2S5H up=0,0,0,0 down=0,0,0,0 columns=JS/5D/2D/3H"
        " base=1 passes=1"
    ),
    "lady-palk": (
        "stock=5H7HTHKCTC8SQD9C5SKSJDKHAD2D9C9S5C7STSAHKDTD4S9H2D4C2S9D9D4S7DQH2S6H4HAC4DACQH8H"
        "JCJS2CJHTCKHAH3S5D5C3C6D2H3D8C6S4CQS3D8HQD8D9SJSKSJCASQSJHKCTHJD waste=- reserve=-"
        " up=0,0,0,0,0,0,0,0 down=- columns=6C6H9HQC/7H6SAD6D/2HTD4HKD/2C4D5S7D/7S3C3S8S/6C5D3HQC"
        "/7C3H8D7C/8CTSAS5H base=1 passes=1"
    ),
    "klondike": (
        "stock=4H7DJC7H8C9S2H5CKHTCAH7CTDTH9H8DKS7S8HQS4D4SQHJD waste=- reserve=-"
        " up=0,0,0,0 down=- columns=KC/2C|6S/5S3D|JS/ADKD5D|9D/6H9C2D4C|3S/AS2S3H8S3C|AC"
        "/JH5HQCQDTS6C|6D base=1 passes=1"
    ),
    "caprice": (
        "stock=3C5D3HTS9H4H5S3S3H8DQC6D7D8SQC7C5H5H7HTHTC8SQD9C5SJDAD2D9C9S5C7STSKDTD4S9H2D4C2S"
        "9D9D4S7DQH2S6H4H4DACQH8HJCJS2CJHTCKHAH3S5D5C3C6D2H3D8C6S4CQS3D8HQD8D9SJSKSJCASQSJHKCTHJD"
        " waste=- reserve=- up=1,1,1,1 down=1,1,1,1 columns=6C/7H/2H/2C/7S/6C/7C/8C/6H/6S/TD/4D"
        " base=1 passes=1"
    ),
}


@pytest.mark.parametrize("name", GAMES)
def test_the_deal_of_a_key_never_changes(name: str) -> None:
    assert format_position(deal_for_key(GAMES[name], KEY)) == FIRST_DEALS[name]


@pytest.mark.parametrize("name", GAMES)
def test_a_deck_of_the_wrong_size_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="cards, not with"):
        deal(GAMES[name], shuffled_deck(3 - GAMES[name].packs, KEY))


def test_a_practice_seed_is_the_same_deal_for_everyone() -> None:
    assert practice_key("saratoga").hex() == (
        "a2e092eee84fc32966e86c5bd037ae83250a64dea282106339cf3f2596370c3d"
    )
    assert practice_key("saratoga") != practice_key("Saratoga")


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
