"""Boards on a node, other than by moves: dealt at once, ended by the server, looked over."""

from collections.abc import AsyncIterator

import pytest

from kit.fake_store import fake_store
from kit.guests import GuestInMemory
from kit.rooms import HouseInMemory, open_in_memory
from saratoga_protocol.commands import Resume, WatchTable
from saratoga_protocol.events import BoardEnded, Dealt, Refused, Standings
from saratoga_rules.records.standing import State
from saratoga_server.domain.board import IDLE_MILLIS
from saratoga_server.domain.tables.countdown import MINUTE
from saratoga_server.live.live_race import LiveRace
from saratoga_server.node import Node
from saratoga_server.ports import StoreUnavailable


async def racing(rooms: HouseInMemory, *names: str) -> tuple[LiveRace, list[GuestInMemory]]:
    """Return a race that has been dealt to players of these names, and the players."""
    guests = [await rooms.guest(name) for name in names]
    code = await rooms.race(*guests)
    return await race_on(rooms.house, code), guests


async def race_on(node: Node, code: str) -> LiveRace:
    return await node.races.of(await node.table_cache.get(code))


@pytest.fixture
async def elsewhere(rooms: HouseInMemory) -> AsyncIterator[Node]:
    """Another node on the same store; neither hears of the other."""
    node = await open_in_memory(fake_store(rooms.fake), rooms.time, node="other")
    yield node
    await node.stop()


def log(rooms: HouseInMemory, race: LiveRace, player: str) -> list[str]:
    """Return the texts of a board's log in the store."""
    return [entry.text for entry in rooms.fake.races[race.code, race.number].boards[player].log]


# The deal


async def test_each_racer_here_is_dealt_once_and_a_watcher_is_not(rooms: HouseInMemory) -> None:
    cleo = await rooms.guest("Cleo")
    guests = [await rooms.guest(name) for name in ("Anna", "Bert")]
    code = await rooms.race(*guests)
    await cleo.at_table(WatchTable, table=code)
    race = await race_on(rooms.house, code)
    table = await rooms.house.table_cache.get(code)
    rooms.house.boards.deal(table, race)
    for guest in guests:
        (dealt,) = guest.heard.all(Dealt)
        assert (dealt.start_at, dealt.deadline) == (
            race.runs[guest.player].start_at,
            10 * MINUTE + dealt.start_at,
        )
        assert (dealt.board.race, dealt.board.count, dealt.now) == (race.id, 0, rooms.time.at)
    assert cleo.heard.all(Dealt) == []


async def test_the_standings_follow_the_deal(rooms: HouseInMemory) -> None:
    race, (anna, bert) = await racing(rooms, "Anna", "Bert")
    for guest in (anna, bert):
        (standings,) = guest.heard.all(Standings)
        assert standings == race.standings()


# Endings


async def test_a_board_that_the_server_ends_is_stored_and_its_player_told(
    rooms: HouseInMemory,
) -> None:
    race, (anna, bert) = await racing(rooms, "Anna", "Bert")
    await anna.moves("draw")
    rooms.time.at += 1234
    assert await rooms.house.boards.end(race, anna.player, State.LEFT)
    assert not await rooms.house.boards.end(race, anna.player, State.STUCK)
    assert log(rooms, race, anna.player) == ["draw", "left"]
    (ended,) = anna.heard.all(BoardEnded)
    assert (ended.board.state, ended.board.count, ended.at) == ("left", 2, 1234)
    assert bert.heard.all(BoardEnded) == []
    assert race.runs[anna.player].standing.state is State.LEFT


async def test_a_board_is_ended_for_a_position_only_while_it_has_that_length(
    rooms: HouseInMemory,
) -> None:
    race, (anna,) = await racing(rooms, "Anna")
    await anna.moves("draw")
    assert not await rooms.house.boards.end(race, anna.player, State.STUCK, length=0)
    assert log(rooms, race, anna.player) == ["draw"]
    assert await rooms.house.boards.end(race, anna.player, State.STUCK, length=1)
    assert log(rooms, race, anna.player) == ["draw", "stuck"]


async def test_an_ending_whose_reply_was_lost_is_told_at_the_next_attempt(
    rooms: HouseInMemory,
) -> None:
    race, (anna, _) = await racing(rooms, "Anna", "Bert")
    rooms.time.at += 10 * MINUTE
    rooms.fake.lose_answers = 1
    with pytest.raises(StoreUnavailable):
        await rooms.house.boards.end(race, anna.player, State.OUT_OF_TIME)
    assert anna.heard.all(BoardEnded) == []
    for _ in range(2):
        await rooms.house.boards.end(race, anna.player, State.OUT_OF_TIME)
    (ended,) = anna.heard.all(BoardEnded)
    assert ended.board.state == "out of time"
    assert log(rooms, race, anna.player) == ["out-of-time"]


async def test_a_move_on_another_node_comes_before_an_ending_by_this_one(
    rooms: HouseInMemory, elsewhere: Node
) -> None:
    race, (anna, _) = await racing(rooms, "Anna", "Bert")
    newer = GuestInMemory(elsewhere.dispatcher, "Anna")
    await newer.hello()
    await newer.at_table(Resume, table=race.code)
    await newer.moves("draw")
    assert not await rooms.house.boards.end(race, anna.player, State.STUCK, length=0)
    board = race.runs[anna.player].board
    assert board is not None
    assert (board.racing, board.length) == (True, 1)
    await newer.moves("draw")
    assert await rooms.house.boards.end(race, anna.player, State.LEFT)
    assert log(rooms, race, anna.player) == ["draw", "draw", "left"]
    answer = await newer.move("draw")
    assert isinstance(answer, Refused)
    assert answer.code == "board_over"
    assert answer.board is not None
    assert answer.board.count == 3


async def test_a_board_that_ended_on_another_node_is_told_here_and_not_ended_again(
    rooms: HouseInMemory, elsewhere: Node
) -> None:
    race, (anna, _) = await racing(rooms, "Anna", "Bert")
    await elsewhere.boards.end(await race_on(elsewhere, race.code), anna.player, State.LEFT)
    assert await rooms.house.boards.end(race, anna.player, State.STUCK)
    (ended,) = anna.heard.all(BoardEnded)
    assert ended.board.state == "left"
    assert log(rooms, race, anna.player) == ["left"]


# A look over the boards


async def test_a_look_finds_nothing_among_boards_that_are_played(rooms: HouseInMemory) -> None:
    race, _ = await racing(rooms, "Anna", "Bert")
    assert await rooms.house.boards.sweep(race) == []
    assert {run.standing.state for run in race.runs.values()} == {State.RACING}


async def test_boards_past_their_deadline_are_ended_unless_they_have_ended(
    rooms: HouseInMemory,
) -> None:
    race, (anna, bert) = await racing(rooms, "Anna", "Bert")
    await anna.cash_out()
    rooms.time.at += 10 * MINUTE
    assert await rooms.house.boards.sweep(race) == []
    assert log(rooms, race, anna.player) == ["cash-out"]
    assert log(rooms, race, bert.player) == ["out-of-time"]


async def test_idle_racers_are_found_by_the_newest_log(
    rooms: HouseInMemory, elsewhere: Node
) -> None:
    race, (_, bert) = await racing(rooms, "Anna", "Bert")
    newer = GuestInMemory(elsewhere.dispatcher, "Anna")
    await newer.hello()
    await newer.at_table(Resume, table=race.code)
    rooms.time.at += IDLE_MILLIS
    await newer.moves("draw")  # this node has not heard of it
    assert await rooms.house.boards.sweep(race) == [bert.player]
