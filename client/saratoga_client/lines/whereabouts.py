"""Where a card is, as far as its player may know. Pure."""

from collections.abc import Iterator

from saratoga_client.hand.find import Found, banked_words, known_places
from saratoga_client.hand.words import pile_name
from saratoga_client.lines.tongue import LETTERS, Tongue
from saratoga_client.wording import counted
from saratoga_rules.cards import Card
from saratoga_rules.game import Game
from saratoga_rules.moves import DOWN, UP
from saratoga_rules.views import View


def where_lines(game: Game, view: View, card: Card, tongue: Tongue = LETTERS) -> Iterator[str]:
    """A line for every copy of the card: a game of two packs has two."""
    places = [_place(game, found, tongue) for found in known_places(view) if found.card == card]
    for place in places:
        yield f"where {tongue.card(card)}: {place}"
    unseen = game.packs - len(places)
    if unseen > 0:
        copy = "" if unseen == game.packs else "another " if unseen == 1 else f"{unseen} more "
        hidden = "in the stock or deep in the reserve" if len(view.reserve) > 1 else "in the stock"
        yield f"where {tongue.card(card)}: {copy}face down, {hidden}"


def _place(game: Game, found: Found, tongue: Tongue) -> str:
    if found.pile in (UP, DOWN):
        return banked_words(game, found.pile) + ("" if found.above else ", on top")
    return f"{pile_name(game, found.pile)}, {_depth(found, tongue)}"


def _depth(found: Found, tongue: Tongue) -> str:
    if found.covered_by is None:
        return "on top"
    return f"under {counted(found.above)}, next above it {tongue.card(found.covered_by)}"
