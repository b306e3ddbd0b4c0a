"""Lines with the places of cards, as far as the player can know them. Pure."""

from collections.abc import Iterator, Sequence

from saratoga_client.input.card_finder import Found, banked_words, known_places
from saratoga_client.input.move_text import plain_pile_name
from saratoga_client.plain.card_names import LETTERS, CardNames
from saratoga_client.wording import counted
from saratoga_rules.cards import Card
from saratoga_rules.game import Game
from saratoga_rules.moves import DOWN, UP
from saratoga_rules.position import View


def where_lines(
    game: Game, view: View, cards: Sequence[Card], card_names: CardNames = LETTERS
) -> Iterator[str]:
    """Return a line for every visible copy of these cards, and one for each pack's hidden copies."""
    seen = dict.fromkeys(cards, 0)
    for found in known_places(view):
        if found.card in seen:
            seen[found.card] += 1
            yield f"where {card_names.card(found.card)}: {_place(game, found, card_names)}"
    places = {
        "in the stock": view.stock,
        "deep in the reserve": len(view.reserve) > 1,
        "under a column": view.face_down,
    }
    hidden = " or ".join(place for place, may_hide in places.items() if may_hide)
    for known in range(game.packs):
        unseen = [card for card in cards if seen[card] == known]
        if unseen:
            # In a game of two packs one copy may be visible and the other hidden.
            copy = "another " if known else ""
            yield f"where {card_names.cards(unseen)}: {copy}face down, {hidden}"


def _place(game: Game, found: Found, card_names: CardNames) -> str:
    if found.pile in (UP, DOWN):
        return banked_words(game, found.pile) + ("" if found.above else ", on top")
    return f"{plain_pile_name(game, found.pile)}, {_depth(found, card_names)}"


def _depth(found: Found, card_names: CardNames) -> str:
    if found.covered_by is None:
        return "on top"
    return f"under {counted(found.above)}, directly under {card_names.card(found.covered_by)}"
