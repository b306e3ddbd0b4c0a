"""The parts of the home's page: what this is, the menu, public tables, own races, friends, leaders. Pure."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Final, NamedTuple

from rich.console import Group, RenderableType
from rich.text import Text

from saratoga_client.board_view.roles import LETTERS, Role, Symbols, money_role
from saratoga_client.session.history import Raced, Rival, friends_in
from saratoga_client.text import fitted
from saratoga_client.tui.widgets import Ink
from saratoga_client.wording import dollars, game_title, ordinal, rivals
from saratoga_protocol.events import LeaderboardRow, TableSummary

PITCH: Final = (
    "Race your friends at patience.",
    "The same deal for everyone, at the same moment.",
    "You buy the pack; every card you bank pays $5.",
)

FAN: Final = (
    "\u256d5\u2666\u2500\u256d9\u2663\u2500\u256dJ\u2665\u2500\u256dA\u2660\u2500\u2500\u256e",
    "\u2502   \u2502   \u2502   \u2502    \u2502",
    "\u2502   \u2502   \u2502   \u2502    \u2502",
    "\u2570\u2500\u2500\u2500\u2570\u2500\u2500\u2500\u2570\u2500\u2500\u2500\u2570\u2500\u2500A\u2660\u256f",
)
"""Four cards, drawn beside the first words."""

NAME: Final = 21
"""Width in cells of a player's name."""
MOST_RACES: Final = 5
MOST_FRIENDS: Final = 4


class Choice(NamedTuple):
    """A line of the menu."""

    name: str
    text: str
    open: Callable[[], object]
    watch: Callable[[], object] | None = None
    """Watch the line's table; `None` if the line is no table."""


def pitch_part(symbols: Symbols, ink: Ink) -> RenderableType:
    """Return the first words to a new player, beside a fan of cards."""
    grid = ink.grid(56, None)
    fan = () if symbols.filled == LETTERS.filled else FAN
    for number in range(len(FAN)):
        words = PITCH[number] if number < len(PITCH) else ""
        role = Role.TITLE if number == 0 else Role.TEXT
        grid.add_row(ink.text(f"   {words}", role), _card_line(fan, number, ink))
    return Group("", grid)


def _card_line(fan: Sequence[str], number: int, ink: Ink) -> Text:
    """Return one line of the fan of cards."""
    if not fan:
        return Text()
    line = ink.text(fan[number], Role.CARD_BLACK)
    line.highlight_regex("[\u2666\u2665]|[5J](?=[\u2666\u2665])", ink.style(Role.CARD_RED))
    return line


def menu_part(
    menu: Sequence[Choice], marked: int, symbols: Symbols, ink: Ink, width: int
) -> RenderableType:
    """Return the lines of the menu with their keys."""
    grid = ink.grid(3, 2, 3, 21, None)
    for number, choice in enumerate(menu):
        grid.add_row(
            *_mark(number == marked, symbols, ink),
            ink.text(f"{number + 1}", Role.KEY),
            ink.text(choice.name, Role.YOU if number == marked else Role.TEXT),
            ink.text(fitted(choice.text, max(1, width - 30)), Role.DIM),
        )
    return grid


def _mark(is_marked: bool, symbols: Symbols, ink: Ink) -> tuple[str, Text]:
    return "", ink.text(symbols.mark if is_marked else "", Role.YOU)


