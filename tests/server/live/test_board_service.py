"""Boards of a race on a node: locked, dealt, ended, shown and read from their logs."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from kit.in_process_server import InProcessServer, compose_node
from kit.players import MemoryPlayer
from kit.stepped_store import opened_on
from saratoga_protocol.commands import JoinTable
from saratoga_protocol.events import Refused
from saratoga_rules.records.standing import State
from saratoga_server.domain.tables.countdown import MINUTE
from saratoga_server.live import play
from saratoga_server.live.races import BoardLock, LiveRace
from saratoga_server.node import Node
from saratoga_server.ports import StoreUnavailable

# Boards on a node: dealt, ended by the server, and checked


async def racing(server: InProcessServer, *names: str) -> tuple[LiveRace, list[MemoryPlayer]]:
    """Return a race that has been dealt to players of these names, and the players."""
    players = [await server.player(name) for name in names]
    code = await server.race(*players)
    return await race_on(server.node, code), players


async def race_on(node: Node, code: str) -> LiveRace:
    return await node.races.of(await node.tables.get(code))


@pytest.fixture
async def elsewhere(server: InProcessServer) -> AsyncIterator[Node]:
    """Another node on the same store, which receives no events."""
    async with opened_on(server.store.server, server.time, server.faults) as store:
        node = await compose_node(store, server.time, node="other")
        yield node
        await node.stop()


async def log(server: InProcessServer, race: LiveRace, player: str) -> list[str]:
    """Return the texts of a board's log in the store."""
    board = await server.real.boards.load_board(race.code, race.number, player)
    assert board is not None
    return [entry.text for entry in board.entries]


# Endings


async def test_an_ending_whose_reply_was_lost_is_sent_at_the_next_attempt(
    server: InProcessServer,
) -> None:
    race, (anna, _) = await racing(server, "Anna", "Bert")
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
    race, (anna, _) = await racing(server, "Anna", "Bert")
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
    race, (anna, _) = await racing(server, "Anna", "Bert")
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
