"""Players of one table who connect to several nodes see the same as players at one node, also while nodes restart.

Every node is a server process of its own. The nodes share only a real store.
"""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from itertools import pairwise

import pytest
import pytest_asyncio

from kit.altered_server import QUICK
from kit.auditor import audit
from kit.faulty_link import open_link, to_ports
from kit.in_process_server import gathered
from kit.players import Disconnected, SocketPlayer, player_at
from kit.racing_bots import Notes, racing_bots_at
from kit.server_process import nodes_on
from kit.stores import StoreServer
from saratoga_protocol.commands import JoinTable, Start
from saratoga_protocol.events import BoardChanged, Done, Refused, Snapshot, TableChanged
from saratoga_protocol.refusals import TAKEN_OVER

NODES = 3

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def urls(store_servers: dict[str, StoreServer]) -> AsyncIterator[list[str]]:
    """Start three nodes on one store; yield their addresses."""
    store_servers["valkey"].empty()
    async with nodes_on(store_servers["valkey"].url, NODES, module=QUICK) as nodes:
        yield [node.url for node in nodes]


@asynccontextmanager
async def players(urls: list[str], *names: str) -> AsyncIterator[list[SocketPlayer]]:
    """Connect a player of each name; the players use the nodes in turn."""
    async with AsyncExitStack() as stack:
        yield [
            await stack.enter_async_context(player_at(urls[place % len(urls)], name, legal=True))
            for place, name in enumerate(names)
        ]


async def test_sixteen_players_send_commands_at_once_on_three_nodes(urls: list[str]) -> None:
    async with players(urls, *(f"Player{number}" for number in range(16))) as crowd:
        host, *others = crowd
        code = await gathered(host)
        await asyncio.gather(*(other.at_table(JoinTable, table=code) for other in others))
        answers = await asyncio.gather(*(each.ready() for each in crowd))
        assert [type(answer) for answer in answers] == [Done] * 16, answers
        assert isinstance(await host.ask(Start, table=code), Done)
        for each in crowd:
            while each.table.phase != "countdown":
                await each.received.next(TableChanged, len(each.received.events))
        answers = await asyncio.gather(*(each.reveal() for each in crowd))
        assert [type(answer) for answer in answers] == [Done] * 16, answers
        deals = await asyncio.gather(
            *(each.received.next(BoardChanged, 0, entries=[]) for each in crowd)
        )
        assert {deal.board.race for deal in deals} == {f"{code}/1"}


async def test_an_older_connection_whose_command_is_late_takes_no_seat_from_a_newer(
    urls: list[str],
) -> None:
    async with players(urls, "Konrad", "Lea") as (konrad, lea):
        code = await gathered(konrad, lea)
        async with player_at(urls[2], "Konrad") as late, player_at(urls[1], "Konrad") as newer:
            await newer.at_table(JoinTable, table=code)
            assert await konrad.closed() == (TAKEN_OVER.code, TAKEN_OVER.reason)
            assert await late.refused(JoinTable, table=code) == "taken_over"
            assert await late.closed() == (TAKEN_OVER.code, TAKEN_OVER.reason)
            assert isinstance(await newer.ready(), Done)


async def test_a_player_that_joins_several_tables_at_once_sits_at_one(
    urls: list[str],
) -> None:
    async with players(urls, "Moritz", "Nora", "Olga") as hosts, AsyncExitStack() as stack:
        codes = [await gathered(host) for host in hosts]
        paulas = [await stack.enter_async_context(player_at(door, "Paula")) for door in urls * 2]
        asked = [
            paula.ask(JoinTable, table=codes[place % len(codes)])
            for place, paula in enumerate(paulas[1:] + paulas[:1])
        ]
        for answer in await asyncio.gather(*asked, return_exceptions=True):
            # another connection of this player has taken the seat
            if isinstance(answer, Disconnected):
                assert answer.code == TAKEN_OVER.code
            else:
                refusals = ("elsewhere", "taken_over")
                refused = isinstance(answer, Refused) and answer.code in refusals
                assert refused or isinstance(answer, Snapshot), answer
        seated = []
        for host, code in zip(hosts, codes, strict=True):
            table = (await host.at_table(JoinTable, table=code, seat=False)).table
            seated += [code for seat in table.seats if seat.name == "Paula"]
        assert len(seated) <= 1


PACE = 60.0
"""Moves a second of each player."""
LONGEST_PAUSE = 2.0
"""Longest pause in seconds for a player, as server/README.md promises."""


def pauses(notes: Notes) -> Iterator[float]:
    """Yield each player's pause at each restart: seconds between two answers, less the usual time of a move."""
    for before, after in pairwise(notes.acknowledged):
        changed = any(before.moment < at <= after.moment for at in notes.connected[1:])
        if changed and before.race == after.race:
            yield max(0.0, after.moment - before.moment - 1 / PACE)


@pytest.mark.long
@pytest.mark.asyncio(loop_scope="function")
async def test_a_rolling_restart_loses_nothing(store_servers: dict[str, StoreServer]) -> None:
    store = store_servers["valkey"]
    store.empty()
    async with (
        nodes_on(store.url, 3, module=QUICK) as nodes,
        open_link(to_ports(*(node.port for node in nodes))) as balancer,
        racing_bots_at(balancer.url, ("lady-palk",), PACE, nodes[0], store.url) as bots,
    ):
        for node in nodes:
            await bots.mid_race()
            assert await node.stop() == 0
            await node.start()
        await bots.finish()
        waited = [each for player in bots.players for each in pauses(player.notes)]
        await audit(bots)
        assert waited, "no player had to change nodes in mid-race"
        assert max(waited) <= LONGEST_PAUSE
