"""The difference between two states of a table's seats: who came, left, or got ready. Pure."""

from collections.abc import Iterator
from typing import Final

from saratoga_client.wording import shown_name
from saratoga_protocol import events

READY: Final = "is ready"
LEFT: Final = "left the table"
SAT_DOWN: Final = "sat down"


def seat_changes(before: events.Table, after: events.Table) -> Iterator[tuple[events.Seat, str]]:
    """Return every changed seat, with a phrase for the change."""
    old = {seat.player: seat for seat in before.seats}
    new = {seat.player: seat for seat in after.seats}
    for player, seat in new.items():
        if player not in old:
            yield seat, SAT_DOWN
        elif seat.connected != old[player].connected:
            yield seat, "is back" if seat.connected else "lost the connection"
        elif seat.ready and not old[player].ready:
            yield seat, READY
    for player, seat in old.items():
        if player not in new:
            yield seat, LEFT


def seat_news(before: events.Table, after: events.Table, you: str) -> str:
    """Return sentences on the changed seats of other players, for a message line; empty without a change.

    The server's notice says why a player who is still there is not host any more.
    While players get ready for a race, the last sentence counts those who are.
    """
    changes = [(seat, phrase) for seat, phrase in seat_changes(before, after) if seat.player != you]
    sentences = [
        f"{shown_name(seat.name, seat.bot, seat.level)} {phrase}." for seat, phrase in changes
    ]
    if before.host != after.host and any(seat.player == before.host for seat in after.seats):
        sentences.append(after.notice)
    count = ready_count(after)
    if count and (sentences or count != ready_count(before)):
        sentences.append(count)
    return " ".join(sentences)


def ready_count(table: events.Table) -> str:
    """Return how many players are ready for the next race; empty while no player can get ready."""
    if table.phase != "gathering":
        return ""
    ready = sum(seat.ready for seat in table.seats)
    return f"{ready} of {len(table.seats)} ready for the next race."
