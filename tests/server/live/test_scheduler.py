"""Everything that happens by the clock, and a server that was away, or whose store lost a reply."""

import asyncio
from collections.abc import AsyncIterator, Iterable

import msgspec
import pytest

from kit.messages import COMMANDS
from kit.rooms import HouseInMemory, cash_out_unnoticed, counted_down, gathered, listed
from kit.two_nodes import Nodes, beside
from saratoga_protocol.commands import JoinTable, LeaveTable, Resume
from saratoga_protocol.events import Alive, Dealt, Done, RaceOver, Refused, Standings
from saratoga_server.domain.tables import Change, TableState, disconnect
from saratoga_server.domain.tables.countdown import COUNTDOWN_MILLIS
from saratoga_server.domain.tables.timers import ABSENCE_MILLIS, LATE_MILLIS, LOOK_MILLIS
from saratoga_server.live.scheduler import MOST_DUE, RETRY_MILLIS
from saratoga_server.ports import LiveStanding, Millis, StoreUnavailable, TableWrite


@pytest.fixture
async def nodes(rooms: HouseInMemory) -> AsyncIterator[Nodes]:
    async with beside(rooms) as opened:
        yield opened


async def test_timers_ticks_and_signs_of_life_go_on_until_cancelled(rooms: HouseInMemory) -> None:
    anna = await rooms.guest("Anna")
    await gathered(anna)
    await counted_down(anna)
    rooms.time.at += COUNTDOWN_MILLIS
    rooms.fake.nodes.clear()
    running = asyncio.create_task(rooms.house.scheduler.run())
    await anna.heard.next(Dealt, 0)
    await anna.heard.next(Standings, 0)
    assert rooms.fake.nodes == {rooms.house.name}
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running


# Timers of tables


async def test_a_countdown_continues_on_a_server_that_was_restarted(
    rooms: HouseInMemory,
) -> None:
    anna, bert = await rooms.guest("Anna"), await rooms.guest("Bert")
    code = await gathered(anna, bert)
    await counted_down(anna, bert)
    await rooms.restart()
    back = await rooms.guest("Anna")
    await back.at_table(Resume, table=code)
    await rooms.pass_time(COUNTDOWN_MILLIS)
    assert len(back.heard.all(Dealt)) == 1
    late = await rooms.guest("Bert")
    snapshot = await late.at_table(Resume, table=code)
    assert snapshot.board == back.board


async def test_a_timer_runs_out_though_nobody_comes_back_after_a_restart(
    rooms: HouseInMemory,
) -> None:
    anna = await rooms.guest("Anna")
    code = await gathered(anna)
    await counted_down(anna)
    await rooms.restart()
    await rooms.pass_time(COUNTDOWN_MILLIS)
    assert (code, 1) in rooms.fake.races


async def test_with_other_nodes_an_unknown_tables_timer_is_left_to_them_for_one_look(
    nodes: Nodes,
) -> None:
    anna = await nodes.east.guest("Anna")
    code = await gathered(anna)
    await counted_down(anna)
    west = nodes.west.house
    nodes.east.time.at += COUNTDOWN_MILLIS
    west.peers.seen()
    await west.scheduler.sweep()
    assert (code, 1) not in nodes.east.fake.races, "the east usually does it"
    await west.scheduler.sweep()
    assert (code, 1) in nodes.east.fake.races


async def test_a_start_that_comes_late_moves_the_clock_along(rooms: HouseInMemory) -> None:
    anna = await rooms.guest("Anna")
    code = await gathered(anna)
    await counted_down(anna)
    await rooms.pass_time(COUNTDOWN_MILLIS + 60_000)
    (dealt,) = anna.heard.all(Dealt)
    assert dealt.start_at == rooms.time.at
    assert rooms.fake.races[code, 1].start_at == rooms.time.at


async def test_a_node_whose_clock_is_ahead_ends_a_race_soon_after_its_deadline(
    rooms: HouseInMemory,
) -> None:
    anna, bert = await rooms.guest("Anna"), await rooms.guest("Bert")
    await rooms.race(anna, bert, cap=3)
    deadline = anna.heard.all(Dealt)[0].deadline
    assert deadline
    rooms.fake.clock = lambda: Millis(rooms.time.at - 300)
    await rooms.pass_time(deadline - rooms.time.at)
    assert anna.table.phase == "running", "by the store's clock there is time"
    await rooms.pass_time(LATE_MILLIS)
    assert anna.table.phase == "over"
    (over,) = anna.heard.all(RaceOver)
    assert {row.state for row in over.outcome.results} == {"out of time"}


async def test_a_race_that_ended_while_the_server_was_away_is_counted(
    rooms: HouseInMemory,
) -> None:
    anna = await rooms.guest("Anna")
    code = await rooms.race(anna)
    await anna.moves("draw")
    await cash_out_unnoticed(rooms, anna)
    await rooms.restart()
    back = await rooms.guest("Anna")
    await back.at_table(Resume, table=code)
    await rooms.pass_time(1000)
    assert back.table.phase == "over"
    assert len(back.heard.all(RaceOver)) == 1