def tables_part(
    tables: Sequence[TableSummary], marked: int, symbols: Symbols, ink: Ink, width: int
) -> RenderableType:
    """Return the public tables, of which one may be marked; nothing without any."""
    if not tables:
        return ""
    grid = ink.grid(3, 2, 21, 21, 9, 11, 6, None)
    heads = ("PUBLIC TABLES", "GAME", "LIMIT", "", "HERE", "HOST")
    grid.add_row("", "", *(ink.text(head, Role.LABEL) for head in heads))
    for number, table in enumerate(tables):
        grid.add_row(
            *_mark(number == marked, symbols, ink),
            ink.text(fitted(table.code, 20), Role.YOU if number == marked else Role.TEXT),
            ink.text(fitted(game_title(table.game), 20)),
            ink.text(f"{table.cap} min" if table.cap else "untimed", Role.DIM),
            ink.text(fitted(table.phase, 10), Role.DIM),
            ink.text(f"{table.seated}/{table.seats}", Role.COUNT),
            ink.text(fitted(table.host, max(1, width - 73), symbols.dots), Role.DIM),
        )
    return Group(grid, "")


def races_part(races: Sequence[Raced], ink: Ink, width: int) -> RenderableType:
    """Return the player's last races; nothing without any."""
    if not races:
        return ""
    grid = ink.grid(5, 12, 21, 10, 5, 7, 2, None, right={4, 5})
    for raced in races[:MOST_RACES]:
        others = len(raced.rivals)
        place = f"{ordinal(raced.place)} of {others + 1}" if others else "alone"
        best = raced.rivals[0] if raced.rivals else None
        told = "" if best is None else f"{_how(best, raced)} {best.name}, {best.banked}"
        grid.add_row(
            "",
            ink.text(_day(raced.at), Role.DIM),
            ink.text(game_title(raced.game)),
            ink.text(place, Role.YOU if raced.place == 1 and others else Role.TEXT),
            ink.text(f"{raced.banked}", Role.COUNT),
            ink.text(dollars(raced.net), money_role(raced.net)),
            "",
            ink.text(fitted(told, max(1, width - 62)), Role.DIM),
        )
    return Group(ink.text("   YOUR LAST RACES", Role.LABEL), grid, "")


def _how(best: Rival, raced: Raced) -> str:
    if best.place == raced.place:
        return "level with"
    return "won by" if best.place < raced.place else "second:"


def friends_part(races: Sequence[Raced], symbols: Symbols, ink: Ink) -> RenderableType:
    """Return the people of the player's last races; nothing without any."""
    friends = friends_in(races)[:MOST_FRIENDS]
    if not friends:
        return ""
    grid = ink.grid(5, NAME + 1, 10, None)
    for friend in friends:
        score = f"{friend.theirs} : {friend.yours}"
        name = fitted(friend.name, NAME, symbols.dots)
        last = ink.text(f"last raced {_day(friend.last)}", Role.DIM)
        grid.add_row("", ink.text(name), ink.text(score, Role.COUNT), last)
    return Group(ink.text("   FRIENDS (ahead of you : behind you)", Role.LABEL), grid, "")


def leaders_part(
    leaders: Mapping[str, LeaderboardRow | None], symbols: Symbols, ink: Ink
) -> RenderableType:
    """Return today's leader of each game that has one; nothing without any."""
    first = [(game, row) for game, row in leaders.items() if row is not None]
    if not first:
        return ""
    grid = ink.grid(5, NAME + 1, 10, 7, 2, 21, None, right={3})
    for game, leader in first:
        grid.add_row(
            "",
            ink.text(fitted(leader.name, NAME, symbols.dots), Role.LEADER),
            ink.text(f"{leader.value} banked", Role.COUNT),
            ink.text(dollars(leader.net), money_role(leader.net)),
            "",
            ink.text(game_title(game)),
            ink.text(f"vs {rivals(leader.rivals)}", Role.DIM),
        )
    return Group(ink.text("   TODAY'S LEADERS", Role.LABEL), grid)


def _day(at: int) -> str:
    """Return the day of a time in milliseconds since 1970, as people say it."""
    then, now = datetime.fromtimestamp(at / 1000).astimezone(), datetime.now().astimezone()
    days = (now.date() - then.date()).days
    if days < 2:
        return "yesterday" if days else "today"
    return f"{then:%A}" if days < 7 else f"{then.day} {then:%B}"
