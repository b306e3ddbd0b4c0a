"""The pages that are read over another screen: the help, the fair deal, the invitation, the own races."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from saratoga_client.board_view.roles import Role
from saratoga_client.input.move_text import column_keys, has_pile
from saratoga_client.local.origins import is_this_machine
from saratoga_client.session.history import Raced
from saratoga_client.session.invitation import qr_lines
from saratoga_client.session.open_race import LAST, own_history
from saratoga_client.session.result_text import digest_words_of
from saratoga_client.session.state import SessionState
from saratoga_client.tui.base_screen import Guide
from saratoga_client.tui.widgets import Ink
from saratoga_client.wording import money_meter
from saratoga_rules.game import Game
from saratoga_rules.games import prose
from saratoga_rules.money import CARD_PRIZE

# The help: the keys of the screen below, those of the board, and the rules of the game

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


# The fair deal: what was fixed before the race, and how it was checked

NAME: Final = 26
"""Width of a name in cells."""


def short_hash(digits: str, dots: str = "…") -> str:
    """Return the first eight and last four digits of a hash, for players who compare it by voice.

    >>> short_hash("c0ffee" * 10)
    'c0ff eec0 … ffee'
    """
    return f"{digits[:4]} {digits[4:8]} {dots} {digits[-4:]}"


def grouped(digits: str, in_line: int) -> str:
    """Return a hash in groups of four digits, with `in_line` groups per line.

    >>> grouped("c0ffee" * 4, 3).split(chr(10))
    ['c0ff eec0 ffee', 'c0ff eec0 ffee']
    """
    groups = [digits[at : at + 4] for at in range(0, len(digits), 4)]
    lines = (groups[at : at + in_line] for at in range(0, len(groups), in_line))
    return "\n".join(" ".join(line) for line in lines)


def fair_deal_page(state: SessionState, dots: str, ink: Ink) -> RenderableType:
    """Return the page for the table's race."""
    return Group(
        ink.text(" THE FAIR DEAL", Role.LABEL),
        ink.indented(
            "The deal was fixed before anyone was ready, and every racer adds a secret number to "
            "it, so nobody can choose it or know it before the race. This is its fingerprint:"
        ),
        "",
        ink.indented(grouped(state.table.commitment, 8), left=3),
        *_fingerprints(state, dots, ink),
        *_checks(state, ink),
    )


def _fingerprints(state: SessionState, dots: str, ink: Ink) -> Iterator[RenderableType]:
    if not state.table.racers:
        return
    yield ""
    yield ink.text(" RACERS, each with the fingerprint of a secret number", Role.LABEL)
    grid = ink.grid(1, NAME, None)
    for racer in state.table.racers:
        grid.add_row("", ink.text(racer.name), ink.text(short_hash(racer.nonce_hash, dots)))
    yield grid


def _checks(state: SessionState, ink: Ink) -> Iterator[RenderableType]:
    outcome = state.table_view.outcome
    if outcome is None:
        yield ""
        yield ink.indented("After the race your program checks it all by itself.")
        return
    yield ""
    yield ink.text(" CHECKED", Role.LABEL)
    verified = state.verifications.get(outcome.race)
    yield ink.indented("The record has not come yet." if verified is None else verified.sentence)
    if words := digest_words_of(outcome):
        yield ink.indented(f"Your friends should have the same four words: {words}")


# The invitation: a table's link for browsers, as text and as a QR code


def invitation_page(link: str, ink: Ink) -> RenderableType:
    """Return a link that friends open in a browser, or scan with a phone."""
    is_here = is_this_machine(link)
    by = " Only on this machine: " if is_here else " Friends open "
    heading = ink.line((by, Role.TEXT), (link, Role.TITLE))
    if is_here:
        return Group(heading, ink.text(" in a browser. A phone cannot open this address."))
    style = ink.style(Role.CARD_BLACK)
    lines = qr_lines(link, ascii_only=ink.ascii_only, on_dark=style.bgcolor is None)
    return Group(
        heading,
        ink.text(" in a browser, or scan this with a phone:"),
        "",
        Padding(Text("\n".join(lines), style, no_wrap=True), (0, 0, 0, 1), expand=False),
    )


# The own races on this machine, game by game

NO_RACES: Final = (
    "Your races will stand here, game by game: races, wins, your best and your average."
)


def history_page(races: Sequence[Raced], ratings: Mapping[str, str], ink: Ink) -> RenderableType:
    """Return a row for each game that the player has raced; `ratings` are words by game."""
    if not races:
        return ink.indented(NO_RACES, Role.DIM, 3)
    grid = ink.grid(3, 22, 7, 6, 7, 9, 2, None, right={2, 3, 4, 5})
    heads = ("GAME", "RACES", "WON", "BEST", f"LAST {LAST}", "", "RATING" if ratings else "")
    grid.add_row("", *(ink.text(head, Role.LABEL) for head in heads))
    for name, *figures, rating in own_history(races, ratings):
        cells = (ink.text(each, Role.COUNT) for each in (*figures, "", rating))
        grid.add_row("", ink.text(name), *cells)
    return Group("", grid)
