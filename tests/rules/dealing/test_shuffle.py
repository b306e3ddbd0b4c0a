from collections import Counter
from itertools import islice

import pytest

from saratoga_rules.cards import PACK, format_cards
from saratoga_rules.dealing.shuffle import _below, _stream, shuffled_deck

KEY = bytes(range(32))


def test_the_shuffle_of_one_pack_is_pinned() -> None:
    assert format_cards(shuffled_deck(1, KEY)) == (
        "KC2C5SAD6HASJH6S3DKD9C2S5HJS5D2D3HQC9D4C8SQD3S3CTSAC"
        "6C6D4H7DJC7H8C9S2H5CKHTCAH7CTDTH9H8DKS7S8HQS4D4SQHJD"
    )


def test_the_shuffle_of_two_packs_is_pinned() -> None:
    assert format_cards(shuffled_deck(2, KEY)) == (
        "6C7H2H2C7S6C7C8C6H6STD4D3C5D3HTS9HAD4H5S3S3H8DASQC6D"
        "KD7D8SQC7C5H5H7HTHKCTC8SQD9C5SKSJDKHAD2D9C9S5C7STSAH"
        "KDTD4S9H2D4C2S9D9D4S7DQH2S6H4HAC4DACQH8HJCJS2CJHTCKH"
        "AH3S5D5C3C6D2H3D8C6S4CQS3D8HQD8D9SJSKSJCASQSJHKCTHJD"
    )


@pytest.mark.parametrize("packs", [1, 2, 4])
def test_no_card_is_lost_or_added(packs: int) -> None:
    assert Counter(shuffled_deck(packs, b"any key")) == dict.fromkeys(PACK, packs)


def test_another_key_makes_another_deck() -> None:
    assert len({shuffled_deck(1, bytes([number])) for number in range(100)}) == 100


def test_the_stream_continues_from_block_to_block() -> None:
    assert bytes(islice(_stream(KEY), 40)).hex() == (
        "d9fecdbea6bd18dd41a0d1de4d77742e8f55894ced376a07294f4d895668931a26a3bccb6e5369e0"
    )


@pytest.mark.parametrize("bound", [2, 3, 52, 104])
def test_bytes_that_would_favour_low_numbers_are_discarded(bound: int) -> None:
    fair = 256 - 256 % bound
    drawn = Counter(_below(bound, iter([255] * (fair < 256) + [byte])) for byte in range(fair))
    assert drawn == dict.fromkeys(range(bound), fair // bound)


@pytest.mark.parametrize("packs", [0, 5])
def test_a_deck_has_one_to_four_packs(packs: int) -> None:
    with pytest.raises(ValueError, match="A deck has 1 to 4 packs"):
        shuffled_deck(packs, KEY)


def test_every_card_comes_first_about_equally_often() -> None:
    firsts = Counter(shuffled_deck(1, number.to_bytes(2, "big"))[0] for number in range(5200))
    # 100 each on average; the chance that a fair shuffle leaves these bounds is below 1e-9,
    # and the keys are fixed, so this either always passes or never
    assert len(firsts) == 52
    assert 45 < min(firsts.values()) < 100 < max(firsts.values()) < 170
