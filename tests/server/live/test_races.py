"""Races on a node: their boards, their standings, and the count of a finished race."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from kit.counted import counted
from kit.in_process_server import (
    InProcessServer,
    Nodes,
    cash_out_unnoticed,
    compose_node,
)
from kit.players import MemoryPlayer
from kit.stepped_store import opened_on
from saratoga_protocol.commands import JoinTable
from saratoga_protocol.events import RaceOver, Refused, Standings
from saratoga_rules.records.standing import Reached, State
from saratoga_server.domain import tables
from saratoga_server.domain.tables.countdown import MINUTE
from saratoga_server.live import finish, play
from saratoga_server.live.races import BoardLock, LiveRace
from saratoga_server.node import Node
from saratoga_server.ports import (
    LiveStanding,
    StoreUnavailable,
)
from saratoga_server.store.leaderboards import BoardKey

# Races on a node: opened from the store, and read again after another connection or node wrote


@pytest.fixture
async def elsewhere(server: InProcessServer) -> AsyncIterator[Node]:
    """Another node on the same store, which receives no events."""
    async with opened_on(server.store.server, server.time, server.faults) as store:
        node = await compose_node(store, server.time, node="other")
        yield node
        await node.stop()


async def two_racing(server: InProcessServer) -> tuple[MemoryPlayer, MemoryPlayer]:
    anna, bert = await server.player("Anna"), await server.player("Bert")
    await server.race(anna, bert)
    return anna, bert


async def race_on(node: Node, player: MemoryPlayer) -> LiveRace:
    """Return the race of the player's table as that node holds it."""
    return await node.races.of(await node.tables.get(player.table.code))


def refused(answer: object) -> tuple[str, int | None]:
    """Return the code of a refusal, and the number of moves on the board that came with it."""
    assert isinstance(answer, Refused), answer
    return answer.code, None if answer.board is None else answer.board.count


# Answers that depend on the store


