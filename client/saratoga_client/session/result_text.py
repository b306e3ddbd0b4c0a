"""What a racer wants to know, in a sentence: how far ahead, how far behind, how it came out. Pure."""

from saratoga_client.session.feed import ending, who
from saratoga_client.session.personal_best import banked_by
from saratoga_client.session.state import SessionState
from saratoga_client.session.table_view import Row, dollars, rows
from saratoga_client.wording import capitalised, counted
from saratoga_client.wording import ordinal as ordinal
from saratoga_protocol.events import Seat


def gap(evening: SessionState) -> str:
    """How the player stands to the others, such as `6 cards behind ana`; empty outside a race."""
    found = rows(evening.table_view)
    own = next((row for row in found if row.player == evening.player), None)
    others = [row for row in found if row.player != evening.player]
    if own is None:
        return ""
    if not others:
        return "alone in this race"
    # whoever is level is told of before whoever is far: the time decides there
    level = [row for row in others if row.banked == own.banked]
    if level:
        return _level(own, level[0], evening.player)
    if own.place > 1:
        ahead = others[0]
        return f"{counted(ahead.banked - own.banked)} behind {who(ahead, evening.player)}"
    return f"{counted(own.banked - others[0].banked)} ahead of {who(others[0], evening.player)}"


def _level(own: Row, other: Row, you: str) -> str:
    name = who(other, you)
    if own.place == other.place:
        return f"level with {name}; first to bank more leads"
    if own.place < other.place:
        return f"level with {name}; you were first to {own.banked}"
    return f"level with {name}, who was first to {own.banked}"


def against_best(evening: SessionState, at: int) -> str:
    """How the player stands to the best of an earlier race, `at` milliseconds into this one."""
    best = evening.best
    if best is None:
        return ""
    if evening.own is None or evening.phase != "running":
        return f"your best: {best.banked} cards, {dollars(best.net)}"
    then = banked_by(best, at)
    if evening.own.banked > best.banked:
        return f"past your best of {best.banked}!"
    return f"your best had {then} by now"


def own_result(evening: SessionState) -> str:
    """How the finished race came out for the player; empty for who was not in it."""
    outcome = evening.table_view.outcome
    if outcome is None:
        return ""
    found = rows(evening.table_view)
    own = next((row for row in found if row.player == evening.player), None)
    if own is None:
        return ""
    if len(found) == 1:
        return f"{capitalised(ending(own, evening.player))}."
    shares = sum(row.place == own.place for row in found) > 1
    place = f"{'shared ' if shares else ''}{ordinal(own.place)} of {len(found)}"
    behind = f", ${own.gap} behind the first" if own.gap else ""
    return f"You came {place}: {counted(own.banked)}, {dollars(own.net)}{behind}."


def totals(evening: SessionState) -> tuple[Seat, ...]:
    """Who has raced at the table this evening, by casino dollars, then by races won."""
    raced = [seat for seat in evening.table.seats if seat.races]
    return tuple(sorted(raced, key=lambda seat: (-seat.net, -seat.wins, seat.name)))
