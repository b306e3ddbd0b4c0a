"""The fullest table: its changes fit the outbox of a client that reads slowly."""

import pytest
from msgspec.structs import replace

from kit.in_process_server import InProcessServer, gathered
from saratoga_protocol.codec import CODECS, Codec
from saratoga_protocol.events import TableChanged, VoidedRace
from saratoga_protocol.match_rows import Match, MatchResult, MatchRow
from saratoga_server.domain.tables import Change, TableState
from saratoga_server.domain.tables.lifecycle import MOST_SEATS
from saratoga_server.domain.tables.public_view import MOST_VOIDED_SHOWN
from saratoga_server.domain.usernames import LONGEST
from saratoga_server.ports import Millis
from saratoga_server.transport.outbox import MOST_PENDING

NAME = "Ж" * LONGEST
HASH = "0f" * 32
RACES = 5


def ids(first: str) -> list[str]:
    return [f"{first}{letter * 15}" for letter in "abcdefghijklmnop"[:MOST_SEATS]]


def fullest(state: TableState) -> TableState:
    """Return the table with as much as it can show: seats, voided races, and a match of changing players."""
    (seat,) = state.seats
    full = replace(seat, name=NAME, nonce_hash=HASH, races=99, wins=99, net=-4950)
    voided = VoidedRace(
        race=f"{state.code}/1",
        game="canfield-aisleriot",
        rules=1,
        cap=20,
        public=True,
        reason="damaged",
        commitment=HASH,
        seed=HASH,
        nonces=dict.fromkeys(ids("v"), HASH),
        logs=MOST_SEATS,
    )
    finished = [f"{state.code}/{number}" for number in range(1, RACES + 1)]
    rows = [
        MatchRow(
            player=player,
            name=NAME,
            place=1,
            net=-50,
            wins=0,
            results=[MatchResult(race=race, place=1, net=-50)],
        )
        for race, first in zip(finished, "abcde", strict=True)
        for player in ids(first)
    ]
    return replace(
        state,
        seats=(seat, *(replace(full, player=player) for player in ids("s")[1:])),
        voided=(voided,) * (2 * MOST_VOIDED_SHOWN),
        match=Match(races=RACES, finished=finished, rows=rows),
    )


@pytest.mark.parametrize("codec", CODECS.values(), ids=list(CODECS))
async def test_a_change_by_every_player_of_the_fullest_table_fits_the_outbox(
    server: InProcessServer, codec: Codec
) -> None:
    anna = await server.player("Anna")
    code = await gathered(anna, races=RACES)
    cache = server.node.table_cache
    await cache.change(code, lambda state, _: Change(fullest(state)))
    first = len(anna.received.all(TableChanged))

    for number in range(MOST_SEATS):

        def noticed(state: TableState, now: Millis, number: int = number) -> Change:
            return Change(replace(state, notice=f"{NAME} is ready, the {number}th."))

        await cache.change(code, noticed)
    changes = anna.received.all(TableChanged)[first:]
    assert len(changes) == MOST_SEATS
    assert anna.table.match is not None
    assert sum(len(codec.encode_event(each)) for each in changes) <= MOST_PENDING
