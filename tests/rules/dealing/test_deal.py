"""Deals and shuffles are pinned: a key is the same deal for ever."""

from collections import Counter
from itertools import islice

import pytest

from saratoga_rules.dealing.deal import deal, deal_for_key, practice_key
from saratoga_rules.dealing.shuffle import _below, _stream, shuffled_deck
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


# Shuffle


def test_the_stream_continues_from_block_to_block() -> None:
    assert bytes(islice(_stream(KEY), 40)).hex() == (
        "d9fecdbea6bd18dd41a0d1de4d77742e8f55894ced376a07294f4d895668931a26a3bccb6e5369e0"
    )


@pytest.mark.parametrize("bound", [2, 3, 52, 104])
def test_bytes_that_would_favour_low_numbers_are_discarded(bound: int) -> None:
    fair = 256 - 256 % bound
    drawn = Counter(_below(bound, iter([255] * (fair < 256) + [byte])) for byte in range(fair))
    assert drawn == dict.fromkeys(range(bound), fair // bound)
