"""Effects and timers of the tables in the cache."""

import pytest
from msgspec.structs import replace

from kit.in_process_server import InProcessServer, gathered, kicking, live_table, two_at
from kit.table_caches import OTHER, Caches, CachingNode
from kit.tables import (
    ANN,
    BEN,
    CODE,
    NODE,
    all_shown,
    counting,
    running,
    seated,
)
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
    Change,
    CommandRejected,
    TablePhase,
    TableState,
)
from saratoga_server.domain.tables.lifecycle import MOST_SEATS
from saratoga_server.domain.tables.seating import KICKED
from saratoga_server.domain.tables.timers import UNUSED_MILLIS
from saratoga_server.domain.usernames import LONGEST
from saratoga_server.live.table_cache import JITTER
from saratoga_server.ports import Millis, PlayerRow, StoreUnavailable
from saratoga_server.store.keys import table_key
from saratoga_server.transport.outbox import MOST_PENDING

# The effects of a change of a table are carried out once it is durable, and repeated if they fail


async def test_a_change_whose_reply_was_lost_has_its_effects_when_it_is_found(
    server: InProcessServer,
) -> None:
    anna, bert, code = await two_at(server)
    server.tap.is_deaf = True  # otherwise an event would report it at once
    server.faults.lost_replies = 1
    with pytest.raises(StoreUnavailable):
        await server.node.table_service.change(code, kicking(anna, bert))
    assert bert.received.all(SeatLost) == []
    for _ in range(2):
        await server.node.table_service.look_over()
    (lost,) = bert.received.all(SeatLost)
    assert lost.reason == KICKED
    assert not live_table(server, code).in_doubt


async def test_a_change_that_did_not_happen_has_no_effects(server: InProcessServer) -> None:
    anna, bert, code = await two_at(server)
    server.faults.unavailable = True
    with pytest.raises(StoreUnavailable):
        await server.node.table_service.change(code, kicking(anna, bert))
    server.faults.unavailable = False
    await server.node.table_service.look_over()
    assert bert.received.all(SeatLost) == []
    assert not live_table(server, code).in_doubt
    assert isinstance(await bert.ask(LeaveTable, table=code), Done)


# Timers


async def test_a_change_sets_the_tables_timer(here: CachingNode, caches: Caches) -> None:
    await here.open(seated(ANN, BEN))
    table = counting(ANN, BEN)
    await here.cache.change(CODE, lambda state, now: Change(table))
    assert here.due_tables.take_due() is None
    caches.time.at = table.reveal_by
    assert here.due_tables.take_due() == CODE


async def test_several_nodes_spread_the_timers_that_need_not_be_prompt(
    caches: Caches, here: CachingNode
) -> None:
    here.peers.seen()
    for number in range(40):
        await here.open(replace(seated(ANN), code=f"odd-emu-{number}"))
    caches.time.at += UNUSED_MILLIS
    due_at_once = len(list(iter(here.due_tables.take_due, None)))
    assert due_at_once < 40
    caches.time.at += JITTER
    assert due_at_once + len(list(iter(here.due_tables.take_due, None))) == 40


async def test_the_timers_of_a_start_and_of_a_deadline_are_prompt_on_every_node(
    caches: Caches, here: CachingNode
) -> None:
    here.peers.seen()
    table = all_shown(counting(ANN, BEN))
    race = replace(running(ANN, BEN), looked=running(ANN, BEN).deadline - 1)
    codes = [f"odd-emu-{number}" for number in range(40)]
    for code in codes:
        await here.open(replace(table, code=code))
    caches.time.at = table.start_at
    assert sorted(iter(here.due_tables.take_due, None)) == sorted(codes)

    def started(state: TableState, now: Millis) -> Change:
        return Change(replace(race, code=state.code))

    for code in codes:
        await here.cache.change(code, started)
    caches.time.at = race.deadline
    assert sorted(iter(here.due_tables.take_due, None)) == sorted(codes)


# Tables that are no longer needed


async def test_tables_without_subscribers_are_dropped_from_the_cache(
    here: CachingNode, caches: Caches
) -> None:
    await here.open(seated(ANN))
    await here.open(replace(seated(ANN), code=OTHER))
    here.cache.forget_unused("another node")
    assert [table.code for table in here.cache.all()] == [CODE], "a player follows it"
    assert here.cache.phases() == {TablePhase.GATHERING: 1}
    assert (await here.cache.get(OTHER)).state.seats
    here.cache.forget_unused(NODE)
    assert len(here.cache.all()) == 2, "a seat there is held by this node"
    assert {code async for code in caches.store.tables.all_codes()} == {CODE, OTHER}


async def test_a_table_with_something_left_undone_is_kept(here: CachingNode) -> None:
    table = await here.open(replace(seated(ANN), code=OTHER))
    table.in_doubt = True
    here.cache.forget_unused("another node")
    table.in_doubt, table.followed_up = False, table.known
    here.cache.forget_unused("another node")
    table.followed_up = None
    async with table.lock:
        here.cache.forget_unused("another node")
    assert here.cache.all() == [table]
    here.cache.forget_unused("another node")
    assert here.cache.all() == []


async def test_with_other_nodes_alive_a_race_is_kept_only_where_it_is_followed(
    here: CachingNode,
) -> None:
    await here.open(replace(running(ANN), code=OTHER, seats=()))
    here.cache.forget_unused("node")
    assert here.cache.known(OTHER) is not None
    here.peers.seen()
    here.cache.forget_unused("node")
    assert here.cache.known(OTHER) is None


async def test_a_table_that_the_store_has_deleted_is_forgotten(
    here: CachingNode, caches: Caches
) -> None:
    await here.open(seated(ANN))
    await caches.store.real.client.command("DEL", table_key(CODE))
    with pytest.raises(CommandRejected, match="no_such_table"):
        await here.cache.refresh(CODE)
    assert here.cache.known(CODE) is None


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
    cache = server.node.table_cache
    for player in ids("s")[1:]:
        await server.store.players.create_player(PlayerRow(player=player, token_hash="hash"))
    await cache.change(code, lambda state, _: Change(fullest(state)))
    first = len(anna.received.all(TableChanged))

    for number in range(MOST_SEATS):

        def noticed(state: TableState, now: Millis, number: int = number) -> Change:
            return Change(replace(state, notice=f"{NAME} is ready, the {number}th."))

        await cache.change(code, noticed)
    changes = anna.received.all(TableChanged)[first:]
    assert len(changes) == MOST_SEATS
    assert anna.match is not None
    assert sum(len(codec.encode(each)) for each in changes) <= MOST_PENDING
