"""What every key does, and the rules of exactly this game."""

from collections.abc import Iterator
from typing import TypeAlias

from saratoga_client.board_view.roles import Role
from saratoga_client.board_view.text_width import fitted, wrapped
from saratoga_client.input.pile_keys import has_pile, pile_keys
from saratoga_client.rules_text import prose
from saratoga_rules.game import Game

Line: TypeAlias = tuple[tuple[str, Role], ...]

KEYS: int = 18
"""Cells for the keys, and for the headings of rules."""


def help_lines(game: Game, width: int, *, is_race: bool) -> tuple[Line, ...]:
    """All lines of the help, none wider than `width`."""
    keys = [*_moves(game), *(_race() if is_race else ())]
    return (
        (("THE KEYS", Role.LABEL),),
        *(line for key, does in keys for line in _entry(key, does, Role.KEY, width)),
        (),
        (("THE MOUSE", Role.LABEL),),
        *(line for key, does in _mouse() for line in _entry(key, does, Role.KEY, width)),
        (),
        ((f"THE RULES OF {game.title.upper()}", Role.LABEL),),
        *(((part, Role.TEXT),) for text in prose(game) for part in (*wrapped(text, width), "")),
        *(
            line
            for heading, sentence in game.describe()
            for line in _entry(heading, sentence, Role.DIM, width)
        ),
        (),
        (("THE MONEY", Role.LABEL),),
        *(((part, Role.TEXT),) for part in wrapped(_money(game), width)),
    )


def _entry(key: str, does: str, role: Role, width: int) -> Iterator[Line]:
    first = True
    for part in wrapped(does, width - KEYS):
        yield ((fitted(key if first else "", KEYS), role), (part, Role.TEXT))
        first = False


def _moves(game: Game) -> Iterator[tuple[str, str]]:
    keys = pile_keys(game)
    columns = keys.columns
    sources = [" ".join((f"{columns[0]}-{columns[min(len(columns), 9) - 1]}", *columns[9:]))]
    sources += [pile for pile in ("w", "r") if has_pile(game, pile)]
    yield ", ".join(sources), "pick a pile; a second key places the cards: two keys are a move"
    yield "same key twice", "bank the top card, or carry it to the only place that takes it"
    yield "space", "draw from the stock; when it is empty, redeal where the rules allow it"
    if game.down is None:
        yield "f", "bank: what is picked, or the only card that can be banked"
    else:
        yield "f  g", "bank up, bank down: what is picked, or the only card that can be"
    if game.up.gives_back:
        yield "b", "take a card back from a foundation"
    yield "tab", "walk through all legal moves, shift+tab backwards; enter plays the lit one"
    yield "+  -", "carry more or fewer cards together"
    yield "escape", "drop what is picked"
    yield "o", "quick: a pile's key plays at once where only one move is legal"


def _race() -> Iterator[tuple[str, str]]:
    yield "x", "cash out: end your race and keep what is banked; asks once"
    yield "/", "find cards: type a rank, a suit, or both; every one that is seen lights up"
    yield "p", "hide the panel, and bring it back"
    yield "c", "two or four colours of suits"
    yield "t", "other colours of everything"
    yield "q", "leave the table; asks once"
    yield "ctrl+c", "leave at once; your seat is kept for a minute"


def _mouse() -> Iterator[tuple[str, str]]:
    yield "click", "makes the only sensible move of a card, or picks it; then click where to"
    yield "double, right", "bank"
    yield "drag", "carry cards where you let go"


def _money(game: Game) -> str:
    return (
        f"A pack costs $50 and every banked card pays $5: with {10 * game.packs} cards you are even. "
        "The most money wins; of equals, whoever reached that count first."
    )
