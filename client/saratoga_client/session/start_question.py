"""The question before a race starts without somebody who is at the table. Pure."""

from saratoga_client.wording import listed
from saratoga_protocol.events import Table


def left_behind(table: Table) -> tuple[str, ...]:
    """Return the names of the host's friends who are here and not ready, and would miss a race started now.

    Bots get ready by themselves. A disconnected or blocked player cannot get ready.
    """
    return tuple(
        seat.name
        for seat in table.seats
        if seat.connected
        and seat.player != table.host
        and not (seat.ready or seat.blocked or seat.bot)
    )


def start_question(names: tuple[str, ...]) -> str:
    """Return whether to start without these players, as a question.

    >>> start_question(("Ben",)), start_question(("Ben", "Mei"))
    ("Ben isn't ready. Start without Ben?", "Ben and Mei aren't ready. Start without them?")
    """
    if len(names) == 1:
        return f"{names[0]} isn't ready. Start without {names[0]}?"
    if len(names) == 2:
        return f"{listed(names)} aren't ready. Start without them?"
    return f"{len(names)} players aren't ready. Start without them?"
