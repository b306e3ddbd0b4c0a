"""What the page knows of each game, read from the rules, as JSON in its document."""

from dataclasses import astuple
from typing import Any

import msgspec

from saratoga_rules.game import Game
from saratoga_rules.games import GAMES, RULES_VERSION
from saratoga_rules.money import CARD_PRIZE, price
from saratoga_rules.piles import Pile
from saratoga_rules.records.digest_words import WORDS
from saratoga_rules.records.record import VOID_REASONS
from saratoga_rules.vocabulary.building import Pairing
from saratoga_rules.vocabulary.deal_steps import ToReserve
from saratoga_rules.vocabulary.stocks import UNLIMITED


def game_facts() -> bytes:
    """Return the facts of all games, the words of digests and of voided races, as a JSON text that can stand inside an HTML element."""
    facts = {
        "prize": CARD_PRIZE,
        "rules": RULES_VERSION,
        "words": " ".join(WORDS),
        "void_reasons": VOID_REASONS,
        "games": {name: _facts(game) for name, game in GAMES.items()},
    }
    return msgspec.json.encode(facts).replace(b"<", b"\\u003c")


def _facts(game: Game) -> dict[str, Any]:
    stock = game.stock
    return {
        "title": game.title,
        "short": _in_short(game),
        "packs": game.packs,
        "price": price(game),
        "columns": game.columns.count,
        "up": game.up.piles,
        "down": game.down.piles if game.down else 0,
        "reserve": any(isinstance(step, ToReserve) for step in game.deal),
        "draw": stock.draw if stock.onto is Pile.WASTE else 0,  # 0: a card to each column
        "passes": 0 if stock.passes == UNLIMITED else stock.passes,  # 0: any number
        "in_suit": game.columns.build.pairing is Pairing.SAME_SUIT,
        "deal": [_step(step) for step in game.deal],
    }


def _in_short(game: Game) -> list[str]:
    """Return how columns are built, what fills an empty one and how the stock is turned, a sentence each."""
    space = game.columns.space
    fills = f"takes {space.admits}"
    if space.filled_from is not None:
        fills = f"is filled from {space.filled_from}"
    return [
        f"Build columns {game.columns.build.brief}.",
        f"An empty column {fills}.",
        f"Turn the stock: {game.stock}.",
    ]


def _step(step: Any) -> list[Any]:
    """Return a step of the deal as its name and its numbers."""
    return [type(step).__name__, *astuple(step)]
