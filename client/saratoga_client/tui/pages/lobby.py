"""The page of the lobby: who one is, the public tables, today's leaders, and a table to be opened."""

from typing import Final

from saratoga_client.board_view.canvas import Canvas
from saratoga_client.board_view.roles import Role
from saratoga_client.board_view.text_width import fitted, wrapped
from saratoga_client.sanitised import sanitised
from saratoga_client.session.lobby import LobbyState
from saratoga_client.session.table_view import dollars
from saratoga_client.tui.pages.figures import game_title
from saratoga_client.tui.pages.gathering import money_role
from saratoga_client.tui.pages.symbols import Signs
from saratoga_client.wording import cap_words
from saratoga_protocol.events import LeaderboardRow, TableSummary
from saratoga_rules.games import GAMES

LEADERS: Final = 2 + len(GAMES)
"""Rows for today's leaders, with the heading and a blank one."""
FORM: Final = 7
"""Rows for a table to be opened."""

WITHOUT_HOUSE: Final = (
    ("h", "open a house on this machine, for yourself and friends"),
    ("j", "join a friend: paste the line that you were sent"),
    ("o", "go to another house by its address"),
    ("p", "practise by yourself, offline"),
)
"""What can be done all the same."""

CODE, GAME, CAP, PHASE, SEATS = 2, 24, 46, 54, 65
"""Columns of the list of tables; the host's name comes last, where there is room."""
HOST: Final = 72


def lobby_page(lobby: LobbyState, signs: Signs, width: int, height: int) -> Canvas:
    """Draw the page."""
    canvas = Canvas(width, height)
    _name(canvas, lobby)
    has_house = lobby.is_open or bool(lobby.tables)
    rest = height - LEADERS if has_house else height
    if lobby.form is not None:
        _form(canvas, rest - FORM, lobby)
        rest -= FORM
    elif lobby.is_practice:
        _games(canvas, rest - FORM)
        rest -= FORM
    if has_house:
        _tables(canvas, 3, lobby, signs, max(0, rest - 4))
        _leaders(canvas, height - LEADERS, lobby, signs)
    elif lobby.is_met:
        _without_house(canvas, lobby)
    return canvas


def _name(canvas: Canvas, lobby: LobbyState) -> None:
    if not lobby.is_met:
        canvas.put(1, 1, "Looking for the house ...", Role.DIM)
    elif not lobby.is_open:
        canvas.put(1, 1, "No house answers.", Role.WARNING)
    elif lobby.name:
        x = canvas.put(1, 1, "You are ", Role.TEXT)
        x = canvas.put(x, 1, sanitised(lobby.name), Role.YOU)
        if lobby.seat:
            x = canvas.put(x, 1, ", and you have a seat at ", Role.TEXT)
            x = canvas.put(x, 1, sanitised(lobby.seat), Role.YOU)
            canvas.put(x, 1, ": b goes back", Role.TEXT)
    else:
        canvas.put(1, 1, "You have no name at this house yet: n takes one.", Role.TEXT)


def _tables(canvas: Canvas, y: int, lobby: LobbyState, signs: Signs, rows: int) -> None:
    canvas.put(1, y, "PUBLIC TABLES", Role.LABEL)
    if not lobby.tables:
        text = "none now: c opens one, j joins a private one by its code"
        canvas.put(CODE, y + 1, text, Role.DIM)
        return
    codes = [table.code for table in lobby.tables]
    at = codes.index(lobby.chosen) if lobby.chosen in codes else 0
    first = max(0, min(at - rows // 2, len(codes) - rows))
    if len(codes) > rows:
        canvas.put(16, y, f"{first + 1} to {first + rows} of {len(codes)}", Role.DIM)
    for row, table in enumerate(lobby.tables[first : first + rows], y + 1):
        is_chosen = table.code == lobby.chosen
        if is_chosen:
            canvas.put(0, row, signs.mark, Role.YOU)
        _table(canvas, row, table, signs, Role.YOU if is_chosen else Role.TEXT)


def _table(canvas: Canvas, y: int, table: TableSummary, signs: Signs, role: Role) -> None:
    cap = f"{table.cap} min" if table.cap else "no cap"
    canvas.put(CODE, y, fitted(sanitised(table.code), GAME - CODE - 1, signs.dots), role)
    canvas.put(
        GAME, y, fitted(sanitised(game_title(table.game)), CAP - GAME - 1, signs.dots), Role.TEXT
    )
    canvas.put(CAP, y, cap, Role.DIM)
    canvas.put(PHASE, y, fitted(sanitised(table.phase), SEATS - PHASE - 1, signs.dots), Role.DIM)
    canvas.put(SEATS, y, f"{table.seated}/{table.seats}", Role.COUNT)
    canvas.put(
        HOST,
        y,
        fitted(sanitised(table.host), max(0, canvas.width - HOST - 1), signs.dots),
        Role.DIM,
    )


def _without_house(canvas: Canvas, lobby: LobbyState) -> None:
    y = 3
    for line in wrapped(sanitised(lobby.wrong), canvas.width - 2):
        canvas.put(1, y, line, Role.TEXT)
        y += 1
    if lobby.form is not None or lobby.is_practice:
        return
    canvas.put(1, y + 1, "WHAT YOU CAN DO", Role.LABEL)
    for row, (key, text) in enumerate(WITHOUT_HOUSE, y + 2):
        canvas.put(CODE, row, key, Role.KEY)
        canvas.put(CODE + 4, row, text, Role.TEXT)


def _leaders(canvas: Canvas, y: int, lobby: LobbyState, signs: Signs) -> None:
    canvas.put(1, y, "TODAY'S LEADERS", Role.LABEL)
    for row, game in enumerate(GAMES, y + 1):
        canvas.put(CODE, row, game_title(game), Role.TEXT)
        leader = lobby.leaders.get(game)
        if leader is not None:
            _leader(canvas, row, leader, signs)
        elif game in lobby.leaders:
            canvas.put(GAME, row, "nobody yet", Role.DIM)


def _leader(canvas: Canvas, y: int, leader: LeaderboardRow, signs: Signs) -> None:
    canvas.put(GAME, y, fitted(sanitised(leader.name), CAP - GAME - 1, signs.dots), Role.LEADER)
    canvas.put(CAP, y, f"{leader.value} banked", Role.COUNT)
    canvas.put(PHASE + 2, y, dollars(leader.net), money_role(leader.net))


def _form(canvas: Canvas, y: int, lobby: LobbyState) -> None:
    form = lobby.form
    assert form is not None
    where = "A TABLE IN A HOUSE ON THIS MACHINE" if lobby.is_here else "A NEW TABLE"
    canvas.put(1, y, where, Role.LABEL)
    rows = (
        ("g", game_title(form.game)),
        ("c", cap_words(form.cap)),
        ("+-", "1 seat" if form.seats == 1 else f"{form.seats} seats"),
        ("p", "public: in every lobby's list" if form.public else "private: friends need the code"),
    )
    for row, (key, text) in enumerate(rows, y + 1):
        canvas.put(CODE, row, key, Role.KEY)
        canvas.put(CODE + 4, row, text, Role.TEXT)


def _games(canvas: Canvas, y: int) -> None:
    canvas.put(1, y, "PRACTICE", Role.LABEL)
    for number, game in enumerate(GAMES, 1):
        canvas.put(CODE, y + number, str(number), Role.KEY)
        canvas.put(CODE + 4, y + number, game_title(game), Role.TEXT)
