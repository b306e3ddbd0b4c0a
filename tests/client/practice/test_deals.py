import pytest

from kit.races import Entrant, race
from kit.walks import banking
from saratoga_client.practice.deals import (
    LONGEST_SEED,
    SEED_LETTERS,
    BadSeed,
    file_name,
    from_record,
    from_seed,
    seed_of,
)
from saratoga_rules.dealing.deal import deal_for_key, practice_key
from saratoga_rules.games import GAMES

CANFIELD = GAMES["canfield"]


def test_a_seed_gives_every_player_the_same_deal() -> None:
    deal = from_seed(CANFIELD, "  rainy sunday ")
    assert deal.seed == "rainy sunday"
    assert deal.position == deal_for_key(CANFIELD, practice_key("rainy sunday"))
    assert deal.title == "seed rainy sunday"


@pytest.mark.parametrize("seed", ["", "   ", "x" * (LONGEST_SEED + 1), "a\x1b[2J"])
def test_an_invalid_seed_is_refused_with_the_reason(seed: str) -> None:
    with pytest.raises(BadSeed, match=r"A seed .*\."):
        from_seed(CANFIELD, seed)


def test_the_deal_of_a_finished_race_is_its_record_s() -> None:
    record = race("lafayette", 3, [Entrant("Anna", banking, patience=20)])
    deal = from_record(record)
    assert deal.position == record.deal
    assert deal.game is GAMES["lafayette"]
    assert deal.title == "the deal of mint-otter-42/4"


def test_a_drawn_seed_is_of_letters_that_are_not_confused() -> None:
    seed = seed_of(bytes(range(0, 250, 7)))
    assert len(seed) == 36
    assert set(seed) <= set(SEED_LETTERS)
    assert not set("ilo01") & set(seed)


def test_every_deal_has_a_file_name_of_its_own() -> None:
    seeds = ["a", "A", "a b", "a/b", "..", "é", "_61_"]
    names = {file_name(from_seed(CANFIELD, seed)) for seed in seeds}
    assert len(names) == len(seeds)
    assert all(set(name) <= set("abcdefghijklmnopqrstuvwxyz0123456789-_") for name in names)
