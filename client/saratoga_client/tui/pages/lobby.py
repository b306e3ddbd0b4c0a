"""The parts of the lobby's page: the player, the public tables, today's leaders, and the choices."""

from collections.abc import Iterator
from typing import Final

from rich.console import Group, RenderableType
from rich.text import Text

from saratoga_client.board_view.roles import Role, money_role
from saratoga_client.session.lobby import LobbyState
from saratoga_client.text import fitted
from saratoga_client.tui.pages.symbols import PageSymbols
from saratoga_client.tui.rich_view import Ink
from saratoga_client.wording import cap_words, counted, dollars, game_title, match_words, rivals
from saratoga_protocol.events import TableSummary
from saratoga_rules.games import GAMES

WITHOUT_SERVER: Final = (
    ("h", "host: run a server on this machine, for yourself and your friends"),
    ("j", "join a friend: paste the line that they sent you"),
    ("o", "go to another server by its address"),
    ("p", "practise by yourself, offline"),
)
"""The choices while no server answers."""

OPENS_HERE: Final = {
    None: "Looking for a server on this machine ...",
    True: "Enter opens the table on the server that runs on this machine.",
    False: "Enter starts a server on this machine, which runs until you leave.",
}
"""What Enter does, by whether a server runs on this machine."""

ASKS_FIRST: Final = "If you have a seat at a table there, or friends wait at your last one, it asks whether to return."

COLUMNS: Final = (1, 21, 21, 7, 10, 6, 20)
"""Widths in cells of the list's columns: mark, code, game, time limit, phase, seats, host."""

NAME: Final = 21


def player_part(lobby: LobbyState, ink: Ink) -> RenderableType:
    """Return the line with the player's name and seat, or the state of the connection."""
    if not lobby.has_tried:
        return ink.text(" Connecting to the server ...", Role.DIM)
    if not lobby.is_open:
        return ink.text(" The server does not answer.", Role.WARNING)
    if not lobby.name:
        return ink.text(" You have no name on this server yet; n chooses one.")
    line = ink.line((" You are ", Role.TEXT), (lobby.name, Role.YOU))
    if lobby.seat:
        line += ink.line(
            (", and you have a seat at " if lobby.is_seated else "; your last table: ", Role.TEXT),
            (lobby.seat, Role.YOU),
            ("; b goes back" if lobby.is_seated else ", b goes back", Role.TEXT),
        )
    return line


def table_cells(
    table: TableSummary, is_chosen: bool, symbols: PageSymbols, ink: Ink
) -> Iterator[Text]:
    """Return the cells of a table in the list, as `COLUMNS` orders them."""
    role = Role.YOU if is_chosen else Role.TEXT
    cells = (
        (symbols.mark if is_chosen else "", Role.YOU),
        (table.code, role),
        (game_title(table.game), Role.TEXT),
        (f"{table.cap} min" if table.cap else "untimed", Role.DIM),
        (table.phase, Role.DIM),
        (f"{table.seated}/{table.seats}", Role.COUNT),
        (table.host, Role.DIM),
    )
    for (text, role_of_cell), width in zip(cells, COLUMNS, strict=True):
        yield ink.text(fitted(text, width, symbols.dots), role_of_cell)


def tables_heading(lobby: LobbyState, ink: Ink) -> RenderableType:
    """Return the heading of the list of tables, with their number or a hint if there is none."""
    heading = ink.text(" PUBLIC TABLES", Role.LABEL)
    if lobby.tables:
        return heading + ink.text(f"  {len(lobby.tables)}", Role.DIM)
    if not lobby.is_listed:
        return Group(heading, ink.text("  loading ...", Role.DIM))
    none = ink.text("  none now: c creates one, j joins a private one by its code", Role.DIM)
    return Group(heading, none)


def choices_part(lobby: LobbyState, ink: Ink) -> RenderableType:
    """Return the open choices: a new table's form, the games, or the keys that need no server."""
    if lobby.form is not None:
        form = _choices(*_form(lobby), ink)
        return Group(form, "", *_effect_of_enter(lobby, ink)) if lobby.is_local else form
    if lobby.is_practice:
        games = tuple((str(number), game_title(game)) for number, game in enumerate(GAMES, 1))
        return _choices("PRACTICE", games, ink)
    if lobby.is_open or lobby.tables or not lobby.has_tried:
        return ""
    return Group(ink.indented(lobby.wrong), "", _choices("WHAT YOU CAN DO", WITHOUT_SERVER, ink))


def _form(lobby: LobbyState) -> tuple[str, tuple[tuple[str, str], ...]]:
    form = lobby.form
    assert form is not None, "the caller has looked"
    heading = "A NEW TABLE ON A SERVER ON THIS MACHINE" if lobby.is_local else "A NEW TABLE"
    public = (
        "public: in the list of every lobby" if form.public else "private: friends need the code"
    )
    return heading, (
        ("g", game_title(form.game)),
        ("c", cap_words(form.cap)),
        ("+-", counted(form.seats, "seat")),
        ("m", match_words(form.races)),
        ("p", public),
    )


def _effect_of_enter(lobby: LobbyState, ink: Ink) -> Iterator[RenderableType]:
    """Return what Enter does in the form of a new table on this machine."""
    yield ink.indented(OPENS_HERE[lobby.runs_here], Role.DIM)
    yield ink.indented(ASKS_FIRST, Role.DIM)


def _choices(heading: str, choices: tuple[tuple[str, str], ...], ink: Ink) -> RenderableType:
    grid = ink.grid(2, 4, None)
    for key, text in choices:
        grid.add_row("", ink.text(key, Role.KEY), ink.text(text))
    return Group(ink.text(f" {heading}", Role.LABEL), grid)


def leaders_part(lobby: LobbyState, symbols: PageSymbols, ink: Ink) -> RenderableType:
    """Return today's leader of each game."""
    grid = ink.grid(2, 22, NAME + 1, 10, 8, 15)
    for game in GAMES:
        leader = lobby.leaders.get(game)
        if leader is None:
            absent = "none yet" if game in lobby.leaders else ""
            grid.add_row("", ink.text(game_title(game)), ink.text(absent, Role.DIM), "", "", "")
            continue
        grid.add_row(
            "",
            ink.text(game_title(game)),
            ink.text(fitted(leader.name, NAME, symbols.dots), Role.LEADER),
            ink.text(f"{leader.value} banked", Role.COUNT),
            ink.text(f"{dollars(leader.net):>7}", money_role(leader.net)),
            ink.text(f"vs {rivals(leader.rivals)}", Role.DIM),
        )
    return Group(ink.text(" TODAY'S LEADERS", Role.LABEL), grid)
