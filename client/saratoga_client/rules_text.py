"""The rules of a game as text, from its definition: prose and a table. Pure."""

from collections.abc import Iterator

from saratoga_client.wording import money_meter
from saratoga_rules.game import Game
from saratoga_rules.games import prose
from saratoga_rules.money import CARD_PRIZE
from saratoga_rules.piles import Pile
from saratoga_rules.position import View


def plain_lines(game: Game) -> Iterator[str]:
    """Return the rules one per line, for pipes and screen readers."""
    yield f"game: {game.title}"
    yield f"in short: {' '.join(column_rules(game))}"
    for paragraph in prose(game):
        yield f"about: {paragraph}"
    for heading, rule in table(game):
        yield f"{heading}: {rule}"


def column_rules(game: Game, view: View | None = None) -> tuple[str, str]:
    """Return how columns build and what fills an empty one, a short sentence each.

    With a view, the second sentence is about spaces in this position: the pile that fills them may
    be gone. Without a view it is about the game.
    """
    space = game.columns.space
    filled_from = space.filled_from
    if view is not None and filled_from is not None:
        left = view.reserve if filled_from is Pile.RESERVE else view.stock
        filled_from = filled_from if left else None
    if filled_from is None:
        fills = f"An empty column takes {space.admits}."
    else:
        fills = f"An empty column is filled from {filled_from}."
    return f"Columns build {game.columns.build.brief}.", fills


def table(game: Game) -> tuple[tuple[str, str], ...]:
    """Return each rule with its heading, and the money of a race."""
    money = money_meter(game, 0)
    costs = f"${-money.paid} for the cards, ${CARD_PRIZE} back for each banked"
    return (
        *game.describe(),
        ("money", f"{costs}; {money.even_word} at {money.even}"),
        ("a race", "most money wins, then the earlier time; undo only in practice"),
    )
