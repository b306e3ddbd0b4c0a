"""Effects and timers of the tables in the cache."""

import pytest
from msgspec.structs import replace

from kit.in_process_server import InProcessServer, gathered, kicking, live_table, two_at
from saratoga_protocol.codec import CODECS, Codec
from saratoga_protocol.commands import LeaveTable
from saratoga_protocol.events import (
    Done,
    Ended,
    Match,
    MatchResult,
    MatchRow,
    SeatLost,
    TableChanged,
)
from saratoga_server.domain.tables import (
    TableState,
)
from saratoga_server.domain.tables.lifecycle import MOST_SEATS
from saratoga_server.domain.tables.seating import KICKED
from saratoga_server.domain.usernames import LONGEST
from saratoga_server.ports import Millis, PlayerRow, StoreUnavailable
from saratoga_server.transport.connection import MOST_UNREAD

# The effects of a change of a table are carried out once it is durable, and repeated if they fail


async def test_a_change_whose_reply_was_lost_has_its_effects_when_it_is_found(
    server: InProcessServer,
) -> None:
    anna, bert, code = await two_at(server)
    server.tap.is_deaf = True  # otherwise an event would report it at once
    server.faults.lost_replies = 1
    with pytest.raises(StoreUnavailable):
        await server.node.tables.change(code, kicking(anna, bert))
    assert bert.received.all(SeatLost) == []
    for _ in range(2):
        await server.node.tables.look_over()
    (lost,) = bert.received.all(SeatLost)
    assert lost.reason == KICKED
    assert not live_table(server, code).in_doubt


async def test_a_change_that_did_not_happen_has_no_effects(server: InProcessServer) -> None:
    anna, bert, code = await two_at(server)
    server.faults.unavailable = True
    with pytest.raises(StoreUnavailable):
        await server.node.tables.change(code, kicking(anna, bert))
    server.faults.unavailable = False
    await server.node.tables.look_over()
    assert bert.received.all(SeatLost) == []
    assert not live_table(server, code).in_doubt
    assert isinstance(await bert.ask(LeaveTable, table=code), Done)


# The fullest table: its changes fit the outbox of a client that reads slowly


NAME = "Ж" * LONGEST
HASH = "0f" * 32
RACES = 5


def ids(first: str) -> list[str]:
    return [f"{first}{letter * 15}" for letter in "abcdefghijklmnop"[:MOST_SEATS]]


def fullest(state: TableState) -> TableState:
    """Return the table with as much as it can show: seats, voided races, and a match of changing players."""
    (seat,) = state.seats
    full = replace(seat, name=NAME, nonce_hash=HASH, races=99, wins=99, net=-4950)
    ended = Ended(race=f"{state.code}/1", digest=HASH, reason="nonce-missing", blamed=ids("v"))
    finished = [f"{state.code}/{number}" for number in range(1, RACES + 1)]
    rows = [
        MatchRow(
            player=player,
            name=NAME,
            results=[MatchResult(race=race, place=1, net=-50)],
        )
        for race, first in zip(finished, "abcde", strict=True)
        for player in ids(first)
    ]
    return replace(
        state,
        seats=(seat, *(replace(full, player=player) for player in ids("s")[1:])),
        previous=ended,
        match=Match(races=RACES, finished=finished, rows=rows),
    )


@pytest.mark.parametrize("codec", CODECS.values(), ids=list(CODECS))
async def test_a_change_by_every_player_of_the_fullest_table_fits_the_outbox(
    server: InProcessServer, codec: Codec
) -> None:
    anna = await server.player("Anna")
    code = await gathered(anna, races=RACES)
    cache = server.node.tables
    for player in ids("s")[1:]:
        await server.store.players.create_player(PlayerRow(player=player, token_hash="hash"))
    await cache.change(code, lambda state, _: fullest(state))
    first = len(anna.received.all(TableChanged))

    for number in range(MOST_SEATS):

        def noticed(state: TableState, now: Millis, number: int = number) -> TableState:
            return replace(state, notice=f"{NAME} is ready, the {number}th.")

        await cache.change(code, noticed)
    changes = anna.received.all(TableChanged)[first:]
    assert len(changes) == MOST_SEATS
    assert anna.match is not None
    assert sum(len(codec.encode(each)) for each in changes) <= MOST_UNREAD