async def test_a_board_has_a_longest_log(
    server: InProcessServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("saratoga_server.live.play.MOST_ENTRIES", 2)
    anna, _ = await two_racing(server)
    await anna.moves("draw", "draw")
    assert refused(await anna.move("draw"))[0] == "board_full"
    assert (await anna.cash_out()).board.state == "cash-out"


async def test_a_race_that_cannot_be_read_can_be_read_later(
    server: InProcessServer, elsewhere: Node
) -> None:
    anna, _ = await two_racing(server)
    table = await elsewhere.tables.get(anna.table.code)
    server.faults.unavailable = True
    with pytest.raises(StoreUnavailable):
        await elsewhere.races.of(table)
    assert elsewhere.races.all() == []
    server.faults.unavailable = False
    assert anna.player in (await elsewhere.races.of(table)).runs


# Standings


async def test_a_standing_never_goes_back(server: InProcessServer) -> None:
    anna, _ = await two_racing(server)
    await anna.moves("draw", "draw")
    race = await race_on(server.node, anna)
    run = race.runs[anna.player]
    newest = run.standing
    assert newest.length == 2
    older = LiveStanding(1, 9, State.RACING, "0" * 16)
    server.node.races.merge(race, {anna.player: older, "x" * 16: older})
    assert run.standing is newest
    assert "x" * 16 not in race.runs
    newer = LiveStanding(3, 9, State.RACING, "0" * 16)
    server.node.races.merge(race, {anna.player: newer})
    assert run.standing == newer
    await server.node.races.read_standings(race)
    assert run.standing == newer


async def test_standings_are_sent_to_the_table_only_if_they_differ(server: InProcessServer) -> None:
    anna, bert = await two_racing(server)
    list(server.node.broadcaster.send_standings())
    since = len(bert.received.events)
    race = await race_on(server.node, anna)
    dealt = race.runs[anna.player].standing
    server.node.races.merge(
        race, {anna.player: LiveStanding(5, dealt.banked, State.RACING, "0" * 16, dealt.reached)}
    )
    list(server.node.broadcaster.send_standings())
    assert bert.received.all(Standings, since) == []
    server.node.races.merge(
        race,
        {anna.player: LiveStanding(6, dealt.banked + 1, State.RACING, "0" * 16, Reached(900, 6))},
    )
    list(server.node.broadcaster.send_standings())
    (sent,) = bert.received.all(Standings, since)
    assert {row.player: row.banked for row in sent.standings}[anna.player] == dealt.banked + 1


# On two nodes


async def test_two_nodes_that_count_at_once_make_one_result(nodes: Nodes) -> None:
    anna, bert = await nodes.two()
    code = await nodes.race(anna, bert, races=3)
    for player in (anna, bert):
        await player.moves("draw")
        await player.cash_out()
    both = (nodes.east.node, nodes.west.node)
    for node in both:
        await node.races.read_standings(node.races.all()[0])
    await asyncio.gather(*(finish.look_at_end(node, code) for node in both))
    await nodes.settle()
    assert await nodes.east.record(code) is not None
    row = await nodes.east.real.leaderboards.row(
        BoardKey(game="canfield", ranking="bankroll", period="all", bots=False), anna.player
    )
    assert row is not None
    assert row.races == 1
    (over,), (also,) = anna.received.all(RaceOver), bert.received.all(RaceOver)
    assert over == also
    assert anna.match is not None
    assert anna.match == bert.match
    assert [len(row.results) for row in anna.match.rows] == [1, 1]
    _, stored = await nodes.east.stored(code)
    assert tables.unpack(stored).match == anna.match, "another node goes on with it"
    assert [counted(node.metrics, "races_over_total") for node in both].count(1) == 1


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


# Boards: ended by the server, and locked


async def log(server: InProcessServer, race: LiveRace, player: str) -> list[str]:
    """Return the texts of a board's log in the store."""
    board = await server.real.boards.load_board(race.code, race.number, player)
    assert board is not None
    return [entry.text for entry in board.entries]


# Endings


async def test_an_ending_whose_reply_was_lost_is_sent_at_the_next_attempt(
    server: InProcessServer,
) -> None:
    anna, _ = await two_racing(server)
    race = await race_on(server.node, anna)
    server.time.at += 10 * MINUTE
    server.faults.lost_replies = 1
    with pytest.raises(StoreUnavailable):
        await play.end_board(server.node, race, anna.player, State.OUT_OF_TIME)
    assert anna.received.endings() == []
    for _ in range(2):
        await play.end_board(server.node, race, anna.player, State.OUT_OF_TIME)
    await server.settle()
    (ended,) = anna.received.endings()
    assert ended.board.state == "out-of-time"
    assert await log(server, race, anna.player) == ["out-of-time"]


async def test_a_move_on_another_node_comes_before_an_ending_by_this_one(
    server: InProcessServer, elsewhere: Node
) -> None:
    anna, _ = await two_racing(server)
    race = await race_on(server.node, anna)
    newer = MemoryPlayer(elsewhere.dispatcher, "Anna")
    await newer.hello()
    await newer.at_table(JoinTable, table=race.code)
    await newer.moves("draw")
    assert not await play.end_board(server.node, race, anna.player, State.STUCK, length=0)
    board = race.runs[anna.player].board
    assert board is not None
    assert (board.racing, board.length) == (True, 1)
    await newer.moves("draw")
    assert await play.end_board(server.node, race, anna.player, State.LEFT)
    assert await log(server, race, anna.player) == ["draw", "draw", "left"]
    answer = await newer.move("draw")
    assert isinstance(answer, Refused)
    assert answer.code == "board_over"
    assert answer.board is not None
    assert answer.board.count == 3


# A look over the boards


async def test_an_ending_after_the_deadline_by_the_stores_clock_is_out_of_time(
    server: InProcessServer,
) -> None:
    anna, _ = await two_racing(server)
    race = await race_on(server.node, anna)
    server.time.behind = -10 * MINUTE
    server.time.at += 1
    assert await play.end_board(server.node, race, anna.player, State.LEFT)
    assert await log(server, race, anna.player) == ["out-of-time"]
    assert [ended.board.state for ended in anna.received.endings()] == ["out-of-time"]


# The lock of a board: taken at once if it is free, otherwise in order


async def test_a_lock_handed_to_a_cancelled_waiter_goes_to_the_next() -> None:
    lock = BoardLock()
    assert lock.try_acquire()
    first, second = (asyncio.create_task(lock.acquire()) for _ in range(2))
    await asyncio.sleep(0)
    lock.release()
    first.cancel()
    assert not lock.try_acquire()
    await asyncio.gather(first, return_exceptions=True)
    assert not lock.try_acquire()
    await second
    lock.release()
    assert lock.try_acquire()
