"""The store's clock is stepped while players count down or race, on one node and on two."""

import pytest

from kit.in_process_server import InProcessServer, counted_down, gathered
from kit.two_nodes import Nodes
from saratoga_protocol.commands import Start
from saratoga_protocol.events import Dealt, Done, MoveMade, TableChanged
from saratoga_server.domain.tables.countdown import CALL_MILLIS, COUNTDOWN_MILLIS
from saratoga_server.domain.tables.timers import ABSENCE_MILLIS
from saratoga_server.store.keys import race_key

HOUR = 60 * 60_000


async def step_clock(server: InProcessServer, millis: int) -> None:
    """Step the store's clock by this much, and let the server read it."""
    server.time.behind -= millis
    server.time.at += 1
    await server.node.clock.synchronise()


async def test_a_clock_stepped_back_in_the_countdown_begins_the_countdown_again(
    server: InProcessServer,
) -> None:
    anna, bert = await server.player("Anna"), await server.player("Bert")
    code = await gathered(anna, bert)
    await counted_down(anna, bert)
    await step_clock(server, -HOUR)
    told = len(anna.received.events)
    await server.pass_time(0)
    (changed,) = anna.received.all(TableChanged, told)
    assert changed.table.start_at == changed.now + COUNTDOWN_MILLIS - CALL_MILLIS
    await server.pass_time(COUNTDOWN_MILLIS)
    for racer in (anna, bert):
        (dealt,) = racer.received.all(Dealt)
        assert dealt.start_at == dealt.now == server.time.store_at
        await racer.moves("draw")
    deadline = await server.real.client.command("HGET", race_key(code, 1), "deadline")
    assert int(deadline) == server.time.store_at + 10 * 60_000


async def test_nonces_pending_while_the_clock_is_stepped_forward_start_the_race(
    server: InProcessServer,
) -> None:
    anna, bert = await server.player("Anna"), await server.player("Bert")
    code = await gathered(anna, bert)
    for player in (anna, bert):
        await player.ready()
    await anna.ask(Start, table=code)
    await anna.call_ended()
    await step_clock(server, 60_000)
    for player in (anna, bert):
        assert isinstance(await player.reveal(), Done)
    await server.pass_time(0)
    assert anna.table.start_at == server.time.store_at + COUNTDOWN_MILLIS - CALL_MILLIS
    await server.pass_time(COUNTDOWN_MILLIS)
    for racer in (anna, bert):
        assert racer.received.all(Dealt)


async def test_a_step_that_the_node_has_not_noticed_does_not_move_the_start_of_the_race(
    server: InProcessServer,
) -> None:
    anna = await server.player("Anna")
    await gathered(anna)
    await counted_down(anna)
    server.time.behind = HOUR
    await server.pass_time(COUNTDOWN_MILLIS)
    assert anna.received.all(Dealt) == []
    await server.pass_time(COUNTDOWN_MILLIS)
    (dealt,) = anna.received.all(Dealt)
    assert dealt.start_at == server.time.store_at


async def test_after_a_step_back_a_running_race_still_ends_boards_of_players_who_left(
    server: InProcessServer,
) -> None:
    anna, bert = await server.player("Anna"), await server.player("Bert")
    await server.race(anna, bert)
    await bert.disconnect()
    await step_clock(server, -HOUR)
    await server.pass_time(0)
    await server.pass_time(ABSENCE_MILLIS)
    assert [seat.name for seat in anna.table.seats] == ["Anna"]
    assert isinstance(await anna.moves("draw"), MoveMade)
    await anna.cash_out()
    await server.pass_time(0)
    assert anna.table.phase == "over"


@pytest.mark.parametrize("step", [-HOUR, HOUR])
async def test_two_nodes_agree_on_a_countdown_whose_clock_is_stepped(
    nodes: Nodes, step: int
) -> None:
    anna, bert = await nodes.two()
    await gathered(anna, bert)
    await nodes.settle()
    await counted_down(anna, bert)
    await step_clock(nodes.east, step)
    await nodes.pass_time(1)
    await nodes.pass_time(COUNTDOWN_MILLIS)
    await nodes.west.node.clock.synchronise()
    await nodes.pass_time(COUNTDOWN_MILLIS)
    for racer in (anna, bert):
        (dealt,) = racer.received.all(Dealt)
        assert abs(dealt.start_at - nodes.east.time.store_at) <= 2 * COUNTDOWN_MILLIS + 1
        await racer.moves("draw")
