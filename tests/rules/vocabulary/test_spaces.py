from saratoga_rules.cards import HIDDEN, PACK, Card
from saratoga_rules.piles import Pile
from saratoga_rules.vocabulary.spaces import ANYTHING, KINGS, Space, only_from

PLAYED_FROM = (Pile.WASTE, Pile.RESERVE, Pile.COLUMN, Pile.FOUNDATION)


def test_anything_may_come_from_anywhere_even_unseen() -> None:
    assert all(ANYTHING(pile, card) for pile in PLAYED_FROM for card in (*PACK, HIDDEN))


def test_only_kings_means_kings_from_anywhere() -> None:
    assert {card for card in PACK if KINGS(Pile.WASTE, card)} == {"KC", "KS", "KH", "KD"}
    assert KINGS(Pile.COLUMN, Card("KS"))


def test_only_from_the_waste_means_any_card_of_it() -> None:
    from_waste = only_from(Pile.WASTE)
    assert [from_waste(pile, Card("7H")) for pile in PLAYED_FROM] == [True, False, False, False]


def test_spaces_print_as_rules() -> None:
    assert str(Space(admits=KINGS)) == "a king, or a packet headed by one"
    assert str(Space(filled_from=Pile.RESERVE, admits=only_from(Pile.WASTE))) == (
        "filled at once from the reserve; when that is gone, only the top card of the waste"
    )


def test_words_of_the_same_rule_are_equal() -> None:
    assert only_from(Pile.WASTE) == only_from(Pile.WASTE) != only_from(Pile.RESERVE)
