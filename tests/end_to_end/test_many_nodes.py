"""Players of one table who connect to several nodes see the same as players at one node.

Every node is a server process of its own. The nodes share only a real store.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

import pytest
import pytest_asyncio

from kit.altered_server import QUICK
from kit.in_process_server import counted_down, gathered
from kit.player_sockets import SocketPlayer, player_at
from kit.players import Disconnected
from kit.server_process import nodes_on
from kit.stores import StoreServer
from saratoga_protocol.commands import (
    CashOut,
    ChangeSettings,
    ClaimName,
    GetLeaderboard,
    GetRecord,
    JoinTable,
    Kick,
    LeaveTable,
    Start,
)
from saratoga_protocol.events import (
    Announcement,
    BoardChanged,
    BoardView,
    Done,
    Leaderboard,
    RaceOver,
    Record,
    Refused,
    SeatLost,
    Snapshot,
    Standings,
    Table,
    TableChanged,
)
from saratoga_protocol.refusals import BANNED, TAKEN_OVER
from saratoga_rules.records.verify import verify
from saratoga_server.admin.acts import Administration
from saratoga_server.node import Node
from saratoga_server.store.opening import open_store

NODES = 3
NAMES = ("Anna", "Bert", "Cleo", "Dora")

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


@asynccontextmanager
async def administration(store_servers: dict[str, StoreServer]) -> AsyncIterator[Administration]:
    """Administration of the store that the nodes share."""
    async with open_store(store_servers["valkey"].url) as store:
        yield Administration(store, (await Node.for_administration(store)).tables, "zoe@host")


async def plays(racer: SocketPlayer, moves: int) -> BoardView:
    """Make this many moves, to the foundations where possible."""
    for _ in range(moves):
        legal = racer.board.legal
        assert legal
        banking = [move for move in legal if move.endswith(">up")]
        answer = await racer.move(
            (banking or [move for move in legal if move == "draw"] or legal)[0]
        )
        assert isinstance(answer, BoardChanged), answer
    return racer.board


async def stands(watching: SocketPlayer, player: str, banked: int) -> None:
    """Wait until `watching` has received a standing with this many cards banked by `player`."""
    since = 0
    while True:
        for standings in watching.received.all(Standings, since):
            if any(row.player == player and row.banked == banked for row in standings.standings):
                return
        since = len(watching.received.events)
        await watching.received.next(Standings, since)


async def all_see(players: list[SocketPlayer], newest_at: SocketPlayer) -> Table:
    """Wait until all players have received the newest version of the table."""
    newest = newest_at.table
    for other in players:
        while other.table.version < newest.version:
            await other.received.next(TableChanged, len(other.received.events))
        assert other.table == newest
    return newest


async def test_a_race_over_three_nodes_is_one_race(urls: list[str]) -> None:
    async with players(urls, *NAMES) as racers, player_at(urls[1], "Wanda") as wanda:
        code = await gathered(*racers)
        await wanda.at_table(JoinTable, table=code, seat=False)
        await counted_down(*racers)
        deals = [await racer.received.next(BoardChanged, 0, entries=[]) for racer in racers]
        assert len({deal.start_at for deal in deals}) == 1
        assert len({str(deal.board.view) for deal in deals}) == 1
        boards = [await plays(racer, 12) for racer in racers]
        all_players = [*racers, wanda]
        for racer, board in zip(racers, boards, strict=True):
            for other in all_players:
                await stands(other, racer.player, board.banked)
        for racer in racers:
            await racer.ask(CashOut, race=racer.board.race)
        overs = [await other.received.next(RaceOver, 0) for other in all_players]
        assert all(over == overs[0] for over in overs)
        record = await wanda.ask(GetRecord, race=overs[0].outcome.race)
        assert isinstance(record, Record)
        assert verify(record.text.encode()).ok
        await all_see(all_players, racers[0])
        assert {other.table.phase for other in all_players} == {"over"}
        # A duplicate event would have arrived by now.
        await racers[0].ask(LeaveTable, table=code)
        while racers[0].player in {seat.player for seat in racers[1].table.seats}:
            await racers[1].received.next(TableChanged, len(racers[1].received.events))
        await all_see(all_players[1:], racers[1])
        assert [len(other.received.all(RaceOver)) for other in all_players] == [1] * len(
            all_players
        )


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


async def test_a_newer_connection_at_another_node_takes_the_seat_over(urls: list[str]) -> None:
    async with players(urls, "Emil", "Fritz") as (emil, fritz):
        code = await gathered(emil, fritz)
        await counted_down(emil, fritz)
        await emil.received.next(BoardChanged, 0, entries=[])
        await plays(emil, 3)
        async with player_at(urls[2], "Emil", legal=True) as newer:
            snapshot = await newer.at_table(JoinTable, table=code)
            assert snapshot.board is not None
            assert snapshot.board.count == 3
            assert await emil.closed() == (TAKEN_OVER.code, TAKEN_OVER.reason)
            board = await plays(newer, 3)
            await stands(fritz, newer.player, board.banked)
            await newer.ask(CashOut, race=board.race)
        await fritz.ask(CashOut, race=board.race)
        over = await fritz.received.next(RaceOver, 0)
        assert {row.player: row.moves for row in over.outcome.results}[emil.player] == 6


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


async def test_changes_of_a_table_are_seen_at_every_node(urls: list[str]) -> None:
    async with players(urls, "Gina", "Hans", "Ilse") as crowd, player_at(urls[0], "Wim") as wim:
        gina, hans, ilse = crowd
        code = await gathered(*crowd)
        await wim.at_table(JoinTable, table=code, seat=False)
        all_players = [*crowd, wim]
        await gina.ask(ChangeSettings, table=code, game="lady-palk", cap=5)
        table = await all_see(all_players, gina)
        assert (table.settings.game, table.settings.cap) == ("lady-palk", 5)
        await hans.ask(ClaimName, name="Johannes")
        table = await all_see(all_players, hans)
        assert [seat.name for seat in table.seats] == ["Gina", "Johannes", "Ilse"]
        await gina.ask(Kick, table=code, player=ilse.player)
        lost = await ilse.received.next(SeatLost, 0)
        assert lost.reason == "The host has kicked you from the table."
        assert await ilse.refused(JoinTable, table=code) == "kicked"
        await gina.ask(LeaveTable, table=code)
        while wim.table.host != hans.player:
            await wim.received.next(TableChanged, len(wim.received.events))
        assert [seat.name for seat in wim.table.seats] == ["Johannes"]


async def test_an_administrators_commands_take_effect_at_every_node(
    urls: list[str], store_servers: dict[str, StoreServer]
) -> None:
    async with (
        players(urls, "Jutta", "Karl", "Lena") as crowd,
        administration(store_servers) as zoe,
    ):
        jutta, karl, lena = crowd
        code = await gathered(jutta, karl)
        assert await zoe.announce("We close at ten.") == NODES
        for each in crowd:
            await each.received.next(Announcement, 0, text="We close at ten.")
        await zoe.rename("Karl", "Karlheinz")
        while jutta.table.seats[1].name != "Karlheinz":
            await jutta.received.next(TableChanged, len(jutta.received.events))
        await zoe.ban("Lena")
        assert (await lena.closed())[0] == BANNED.code
        await zoe.close(code, "Enough.")
        for each in (jutta, karl):
            assert (await each.received.next(SeatLost, 0)).reason == "Enough."


async def test_results_at_one_node_reach_subscribers_of_the_leaderboard_at_another(
    urls: list[str],
) -> None:
    async with players(urls, "Mia", "Nils") as racers, player_at(urls[2], "Otto") as otto:
        page = await otto.ask(GetLeaderboard, follow=True, game="canfield-aisleriot")
        assert isinstance(page, Leaderboard)
        code = await gathered(*racers, game="canfield-aisleriot")
        await counted_down(*racers)
        for racer in racers:
            await racer.received.next(BoardChanged, 0, entries=[])
            await plays(racer, 2)
            await racer.ask(CashOut, race=f"{code}/1")
        page = await otto.received.next(Leaderboard, 0, re=None)
        assert {row.race for row in page.rows} >= {f"{code}/1"}
