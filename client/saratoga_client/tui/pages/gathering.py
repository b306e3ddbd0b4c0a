"""The page of a table that gathers: how friends come in, who is there, what will be raced."""

from collections.abc import Iterator, Sequence
from typing import Final, TypeAlias

from saratoga_client.board_view.canvas import Canvas
from saratoga_client.board_view.roles import Role
from saratoga_client.board_view.text_width import fitted, wrapped
from saratoga_client.sanitised import sanitised
from saratoga_client.session.state import SessionState
from saratoga_client.session.table_view import dollars, shown_name
from saratoga_client.tui.pages.figures import cap_text, game_title, short_hash
from saratoga_client.tui.pages.symbols import Signs
from saratoga_protocol.events import Seat

NAME: Final = 26
"""Cells for a name with a bot's mark."""
WORDS: Final = 12
TOTALS: Final = 11
SEATS: Final = 3 + NAME + WORDS + TOTALS
"""Cells for the list of seats; right of it stands what will be raced."""
FACTS: Final = 27
"""Cells that this needs at least."""

Line: TypeAlias = tuple[str, Role]


def gathering_page(
    evening: SessionState,
    invitation: Sequence[str],
    chosen: str,
    signs: Signs,
    width: int,
    height: int,
) -> Canvas:
    """Draw the page; `chosen` is the player whom the host may send away, if one was chosen."""
    canvas = Canvas(width, height)
    y = _invitation(canvas, evening, invitation)
    if y + 2 + len(evening.table.seats) > height:
        # a full house on a small screen: how to come in, and who is in
        canvas = Canvas(width, height)
        canvas.put(
            1, 0, fitted(sanitised(invitation[-1] if invitation else ""), width - 2), Role.TITLE
        )
        y = 0
    y += 1
    _seats(canvas, y, evening, chosen, signs)
    if width >= SEATS + FACTS:
        _facts(canvas, SEATS + 1, y, evening, signs)
    else:
        _facts(canvas, 1, y + len(evening.table.seats) + 2, evening, signs)
    return canvas


def _invitation(canvas: Canvas, evening: SessionState, invitation: Sequence[str]) -> int:
    x = canvas.put(1, 1, "Friends come to the table ", Role.TEXT)
    x = canvas.put(x, 1, sanitised(evening.table.code), Role.YOU)
    canvas.put(x, 1, " with", Role.TEXT)
    y = 2
    for line in invitation:
        for part in wrapped(sanitised(line), canvas.width - 4):
            canvas.put(3, y, part, Role.TITLE)
            y += 1
    return y


def _seats(canvas: Canvas, y: int, evening: SessionState, chosen: str, signs: Signs) -> None:
    table = evening.table
    canvas.put(1, y, f"SEATS {len(table.seats)} of {table.settings.seats}", Role.LABEL)
    if any(seat.races for seat in table.seats):
        canvas.put(3 + NAME + WORDS, y, "won    net", Role.LABEL)
    for row, seat in enumerate(_seen(table.seats, chosen, canvas.height - y - 1), y + 1):
        if seat is None:
            canvas.put(3, row, f"{signs.dots} {len(table.seats)} seats in all", Role.DIM)
            continue
        if seat.player == chosen:
            canvas.put(0, row, signs.mark, Role.WARNING)
        _seat(canvas, row, evening, seat, signs)


def _seen(seats: Sequence[Seat], chosen: str, room: int) -> list[Seat | None]:
    """As many seats as there is room for, the chosen one among them; `None` stands for the rest."""
    if len(seats) <= room:
        return list(seats)
    at = next((at for at, seat in enumerate(seats) if seat.player == chosen), 0)
    lines = max(1, room - 1)
    start = max(0, at - lines + 1)
    return [*seats[start : start + lines], None]


def _seat(canvas: Canvas, y: int, evening: SessionState, seat: Seat, signs: Signs) -> None:
    mark = signs.away if not seat.connected else signs.ready if seat.ready else signs.waiting
    canvas.put(1, y, mark, Role.MONEY_UP if seat.ready else Role.DIM)
    is_you = seat.player == evening.player
    name = fitted(sanitised(shown_name(seat.name, seat.bot)), NAME)
    canvas.put(3, y, name, Role.YOU if is_you else Role.TEXT)
    canvas.put(3 + NAME, y, fitted(", ".join(_words(evening, seat)), WORDS), Role.DIM)
    if seat.races:
        x = 3 + NAME + WORDS
        canvas.put(x, y, f"{seat.wins}/{seat.races}", Role.COUNT)
        net = dollars(seat.net)
        canvas.put(x + TOTALS - 1 - len(net), y, net, money_role(seat.net))


def _words(evening: SessionState, seat: Seat) -> Iterator[str]:
    if seat.player == evening.table.host:
        yield "host"
    if not seat.connected:
        yield "away"
    elif seat.ready:
        yield "ready"


def money_role(net: int) -> Role:
    """Won or lost."""
    return Role.MONEY_UP if net >= 0 else Role.MONEY_DOWN


def _facts(canvas: Canvas, x: int, y: int, evening: SessionState, signs: Signs) -> None:
    settings, is_host = evening.table.settings, evening.is_host
    canvas.put(x, y, f"RACE {evening.table.race.rpartition('/')[2]}", Role.LABEL)
    public = "public" if settings.public else "private, by code"
    rows = (
        ("g", game_title(settings.game)),
        ("c", cap_text(settings.cap)),
        ("p", public),
        ("+-", f"{settings.seats} seats"),
    )
    for row, (key, text) in enumerate(rows, y + 1):
        canvas.put(x, row, key if is_host else signs.waiting, Role.KEY if is_host else Role.DIM)
        canvas.put(x + 3, row, text, Role.TEXT)
    y += len(rows) + 2
    canvas.put(x, y, "THE DEAL IS FIXED", Role.LABEL)
    canvas.put(x, y + 1, short_hash(evening.table.commitment, signs.dots), Role.TEXT)
    for row, text in enumerate(
        wrapped("its fingerprint; checked by itself after the race", canvas.width - x - 1), y + 2
    ):
        canvas.put(x, row, text, Role.DIM)
