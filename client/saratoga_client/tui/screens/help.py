"""The help, shown over another screen: the keys of that screen, those of the board, and the rules of the game."""

from collections.abc import Iterable, Iterator
from typing import Final

from rich.console import Group, RenderableType

from saratoga_client.board_view.roles import Role
from saratoga_client.input.move_text import column_keys, has_pile
from saratoga_client.tui.base_screen import Guide, ReadingScreen
from saratoga_client.tui.widgets import Ink
from saratoga_client.wording import money_meter
from saratoga_rules.game import Game
from saratoga_rules.games import prose
from saratoga_rules.money import CARD_PRIZE

KEYS: Final = 18
"""Width in cells of the first column, which has keys or the headings of rules."""


def help_page(game: Game | None, screen_keys: Guide, heading: str, ink: Ink) -> RenderableType:
    """Return the help page: `screen_keys` under `heading`, and for a game the board's keys and the rules.

    Without `screen_keys` the rules come first.
    """
    keys = list(_section(heading, screen_keys, Role.KEY, ink)) if screen_keys else []
    if game is None:
        return Group(*keys)
    money = money_meter(game, 0)
    keys += _section("KEYS AT THE BOARD", _moves(game), Role.KEY, ink)
    keys += _section("MOUSE", MOUSE, Role.KEY, ink)
    rules = [
        ink.text(f" RULES OF {game.title.upper()}", Role.LABEL),
        *(part for text in prose(game) for part in (ink.indented(text), "")),
        ink.indented(
            f"A pack costs ${game.pack_price} and every banked card pays ${CARD_PRIZE}: with"
            f" {money.even} cards you are {money.even_word}. The player with the most money wins."
            " Of players with the same money, the one who last rose to it earlier wins."
        ),
        "",
        *_section("RULE BY RULE", game.describe(), Role.DIM, ink),
    ]
    # who reads how it is played has no board yet
    return Group(*keys, *rules) if screen_keys else Group(*rules, *keys)


def _section(
    heading: str, keys: Iterable[tuple[str, str]], role: Role, ink: Ink
) -> Iterator[RenderableType]:
    yield ink.text(f" {heading}", Role.LABEL)
    yield _entries(keys, role, ink)
    yield ""


def _entries(entries: Iterable[tuple[str, str]], role: Role, ink: Ink) -> RenderableType:
    grid = ink.grid(1, KEYS, None)
    for key, effect in entries:
        grid.add_row("", ink.text(key, role), ink.text(effect))
    return grid


def _moves(game: Game) -> Iterator[tuple[str, str]]:
    sources = [pile for pile in ("w", "r") if has_pile(game, pile)]
    yield (
        ", ".join([column_keys(game), *sources]),
        "pick a pile; a second key places the cards: two keys are a move",
    )
    yield "same key twice", "bank the top card, or carry it to the only place that takes it"
    yield "space", "draw from the stock; when it is empty, redeal where the rules allow it"
    if game.down is None:
        yield "f", "bank the picked card, or the only card that can be banked"
    else:
        yield "f  g", "bank up, bank down: the picked card, or the only card that can be banked"
    if game.up.gives_back:
        yield "b", "take a card back from a foundation"
    yield "tab", "step through all legal moves, shift+tab backwards; enter plays the lit one"
    yield "+  -", "carry more or fewer cards together"
    yield "escape", "drop the picked cards"
    yield "o", "quick: a pile's key plays at once where only one move is legal"


MOUSE: Final[tuple[tuple[str, str], ...]] = (
    ("click", "make a card's only legal move, or pick the card; then click on its new place"),
    ("double, right", "bank the card"),
    ("drag", "carry cards to where you let go"),
)


WIDEST: Final = 98
"""Maximum width of the text in cells; longer lines are hard to read."""


class HelpScreen(ReadingScreen):
    """A scrolling help page."""

    DEFAULT_CSS = f"HelpScreen #page {{ max-width: {WIDEST}; }}"
    CLOSING = "?"

    def __init__(self, game: Game | None, keys: Guide, heading: str) -> None:
        """Show the keys of the screen below, and the help of a game."""
        super().__init__()
        self._game = game
        self._screen_keys = keys
        self._heading = heading

    def draw_page(self, ink: Ink) -> RenderableType:
        return help_page(self._game, self._screen_keys, self._heading, ink)

    def facts(self) -> list[str]:
        return ["SARATOGA" if self._game is None else self._game.title.upper(), "help"]