# Seats


async def test_seats_of_a_dead_node_are_lost_after_a_while(rooms: HouseInMemory) -> None:
    anna, bert = await rooms.guest("Anna"), await rooms.guest("Bert")
    code = await gathered(anna, bert)
    await rooms.restart()
    back = await rooms.guest("Bert")
    await back.at_table(Resume, table=code)
    await rooms.house.scheduler.elapse(code)
    assert [seat.connected for seat in back.table.seats] == [False, True]
    await rooms.pass_time(ABSENCE_MILLIS)
    assert [seat.name for seat in back.table.seats] == ["Bert"]


async def test_seats_of_a_node_that_dies_later_are_found_by_a_look(nodes: Nodes) -> None:
    anna, bert = await nodes.two()
    code = await gathered(anna)
    await bert.at_table(JoinTable, table=code)
    await nodes.settle()
    nodes.east.fake.nodes.discard(nodes.east.house.name)
    nodes.east.fake.ears.clear()
    await nodes.west.house.scheduler.sweep()
    assert [(s.name, s.connected) for s in bert.table.seats] == [("Anna", False), ("Bert", True)]


async def test_a_seat_without_a_connection_is_found_at_the_second_look(
    rooms: HouseInMemory,
) -> None:
    anna, bert = await rooms.guest("Anna"), await rooms.guest("Bert")
    await gathered(anna, bert)
    rooms.fake.unavailable = True
    await anna.hang_up()  # and the store does not note it
    rooms.fake.unavailable = False
    await rooms.pass_time(1000)
    assert [seat.connected for seat in bert.table.seats] == [True, True]
    await rooms.pass_time(1000)
    assert [seat.connected for seat in bert.table.seats] == [False, True]


async def test_a_seat_taken_for_lost_is_claimed_by_its_connection(rooms: HouseInMemory) -> None:
    anna, bert = await rooms.guest("Anna"), await rooms.guest("Bert")
    code = await gathered(anna, bert)

    def gone(state: TableState, now: Millis) -> Change | None:
        seat = state.seat(bert.player)
        assert seat is not None
        return disconnect(state, bert.player, seat.epoch, now=now)

    await rooms.house.table_service.change(code, gone)
    assert [seat.connected for seat in anna.table.seats] == [True, False]
    await rooms.pass_time(1000)
    assert [seat.connected for seat in anna.table.seats] == [True, True]


# A store that loses replies, or is away


async def test_a_start_whose_reply_was_lost_is_dealt_at_the_next_look(
    rooms: HouseInMemory,
) -> None:
    anna, bert = await rooms.guest("Anna"), await rooms.guest("Bert")
    await gathered(anna, bert)
    await counted_down(anna, bert)
    rooms.fake.lose_answers = 1
    await rooms.pass_time(COUNTDOWN_MILLIS)
    assert rooms.fake.lose_answers == 0
    await rooms.pass_time(1000)
    for guest in (anna, bert):
        assert len(guest.heard.all(Dealt)) == 1
        assert guest.table.phase == "running"
    await anna.moves("draw")


async def test_a_result_whose_reply_was_lost_is_announced_at_the_next_look(
    rooms: HouseInMemory,
) -> None:
    anna = await rooms.guest("Anna")
    await rooms.race(anna)
    await anna.cash_out()
    rooms.fake.ears.clear()  # or an event would tell at once
    rooms.fake.lose_answers = 1
    await rooms.settle()
    assert rooms.fake.lose_answers == 0
    assert anna.heard.all(RaceOver) == []
    await rooms.pass_time(1000)
    await rooms.pass_time(1000)
    assert len(anna.heard.all(RaceOver)) == 1
    assert anna.table.phase == "over"


async def test_no_command_does_harm_while_the_store_is_away(rooms: HouseInMemory) -> None:
    anna = await rooms.guest("Anna")
    code = await gathered(anna)
    before = anna.table
    rooms.fake.unavailable = True
    for number, command in enumerate(COMMANDS.values(), 100):
        answer = await anna.say(msgspec.structs.replace(command, id=number))
        assert isinstance(answer, Refused | Alive | Done), command
    assert await anna.refused(LeaveTable, table=code) == "store_unavailable"
    await rooms.house.scheduler.elapse(code)
    rooms.fake.unavailable = False
    assert isinstance(await anna.ready(), Done)
    assert anna.table.seats[0].name == before.seats[0].name


async def test_a_table_that_cannot_be_read_does_not_stop_the_clock_of_the_others(
    rooms: HouseInMemory,
) -> None:
    anna, bert = await rooms.guest("Anna"), await rooms.guest("Bert")
    broken, sound = await gathered(anna), await gathered(bert)
    await counted_down(anna)
    await counted_down(bert)
    version, _ = rooms.fake.tables[broken]
    rooms.fake.tables[broken] = (version + 1, b"\xc1")
    table = rooms.house.table_cache.known(broken)
    assert table is not None
    table.in_doubt = True
    await rooms.pass_time(COUNTDOWN_MILLIS)
    assert rooms.state(broken).phase == "countdown"
    assert rooms.state(sound).phase == "running"
    assert len(bert.heard.all(Dealt)) == 1


