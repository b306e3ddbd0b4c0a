"""The title line shows the progress of a game."""

import pytest

from kit.positions import draw
from saratoga_client.board_view.title import rank_sign, title_facts
from saratoga_rules.games import GAMES
from saratoga_rules.views import redact


@pytest.mark.parametrize(
    ("name", "picture", "facts"),
    [
        ("canfield", "pass: 5\nbase: T", ("pass 5", "base 10")),
        ("canfield-aisleriot", "pass: 3\nbase: 6", ("pass 3/3", "base 6")),
        ("lafayette", "pass: 2", ("pass 2",)),
        ("lady-palk", "t1: KS", ("one pass",)),
        ("caprice", "stock: " + "2C " * 24, ("deals left 2",)),
        ("caprice", "stock: " + "2C " * 37, ("deals left 4 (last one short)",)),
        ("caprice", "stock: " + "2C " * 5, ("last deal, 5 cards",)),
        ("caprice", "stock: 2C", ("last deal, 1 card",)),
        ("caprice", "t1: KS", ("no deal left",)),
    ],
)
def test_a_title_says_pass_base_or_deals(name: str, picture: str, facts: tuple[str, ...]) -> None:
    game = GAMES[name]
    assert title_facts(game, redact(draw(game, picture))) == facts


def test_ranks_are_written_as_on_cards() -> None:
    assert [rank_sign(rank) for rank in (1, 9, 10, 11, 12, 13)] == ["A", "9", "10", "J", "Q", "K"]
