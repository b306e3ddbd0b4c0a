from saratoga_rules.piles import Pile


def test_piles_have_the_names_that_players_use() -> None:
    piles = (Pile.STOCK, Pile.WASTE, Pile.RESERVE, Pile.COLUMN, Pile.FOUNDATION)
    assert [str(pile) for pile in piles] == [
        "the stock", "the waste", "the reserve", "a column", "a foundation",
    ]  # fmt: skip
