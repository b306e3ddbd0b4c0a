"""The help, shown over another screen: the keys of that screen, those of the board, and the rules of the game."""

from collections.abc import Iterable, Iterator
from typing import Final, TypeAlias

from rich.console import Group, RenderableType

from saratoga_client.board_view.roles import Role
from saratoga_client.input.move_text import column_keys, has_pile
from saratoga_client.tui.base_screen import Guide, ReadingScreen
from saratoga_client.tui.rich_view import Ink
from saratoga_client.wording import money_meter
from saratoga_rules.game import Game
from saratoga_rules.games import prose
from saratoga_rules.money import CARD_PRIZE

Keys: TypeAlias = Iterable[tuple[str, str]]
"""Keys, each with its effect."""

TABLE_KEYS: Final[Keys] = (
    ("r", "say that you are ready, or that you are not"),
    ("b", "bring a bot to the table"),
    ("y", "copy the invitation for friends"),
    ("o", "the link for browsers, with its QR code"),
    ("s", "for the host: start the race with every player who is ready"),
    ("g  c  m", "for the host: the game, the time limit, the length of the match"),
    ("p  +  -", "for the host: public or private, more or fewer seats"),
    ("l  k", "for the host: lock the table, kick a player"),
    ("a", "for the host: let a player who voided countdowns get ready again"),
    ("t", "the next colour theme"),
    ("q", "leave the table; asks first"),
)

RESULT_KEYS: Final[Keys] = (
    ("n", "for the host: open the table for the next race"),
    ("v", "see all boards of the race"),
    ("y", "copy the result for friends"),
    ("t", "the next colour theme"),
    ("q", "leave the table"),
)

PRACTICE_KEYS: Final[Keys] = (
    ("z  u  ctrl+z", "undo the last move; again for the moves before it"),
    ("i  ctrl+y", "redo the move that was undone last"),
    ("h", "a hint: what a strong player would do with the cards in sight, and why"),
    ("a", "bank every card that is safe to bank: no card in play could be laid on it"),
    ("s", "start this deal again"),
    ("n", "a new deal"),
    ("e", "race the ghost of your best run of this deal, or stop racing it"),
    ("y", "copy the result, with the seed, for friends"),
    ("/", "find cards: type a rank, a suit or both"),
    ("p", "hide or show the panel"),
    ("c", "two or four colours of suits"),
    ("t", "the next colour theme"),
    ("q", "end practice; the run is kept on this machine"),
)

REPLAY_KEYS: Final[Keys] = (
    ("right  left", "the next move, the move before; also l and j"),
    ("pagedown  pageup", "ten moves forward, ten moves back"),
    (".  ,", "one second forward or back; > and < go ten seconds"),
    ("home  end", "the deal, the end of this board"),
    ("space", "play at the speed of the race, then at twice, at eight times, then stop"),
    ("tab  shift+tab", "the next racer's board, the one before; 1 to 9 choose by place"),
    ("d", "where this board and the winner's first differ"),
    ("w", "the longest pause before a move on this board; again: the next longest"),
    ("o", "name the hidden cards in the panel, or show the chart again"),
    ("s", "practise this deal, racing the ghost of this board"),
    ("y", "copy the result for friends"),
    ("/", "find cards: type a rank, a suit or both"),
    ("p", "hide or show the panel"),
    ("c  t", "two or four colours of suits; the next colour theme"),
    ("q", "back"),
)


KEYS: Final = 18
"""Width in cells of the first column, which has keys or the headings of rules."""


def help_page(game: Game, screen_keys: Keys, heading: str, ink: Ink) -> RenderableType:
    """Return the help page: `screen_keys` under `heading`, the board's keys, then the rules."""
    money = money_meter(game, 0)
    return Group(
        *_section(heading, screen_keys, Role.KEY, ink),
        *_section("KEYS AT THE BOARD", _moves(game), Role.KEY, ink),
        *_section("MOUSE", MOUSE, Role.KEY, ink),
        ink.text(f" RULES OF {game.title.upper()}", Role.LABEL),
        *(part for text in prose(game) for part in (ink.indented(text), "")),
        ink.indented(
            f"A pack costs ${game.pack_price} and every banked card pays ${CARD_PRIZE}: with"
            f" {money.even} cards you are {money.even_word}. The player with the most money wins."
            " Of players with the same money, the one who last rose to it earlier wins."
        ),
        "",
        *_section("RULE BY RULE", game.describe(), Role.DIM, ink),
    )


def _section(heading: str, keys: Keys, role: Role, ink: Ink) -> Iterator[RenderableType]:
    yield ink.text(f" {heading}", Role.LABEL)
    yield _entries(keys, role, ink)
    yield ""


def _entries(entries: Keys, role: Role, ink: Ink) -> RenderableType:
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


RACE_KEYS: Final[tuple[tuple[str, str], ...]] = (
    ("x", "cash out: end your race and keep the cards that you banked; asks first"),
    ("e", "for the host, a minute after all boards but one have ended: end the race; asks first"),
    ("/", "find cards: type a rank, a suit or both; all visible ones light up"),
    ("p", "hide the panel, or show it again"),
    ("c", "two or four colours of suits"),
    ("t", "the next colour theme"),
    ("q", "leave the table; asks first"),
    ("ctrl+c", "leave at once; your seat is kept for a minute"),
)
"""The keys of a race that are not moves."""

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

    def __init__(self, game: Game, keys: Keys, heading: str) -> None:
        """Show the help of a game, with the keys of the screen below."""
        super().__init__()
        self._game = game
        self._screen_keys = keys
        self._heading = heading

    def draw_page(self, ink: Ink) -> RenderableType:
        return help_page(self._game, self._screen_keys, self._heading, ink)

    def facts(self) -> list[str]:
        return [self._game.title.upper(), "help"]

    def guide(self) -> Guide:
        return (*self.scroll_guide(), ("up down", "scroll"))