async def test_a_timer_whose_table_cannot_be_written_is_tried_again_a_little_later(
    rooms: HouseInMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    anna = await rooms.guest("Anna")
    await gathered(anna)
    await counted_down(anna)
    writes: list[int] = []

    async def save(write: TableWrite) -> bool:
        writes.append(rooms.time.at)
        raise StoreUnavailable("its primary is away")

    rooms.time.at += COUNTDOWN_MILLIS
    with monkeypatch.context() as away:
        away.setattr(rooms.store.tables, "save_table", save)
        for millis in (0, RETRY_MILLIS - 1, 1):
            rooms.time.at += millis
            await rooms.house.scheduler.take_due()
    assert writes == [rooms.time.at - RETRY_MILLIS, rooms.time.at]
    rooms.time.at += RETRY_MILLIS
    await rooms.house.scheduler.take_due()
    assert len(anna.heard.all(Dealt)) == 1


async def test_a_table_that_could_not_be_checked_when_it_was_loaded_keeps_its_timer(
    rooms: HouseInMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    anna = await rooms.guest("Anna")
    code = await gathered(anna)
    await counted_down(anna)
    await rooms.restart()

    async def fails(nodes: Iterable[str]) -> frozenset[str]:
        raise StoreUnavailable("away")

    with monkeypatch.context() as away:
        away.setattr(rooms.store.nodes, "dead", fails)
        await rooms.house.table_cache.get(code)
        await rooms.settle()
    assert rooms.state(code).phase == "countdown"
    rooms.time.at += COUNTDOWN_MILLIS
    await rooms.settle()
    assert rooms.state(code).phase == "running"


async def test_a_timer_that_runs_out_while_its_table_is_busy_is_not_lost(
    rooms: HouseInMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = await rooms.race(await rooms.guest("Anna"))
    read, go = asyncio.Event(), asyncio.Event()
    load_standings = rooms.store.boards.load_standings

    async def slow(table: str, race: int) -> dict[str, LiveStanding]:
        read.set()
        await go.wait()
        return await load_standings(table, race)

    with monkeypatch.context() as slowly:
        slowly.setattr(rooms.store.boards, "load_standings", slow)
        rooms.time.at += LOOK_MILLIS
        busy = asyncio.create_task(rooms.house.scheduler.take_due())
        async with asyncio.timeout(20):
            await read.wait()
        rooms.time.at += LOOK_MILLIS
        await rooms.house.scheduler.take_due()
        go.set()
        await busy
    rooms.time.at += RETRY_MILLIS
    await rooms.house.scheduler.take_due()
    assert rooms.state(code).looked == rooms.time.at


async def test_while_a_part_of_the_store_is_away_the_rest_is_still_looked_after(
    rooms: HouseInMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    guests = [await rooms.guest(name) for name in ("Anna", "Bert", "Cleo")]
    away, _ = await gathered(guests[0]), await gathered(*guests[1:])
    load = rooms.store.tables.load_table

    async def load_or_fail(code: str) -> tuple[int, bytes] | None:
        if code == away:
            raise StoreUnavailable("its primary is away")
        return await load(code)

    async def due(until: Millis, limit: int) -> list[str]:
        assert limit == MOST_DUE
        raise StoreUnavailable("a primary is away")

    monkeypatch.setattr(rooms.store.tables, "load_table", load_or_fail)
    monkeypatch.setattr(rooms.store.tables, "due", due)
    doubtful = rooms.house.table_cache.known(away)
    assert doubtful is not None
    doubtful.in_doubt = True
    rooms.fake.unavailable = True
    await guests[2].hang_up()  # and the store does not note it
    rooms.fake.unavailable = False
    for _ in range(2):
        await rooms.pass_time(1000)
    assert doubtful.in_doubt
    assert [seat.connected for seat in guests[1].table.seats] == [True, False]


# What is not needed any more


async def test_tables_races_and_lines_that_nobody_needs_are_dropped(rooms: HouseInMemory) -> None:
    anna = await rooms.guest("Anna")
    code = await gathered(anna, public=True)
    await rooms.deal(anna)
    assert await listed(anna) == [("Anna", "running", 1)]
    assert len(rooms.house.races.all()) == 1
    assert isinstance(await anna.ask(LeaveTable, table=code), Done)
    await rooms.pass_time(1000)
    await rooms.pass_time(1000)
    assert (rooms.house.table_cache.all(), rooms.house.races.all()) == ([], [])
    assert (await listed(anna), rooms.fake.public) == ([], {})


async def test_a_closed_table_is_dropped_when_its_timer_runs_out(rooms: HouseInMemory) -> None:
    anna = await rooms.guest("Anna")
    code = await gathered(anna)
    await rooms.house.table_service.change(
        code, lambda state, now: Change(msgspec.structs.replace(state, seats=(), host=""))
    )
    await rooms.house.scheduler.elapse(code)
    rooms.time.at += 60 * 60_000
    await rooms.house.scheduler.elapse(code)
    assert rooms.house.table_cache.known(code) is None
