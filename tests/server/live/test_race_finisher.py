"""Races that end on one node are counted up once and announced on every node."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from kit.rooms import HouseInMemory
from kit.two_nodes import Nodes, beside
from saratoga_protocol.commands import NextRace
from saratoga_protocol.events import Done, RaceOver


@pytest.fixture
async def nodes(rooms: HouseInMemory) -> AsyncIterator[Nodes]:
    async with beside(rooms) as opened:
        yield opened


async def test_a_race_whose_end_was_missed_is_announced_all_the_same(nodes: Nodes) -> None:
    anna, bert = await nodes.two()
    code = await nodes.race(anna, bert)
    ear = nodes.west.house.peer_events
    nodes.east.fake.ears.remove(ear)
    await bert.cash_out()
    await anna.cash_out()
    await nodes.east.house.races.read_standings(nodes.east.house.races.all()[0])
    await nodes.east.settle()
    assert len(anna.heard.all(RaceOver)) == 1
    assert isinstance(await anna.ask(NextRace, table=code), Done)
    assert bert.heard.all(RaceOver) == []
    nodes.east.fake.ears.append(ear)
    await ear.opened()
    await nodes.settle()
    assert bert.heard.all(RaceOver) == anna.heard.all(RaceOver)
    assert bert.table == anna.table


async def test_two_nodes_that_count_up_at_once_make_one_result(nodes: Nodes) -> None:
    anna, bert = await nodes.two()
    code = await nodes.race(anna, bert)
    for guest in (anna, bert):
        await guest.moves("draw")
        await guest.cash_out()
    houses = (nodes.east.house, nodes.west.house)
    for house in houses:
        await house.races.read_standings(house.races.all()[0])
    await asyncio.gather(*(house.race_finisher.count_up(code) for house in houses))
    await nodes.settle()
    assert list(nodes.east.fake.records) == [(code, 1)]
    assert len(nodes.east.fake.settled) == 1
    (over,), (also,) = anna.heard.all(RaceOver), bert.heard.all(RaceOver)
    assert over == also
    assert [house.metrics.races_over for house in houses].count(1) == 1


async def test_a_race_whose_last_board_ended_on_a_node_that_died_is_counted_up(
    nodes: Nodes,
) -> None:
    anna, bert = await nodes.two()
    code = await nodes.race(anna, bert)
    await anna.cash_out()
    await nodes.settle()
    # the west commits, and has no time for anything else
    fake = nodes.east.fake
    fake.ears.clear()
    nodes.west.house.races.on_board_ended = nodes.west.house.races.on_stand = None
    await bert.cash_out()
    assert fake.records == {}
    await nodes.east.pass_time(2000)
    assert list(fake.records) == [(code, 1)]
    assert len(anna.heard.all(RaceOver)) == 1
