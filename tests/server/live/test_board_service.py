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


# The deal


async def test_each_racer_here_is_dealt_once_and_a_watcher_is_not(server: InProcessServer) -> None:
    cleo = await server.player("Cleo")
    players = [await server.player(name) for name in ("Anna", "Bert")]
    code = await server.race(*players)
    await cleo.at_table(JoinTable, table=code, seat=False)
    race = await race_on(server.node, code)
    play.deal(server.node, race)
    for player in players:
        (dealt,) = player.received.deals()
        assert (dealt.start_at, dealt.deadline) == (
            race.runs[player.player].start_at,
            10 * MINUTE + dealt.start_at,
        )
        assert (dealt.board.race, dealt.board.count, dealt.now) == (race.id, 0, server.time.at)
    assert cleo.received.deals() == []


# Endings


async def test_a_board_that_the_server_ends_is_stored_and_its_player_notified(
    server: InProcessServer,
) -> None:
    race, (anna, bert) = await racing(server, "Anna", "Bert")
    await anna.moves("draw")
    server.time.at += 1234
    assert await play.end_board(server.node, race, anna.player, State.LEFT)
    assert not await play.end_board(server.node, race, anna.player, State.STUCK)
    assert await log(server, race, anna.player) == ["draw", "left"]
    (ended,) = anna.received.endings()
    assert (ended.board.state, ended.board.count) == ("left", 2)
    assert (ended.place, ended.entries) == (2, ["1234 2 left"])
    assert bert.received.endings() == []
    assert race.runs[anna.player].standing.state is State.LEFT


async def test_a_board_is_ended_for_a_position_only_while_it_has_that_length(
    server: InProcessServer,
) -> None:
    race, (anna,) = await racing(server, "Anna")
    await anna.moves("draw")
    assert not await play.end_board(server.node, race, anna.player, State.STUCK, length=0)
    assert await log(server, race, anna.player) == ["draw"]
    assert await play.end_board(server.node, race, anna.player, State.STUCK, length=1)
    assert await log(server, race, anna.player) == ["draw", "stuck"]


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


async def test_a_board_that_ended_on_another_node_is_reported_and_not_ended_again(
    server: InProcessServer, elsewhere: Node
) -> None:
    race, (anna, _) = await racing(server, "Anna", "Bert")
    await play.end_board(elsewhere, await race_on(elsewhere, race.code), anna.player, State.LEFT)
    await play.end_board(server.node, race, anna.player, State.STUCK)
    await server.settle()
    (ended,) = anna.received.endings()
    assert ended.board.state == "left"
    assert await log(server, race, anna.player) == ["left"]


# A look over the boards


async def test_boards_past_their_deadline_are_ended_unless_they_have_ended(
    server: InProcessServer,
) -> None:
    race, (anna, bert) = await racing(server, "Anna", "Bert")
    await anna.cash_out()
    server.time.at += 10 * MINUTE
    await play.end_out_of_time(server.node, race)
    assert await log(server, race, anna.player) == ["cash-out"]
    assert await log(server, race, bert.player) == ["out-of-time"]


async def test_an_ending_after_the_deadline_by_the_stores_clock_is_out_of_time(
    server: InProcessServer,
) -> None:
    race, (anna, _) = await racing(server, "Anna", "Bert")
    server.time.behind = -10 * MINUTE
    server.time.at += 1
    assert await play.end_board(server.node, race, anna.player, State.LEFT)
    assert await log(server, race, anna.player) == ["out-of-time"]
    assert [ended.board.state for ended in anna.received.endings()] == ["out-of-time"]


# The stored logs of a race: what can be replayed of them, and which boards have ended


# The lock of a board: taken at once if it is free, otherwise in order


async def test_a_cancelled_waiter_leaves_the_lock_to_others() -> None:
    lock = BoardLock()
    assert lock.try_acquire()
    waiting = asyncio.create_task(lock.acquire())
    await asyncio.sleep(0)
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    lock.release()
    assert lock.try_acquire()


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
