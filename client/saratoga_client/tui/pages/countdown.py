"""The page of the countdown: who races, what everybody promised, and the table face down."""

from collections.abc import Iterator
from typing import Final

from saratoga_client.drawing.canvas import Canvas
from saratoga_client.drawing.roles import Role
from saratoga_client.model import shown_name
from saratoga_client.racing.evening import Evening, clock
from saratoga_client.racing.lettering import fitted, wrapped
from saratoga_client.shown import shown
from saratoga_client.tui.pages.figures import cap_text, game_title, grouped, short_hash
from saratoga_client.tui.pages.signs import Signs

DIGITS: Final = {
    0: ("   ", "   ", "GO!", "   ", "   "),
    1: ("  █", "  █", "  █", "  █", "  █"),
    2: ("███", "  █", "███", "█  ", "███"),
    3: ("███", "  █", "███", "  █", "███"),
    4: ("█ █", "█ █", "███", "  █", "  █"),
    5: ("███", "█  ", "███", "  █", "███"),
}
NAME: Final = 21
RACER: Final = NAME + 1 + 16 + 1
"""Cells for a name and a fingerprint."""
BACKS: Final = 7
"""Card backs beside the number."""


def countdown_page(evening: Evening, now: int, signs: Signs, width: int, height: int) -> Canvas:
    """Draw the page at the house's time `now`."""
    canvas = Canvas(width, height)
    table = evening.table
    _backs(canvas, 3, 1, signs)
    seconds = -(-clock(evening, now).until_start // 1000)
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


def _racers(canvas: Canvas, y: int, evening: Evening, signs: Signs) -> None:
    """In one column, or in as many as there must be."""
    racers = list(_promised(evening, signs))
    room = max(1, canvas.height - y)
    columns = max(1, min((canvas.width - 1) // RACER, -(-len(racers) // room)))
    rows = min(room, -(-len(racers) // columns))
    shown_racers = racers if len(racers) <= rows * columns else racers[: rows * columns - 1]
    for place, (name, is_you, promised) in enumerate(shown_racers):
        x, row = 1 + RACER * (place // rows), y + place % rows
        canvas.put(x, row, fitted(name, NAME, signs.dots), Role.YOU if is_you else Role.TEXT)
        canvas.put(x + NAME + 1, row, promised, Role.DIM)
    if len(shown_racers) < len(racers):
        x = 1 + RACER * (columns - 1)
        canvas.put(x, y + rows - 1, f"and {len(racers) - len(shown_racers)} more", Role.DIM)


def _promised(evening: Evening, signs: Signs) -> Iterator[tuple[str, bool, str]]:
    seats = {seat.player: seat for seat in evening.table.seats}
    for player in evening.table.racers:
        seat = seats.get(player)
        name = shown(shown_name(seat.name, seat.bot)) if seat is not None else "somebody"
        promised = short_hash(shown(seat.nonce_hash), signs.dots) if seat is not None else ""
        yield name, player == evening.player, promised


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
