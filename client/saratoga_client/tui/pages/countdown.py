"""The page of the countdown: who races, what everybody promised, and the table face down."""

from typing import Final

from saratoga_client.board_view.canvas import Canvas
from saratoga_client.board_view.roles import Role
from saratoga_client.board_view.text_width import fitted_name, wrapped
from saratoga_client.sanitised import sanitised
from saratoga_client.session.state import SessionState, race_clock
from saratoga_client.tui.pages.figures import grouped, short_hash
from saratoga_client.tui.pages.symbols import Signs

DIGITS: Final = {
    0: ("   ", "   ", "GO!", "   ", "   "),
    1: ("  █", "  █", "  █", "  █", "  █"),
    2: ("███", "  █", "███", "█  ", "███"),
    3: ("███", "  █", "███", "  █", "███"),
    4: ("█ █", "█ █", "███", "  █", "  █"),
    5: ("███", "█  ", "███", "  █", "███"),
}
NAME: Final = 20
"""Cells of the longest name."""
NAME_AND_BOT: Final = NAME + 6
RACER: Final = NAME + 1 + 16 + 2
"""Cells for a name and a fingerprint."""
BACKS: Final = 7
"""Card backs beside the number."""


def countdown_page(
    evening: SessionState, now: int, signs: Signs, width: int, height: int
) -> Canvas:
    """Draw the page at the house's time `now`."""
    canvas = Canvas(width, height)
    table = evening.table
    _backs(canvas, 3, 1, signs)
    seconds = -(-race_clock(evening, now).until_start // 1000)
    _number(canvas, 2 + BACKS * 5 + 6, 1, seconds, signs)
    y = 7
    canvas.put(1, y, "THE DEAL IS FIXED: this is its fingerprint", Role.LABEL)
    for part in wrapped(grouped(table.commitment), min(width - 2, 40)):
        y += 1
        canvas.put(1, y, part, Role.TEXT)
    y += 2
    canvas.put(1, y, "RACERS, each with the fingerprint of a secret of their own", Role.LABEL)
    _racers(canvas, y + 1, evening, signs)
    return canvas


def _racers(canvas: Canvas, y: int, evening: SessionState, signs: Signs) -> None:
    """In one column, or in as many as there must be."""
    racers = evening.table.racers
    room = max(1, canvas.height - y)
    columns = max(1, min((canvas.width - 1) // RACER, -(-len(racers) // room)))
    rows = min(room, -(-len(racers) // columns))
    name = NAME if columns > 1 else NAME_AND_BOT
    listed = racers if len(racers) <= rows * columns else racers[: rows * columns - 1]
    for place, player in enumerate(listed):
        _racer(canvas, 1 + RACER * (place // rows), y + place % rows, evening, player, name, signs)
    if len(listed) < len(racers):
        x = 1 + RACER * (columns - 1)
        canvas.put(x, y + rows - 1, f"and {len(racers) - len(listed)} more", Role.DIM)


def _racer(
    canvas: Canvas, x: int, y: int, evening: SessionState, player: str, cells: int, signs: Signs
) -> None:
    seat = next((seat for seat in evening.table.seats if seat.player == player), None)
    role = Role.YOU if player == evening.player else Role.TEXT
    if seat is None:
        canvas.put(x, y, "somebody", role)
        return
    canvas.put(x, y, fitted_name(seat.name, seat.bot, cells, signs.dots), role)
    canvas.put(x + cells + 1, y, short_hash(sanitised(seat.nonce_hash), signs.dots), Role.DIM)


def _backs(canvas: Canvas, x: int, y: int, signs: Signs) -> None:
    """The table, face down."""
    for card in range(BACKS):
        at = x + card * 5
        for row in range(4):
            canvas.put(at, y + row, "####" if signs.filled == "=" else "▒▒▒▒", Role.CARD_BACK)


def _number(canvas: Canvas, x: int, y: int, seconds: int, signs: Signs) -> None:
    rows = DIGITS.get(seconds)
    if rows is None:
        canvas.put(x, y + 2, str(seconds), Role.WARNING)
        return
    for row, text in enumerate(rows):
        canvas.put(x, y + row, text.replace("█", signs.filled), Role.WARNING)
