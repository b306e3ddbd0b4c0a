import pytest

from saratoga_rules.cards import (
    HIDDEN,
    PACK,
    card_of,
    format_cards,
    is_red,
    parse_cards,
    rank,
    rank_name,
    suit,
)


def test_a_pack_has_52_different_cards_in_the_order_of_suits_and_ranks() -> None:
    assert len(set(PACK)) == 52
    assert PACK[:2] == ("AC", "2C")
    assert PACK[-1] == "KD"
    assert [card[1] for card in PACK[::13]] == ["C", "S", "H", "D"]


def test_ranks_go_from_the_ace_to_the_king() -> None:
    assert [rank(card) for card in parse_cards("AC 2S TH JD QC KS")] == [1, 2, 10, 11, 12, 13]


def test_a_hidden_card_has_no_rank_and_no_suit_of_the_pack() -> None:
    with pytest.raises(KeyError):
        rank(HIDDEN)
    assert suit(HIDDEN) not in "CSHD"


def test_clubs_and_spades_are_black() -> None:
    assert [is_red(card) for card in parse_cards("7C 7S 7H 7D")] == [False, False, True, True]


def test_a_card_is_found_by_its_rank_and_suit() -> None:
    assert [card_of(rank(card), suit(card)) for card in PACK] == list(PACK)


@pytest.mark.parametrize("text", ["KSTH", "KS TH", " KS  TH "])
def test_cards_are_read_with_and_without_spaces(text: str) -> None:
    assert parse_cards(text) == ("KS", "TH")


def test_every_card_is_the_same_object_wherever_it_was_read() -> None:
    assert all(
        one is other for one, other in zip(parse_cards(format_cards(PACK)), PACK, strict=True)
    )
    assert parse_cards("##")[0] is HIDDEN


@pytest.mark.parametrize("text", ["K", "KST", "10H", "kS", "1S", "KX", "#K", "T♥"])
def test_a_text_that_is_not_a_card_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="There is no card"):
        parse_cards(text)


def test_ranks_have_the_names_players_use() -> None:
    assert [rank_name(number) for number in (1, 2, 10, 11, 12, 13)] == [
        "ace", "2", "10", "jack", "queen", "king",
    ]  # fmt: skip
