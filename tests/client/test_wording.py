"""The wording of numbers and names, which is the same everywhere."""

from dataclasses import replace

import pytest

from saratoga_client.wording import (
    MoneyMeter,
    cap_words,
    capitalised,
    counted,
    game_title,
    minutes_and_seconds,
    money_meter,
    ordinal,
)
from saratoga_rules.games import GAMES


def test_a_number_agrees_with_its_noun() -> None:
    assert [counted(1), counted(0), counted(2, "pass")] == ["1 card", "0 cards", "2 passes"]


def test_only_the_first_letter_of_a_sentence_is_capitalised() -> None:
    assert [capitalised(text) for text in ("the waste", "7♣ fits", "")] == [
        "The waste",
        "7♣ fits",
        "",
    ]


def test_a_race_without_a_time_limit_says_so() -> None:
    assert [cap_words(3), cap_words(0)] == ["3 minutes", "no time limit"]


@pytest.mark.parametrize(
    ("number", "text"),
    [(1, "1st"), (2, "2nd"), (3, "3rd"), (11, "11th"), (22, "22nd"), (113, "113th")],
)
def test_an_ordinal_has_the_ending_that_english_uses(number: int, text: str) -> None:
    assert ordinal(number) == text


def test_a_time_is_rounded_down_to_seconds_or_tenths() -> None:
    assert minutes_and_seconds(3_599_999) == "59:59"
    assert minutes_and_seconds(3_600_000) == "60:00"
    assert minutes_and_seconds(9_990, tenths=True) == "0:09.9"


def test_the_money_meter_of_two_packs_is_even_at_twenty_cards() -> None:
    assert money_meter(GAMES["caprice"], 24) == MoneyMeter(
        banked=24, goal=104, even=20, paid=-100, won=120, net=20
    )


def test_a_game_that_this_version_lacks_is_shown_by_its_name() -> None:
    assert game_title("lady-palk") == "Lady Palk"
    assert game_title("golf") == "golf"


def test_a_player_is_even_or_ahead_when_the_packs_are_paid() -> None:
    assert money_meter(GAMES["canfield"], 0).even_word == "even"
    dearer = money_meter(replace(GAMES["canfield"], pack_price=52), 0)
    assert (dearer.even, dearer.even_word) == (11, "ahead")
