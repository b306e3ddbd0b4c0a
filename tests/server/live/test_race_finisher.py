"""Finished races are counted once, by any node, and announced once on every node."""

import asyncio

import pytest

from kit.in_process_server import InProcessServer, cash_out_unnoticed
from kit.players import MemoryPlayer
from kit.two_nodes import Nodes
from saratoga_protocol.commands import NextRace
from saratoga_protocol.events import BoardEnded, Done, RaceOver, Standings
from saratoga_rules.dealing.deal import deal_for_key
from saratoga_rules.records.record import parse_record
from saratoga_rules.records.standing import State
from saratoga_server.domain import tables
from saratoga_server.domain.results import recorded_outcome
from saratoga_server.live.live_table import LiveTable
from saratoga_server.live.race_finisher import Finish, RaceFinisher
from saratoga_server.live.stored_logs import StoredLogs
from saratoga_server.ports import TableWrite, unpack_settlement
from saratoga_server.store.leaderboards import BoardKey


@pytest.fixture
def finisher(server: InProcessServer) -> RaceFinisher:
    logs = StoredLogs(server.store.boards, deal_for_key)
    return RaceFinisher(server.store.tables, server.node.races, logs, server.node.broadcaster)


async def table_of(server: InProcessServer, *players: MemoryPlayer) -> LiveTable:
    """Return a table at which the players race."""
    return await server.node.table_cache.get(await server.race(*players))


async def counted(server: InProcessServer, finisher: RaceFinisher) -> tuple[LiveTable, Finish]:
    """Return the table and the result of a race of Anna's and Bert's that is not stored yet."""
    anna, bert = await server.player("Anna"), await server.player("Bert")
    table = await table_of(server, anna, bert)
    for player in (anna, bert):
        await player.moves("draw")
        await cash_out_unnoticed(server, player)
    finish = await finisher.count(table)
    assert finish is not None
    return table, finish


# On one node


async def test_a_race_is_counted_when_its_last_board_has_ended(
    server: InProcessServer, finisher: RaceFinisher
) -> None:
    anna, bert = await server.player("Anna"), await server.player("Bert")
    table = await table_of(server, anna, bert)
    for player in (anna, bert):
        await player.moves("draw")
        assert await finisher.count(table) is None
        await cash_out_unnoticed(server, player)
    finish = await finisher.count(table)
    assert finish is not None
    assert finish.write.race == 1
    assert recorded_outcome(finish.write.record) == finish.outcome
    assert parse_record(finish.write.record).race_id == table.state.race_id
    assert finish.write.settlement is not None
    settlement = unpack_settlement(finish.write.settlement)
    assert settlement.results == tuple(finish.outcome.results)
    assert await server.record(table.code) is None, "to write it is left to the caller"


async def test_only_a_running_race_is_counted(
    server: InProcessServer, finisher: RaceFinisher
) -> None:
    anna = await server.player("Anna")
    table = await table_of(server, anna)
    await anna.cash_out()
    await server.settle()
    assert table.state.phase == "over"
    assert await finisher.count(table) is None


async def test_a_result_is_announced_once_and_no_standings_follow_it(
    server: InProcessServer, finisher: RaceFinisher
) -> None:
    table, finish = await counted(server, finisher)
    anna, _ = server.players
    server.node.broadcaster.standings_changed(table.code, server.node.races.all()[0].standings)
    for _ in range(2):
        finisher.announce(table, finish.outcome)
    since = len(anna.received.events)
    list(server.node.broadcaster.send_standings())
    assert [over.outcome for over in anna.received.all(RaceOver)] == [finish.outcome]
    assert anna.received.all(Standings, since) == []


async def test_a_missed_race_is_announced_from_its_record(
    server: InProcessServer, finisher: RaceFinisher
) -> None:
    table, finish = await counted(server, finisher)
    anna, _ = server.players
    await finisher.announce_missed(table, 1)
    assert anna.received.all(RaceOver) == [], "there is no record: its countdown was voided"
    server.tap.is_deaf = True
    version, body = await server.stored(table.code)
    write = TableWrite(
        code=table.code, expected=version, body=body, due=None, race=1, finish=finish.write
    )
    assert await server.real.tables.save_table(write)
    await finisher.announce_missed(table, 1)
    assert [over.outcome for over in anna.received.all(RaceOver)] == [finish.outcome]
    assert anna.received.all(Standings)[-1].race == table.state.race_id


# On two nodes


async def test_a_race_whose_end_was_missed_is_announced_all_the_same(nodes: Nodes) -> None:
    anna, bert = await nodes.two()
    code = await nodes.race(anna, bert)
    nodes.west.tap.is_deaf = True
    await bert.cash_out()
    await anna.cash_out()
    east = nodes.east.node
    await east.table_service.check_race(await east.table_cache.get(code))
    await nodes.east.settle()
    assert len(anna.received.all(RaceOver)) == 1
    assert isinstance(await anna.ask(NextRace, table=code), Done)
    assert bert.received.all(RaceOver) == []
    nodes.west.tap.is_deaf = False
    await nodes.west.node.peer_events.subscribed()
    await nodes.settle()
    assert bert.received.all(RaceOver) == anna.received.all(RaceOver)
    assert bert.table == anna.table


async def test_the_ending_of_a_board_is_sent_before_the_result(nodes: Nodes) -> None:
    anna, bert = await nodes.two()
    code = await nodes.race(anna, bert)
    nodes.west.tap.is_deaf = True
    east = nodes.east.node
    await anna.cash_out()
    await east.table_service.end_board(east.races.all()[0], bert.player, State.LEFT)
    await nodes.east.settle()
    assert bert.received.all(BoardEnded) == []
    await nodes.west.node.table_service.refresh(code)
    ends = [
        type(event) for event in bert.received.events if isinstance(event, BoardEnded | RaceOver)
    ]
    assert ends == [BoardEnded, RaceOver]


async def test_two_nodes_that_count_at_once_make_one_result(nodes: Nodes) -> None:
    anna, bert = await nodes.two()
    code = await nodes.race(anna, bert, races=3)
    for player in (anna, bert):
        await player.moves("draw")
        await player.cash_out()
    both = (nodes.east.node, nodes.west.node)
    for node in both:
        await node.races.read_standings(node.races.all()[0])
    await asyncio.gather(*(node.table_service.finish(code) for node in both))
    await nodes.settle()
    assert await nodes.east.record(code) is not None
    row = await nodes.east.real.leaderboards.row(
        BoardKey(game="canfield", ranking="bankroll", period="all", bots=False), anna.player
    )
    assert row is not None
    assert row.races == 1
    (over,), (also,) = anna.received.all(RaceOver), bert.received.all(RaceOver)
    assert over == also
    assert anna.table.match is not None
    assert anna.table.match == bert.table.match
    assert [len(row.results) for row in anna.table.match.rows] == [1, 1]
    _, stored = await nodes.east.stored(code)
    assert tables.unpack(stored).match == anna.table.match, "another node goes on with it"
    assert [node.metrics.races_over for node in both].count(1) == 1


async def test_a_race_whose_last_board_ended_on_a_node_that_died_is_counted(
    nodes: Nodes,
) -> None:
    anna, bert = await nodes.two()
    code = await nodes.race(anna, bert)
    await anna.cash_out()
    await nodes.settle()
    await cash_out_unnoticed(nodes.west, bert)
    assert await nodes.east.record(code) is None
    nodes.east.tap.is_deaf = nodes.west.tap.is_deaf = True
    await nodes.east.pass_time(2000)
    assert await nodes.east.record(code) is not None
    assert len(anna.received.all(RaceOver)) == 1
