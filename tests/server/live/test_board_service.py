"""Boards on a node: dealt, ended by the server, and checked."""

from collections.abc import AsyncIterator

import pytest

from kit.in_process_server import InProcessServer, compose_node
from kit.players import MemoryPlayer
from kit.stepped_store import opened_on
from saratoga_protocol.commands import Resume, WatchTable
from saratoga_protocol.events import BoardEnded, Dealt, Refused, Standings
from saratoga_rules.records.standing import IDLE_MILLIS, LAST_BOARD_MILLIS, State
from saratoga_server.domain.tables.countdown import MINUTE
from saratoga_server.live.live_race import LiveRace
from saratoga_server.node import Node
from saratoga_server.ports import Millis, StoreUnavailable


async def racing(server: InProcessServer, *names: str) -> tuple[LiveRace, list[MemoryPlayer]]:
    """Return a race that has been dealt to players of these names, and the players."""
    players = [await server.player(name) for name in names]
    code = await server.race(*players)
    return await race_on(server.node, code), players


async def race_on(node: Node, code: str) -> LiveRace:
    return await node.races.of(await node.table_cache.get(code))


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
    await cleo.at_table(WatchTable, table=code)
    race = await race_on(server.node, code)
    table = await server.node.table_cache.get(code)
    server.node.boards.deal(table, race)
    for player in players:
        (dealt,) = player.received.all(Dealt)
        assert (dealt.start_at, dealt.deadline) == (
            race.runs[player.player].start_at,
            10 * MINUTE + dealt.start_at,
        )
        assert (dealt.board.race, dealt.board.count, dealt.now) == (race.id, 0, server.time.at)
    assert cleo.received.all(Dealt) == []


async def test_the_standings_follow_the_deal(server: InProcessServer) -> None:
    race, (anna, bert) = await racing(server, "Anna", "Bert")
    for player in (anna, bert):
        (standings,) = player.received.all(Standings)
        assert standings == race.standings()


# Endings


async def test_a_board_that_the_server_ends_is_stored_and_its_player_notified(
    server: InProcessServer,
) -> None:
    race, (anna, bert) = await racing(server, "Anna", "Bert")
    await anna.moves("draw")
    server.time.at += 1234
    assert await server.node.boards.end(race, anna.player, State.LEFT)
    assert not await server.node.boards.end(race, anna.player, State.STUCK)
    assert await log(server, race, anna.player) == ["draw", "left"]
    (ended,) = anna.received.all(BoardEnded)
    assert (ended.board.state, ended.board.count, ended.at) == ("left", 2, 1234)
    assert bert.received.all(BoardEnded) == []
    assert race.runs[anna.player].standing.state is State.LEFT


async def test_a_board_is_ended_for_a_position_only_while_it_has_that_length(
    server: InProcessServer,
) -> None:
    race, (anna,) = await racing(server, "Anna")
    await anna.moves("draw")
    assert not await server.node.boards.end(race, anna.player, State.STUCK, length=0)
    assert await log(server, race, anna.player) == ["draw"]
    assert await server.node.boards.end(race, anna.player, State.STUCK, length=1)
    assert await log(server, race, anna.player) == ["draw", "stuck"]


async def test_the_host_ends_a_board_a_minute_after_the_others_have_ended(
    server: InProcessServer,
) -> None:
    race, (anna, bert) = await racing(server, "Anna", "Bert")
    await server.node.boards.end(race, bert.player, State.LEFT)
    server.time.at += LAST_BOARD_MILLIS - 1
    assert not await server.node.boards.end(race, anna.player, State.ENDED_BY_HOST)
    server.time.at += 1
    assert await server.node.boards.end(race, anna.player, State.ENDED_BY_HOST)
    assert await log(server, race, anna.player) == ["ended-by-host"]


async def test_an_ending_whose_reply_was_lost_is_sent_at_the_next_attempt(
    server: InProcessServer,
) -> None:
    race, (anna, _) = await racing(server, "Anna", "Bert")
    server.time.at += 10 * MINUTE
    server.faults.lost_replies = 1
    with pytest.raises(StoreUnavailable):
        await server.node.boards.end(race, anna.player, State.OUT_OF_TIME)
    assert anna.received.all(BoardEnded) == []
    for _ in range(2):
        await server.node.boards.end(race, anna.player, State.OUT_OF_TIME)
    (ended,) = anna.received.all(BoardEnded)
    assert ended.board.state == "out of time"
    assert await log(server, race, anna.player) == ["out-of-time"]


async def test_a_move_on_another_node_comes_before_an_ending_by_this_one(
    server: InProcessServer, elsewhere: Node
) -> None:
    race, (anna, _) = await racing(server, "Anna", "Bert")
    newer = MemoryPlayer(elsewhere.dispatcher, "Anna")
    await newer.hello()
    await newer.at_table(Resume, table=race.code)
    await newer.moves("draw")
    assert not await server.node.boards.end(race, anna.player, State.STUCK, length=0)
    board = race.runs[anna.player].board
    assert board is not None
    assert (board.racing, board.length) == (True, 1)
    await newer.moves("draw")
    assert await server.node.boards.end(race, anna.player, State.LEFT)
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
    await elsewhere.boards.end(await race_on(elsewhere, race.code), anna.player, State.LEFT)
    assert await server.node.boards.end(race, anna.player, State.STUCK)
    (ended,) = anna.received.all(BoardEnded)
    assert ended.board.state == "left"
    assert await log(server, race, anna.player) == ["left"]


# A look over the boards


async def test_a_look_finds_nothing_among_boards_that_are_played(server: InProcessServer) -> None:
    race, _ = await racing(server, "Anna", "Bert")
    assert await server.node.boards.sweep(race, Millis(0)) == []
    assert {run.standing.state for run in race.runs.values()} == {State.RACING}


async def test_boards_past_their_deadline_are_ended_unless_they_have_ended(
    server: InProcessServer,
) -> None:
    race, (anna, bert) = await racing(server, "Anna", "Bert")
    await anna.cash_out()
    server.time.at += 10 * MINUTE
    assert await server.node.boards.sweep(race, Millis(0)) == []
    assert await log(server, race, anna.player) == ["cash-out"]
    assert await log(server, race, bert.player) == ["out-of-time"]


async def test_an_ending_after_the_deadline_by_the_stores_clock_is_out_of_time(
    server: InProcessServer,
) -> None:
    race, (anna, _) = await racing(server, "Anna", "Bert")
    server.time.behind = -10 * MINUTE
    server.time.at += 1
    assert await server.node.boards.end(race, anna.player, State.LEFT)
    assert await log(server, race, anna.player) == ["out-of-time"]
    assert [ended.board.state for ended in anna.received.all(BoardEnded)] == ["out of time"]


async def test_idle_racers_are_found_by_the_newest_log(
    server: InProcessServer, elsewhere: Node
) -> None:
    race, (_, bert) = await racing(server, "Anna", "Bert")
    newer = MemoryPlayer(elsewhere.dispatcher, "Anna")
    await newer.hello()
    await newer.at_table(Resume, table=race.code)
    server.time.at += IDLE_MILLIS
    await newer.moves("draw")  # this node has not noticed the change
    assert await server.node.boards.sweep(race, Millis(0)) == [bert.player]
