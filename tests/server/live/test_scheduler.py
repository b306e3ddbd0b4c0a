"""Everything that happens by the clock, and a house that was away, or whose store lost an answer."""

from typing import Any

import msgspec
import pytest

from kit.messages import COMMANDS
from kit.rooms import HouseInMemory, counted_down, gathered
from saratoga_protocol.commands import (
    LeaveTable,
    Resume,
)
from saratoga_protocol.events import (
    Alive,
    Dealt,
    Done,
    RaceOver,
    Refused,
)
from saratoga_server.domain.tables.countdown import COUNTDOWN_MILLIS
from saratoga_server.domain.tables.timers import ABSENCE_MILLIS, LATE_MILLIS
from saratoga_server.ports import Millis, StoreUnavailable


class Broken(RuntimeError):
    """A fault with a secret in its text."""


async def test_a_countdown_goes_on_in_a_house_that_was_started_anew(
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


async def test_a_start_that_comes_late_moves_the_clock_along(rooms: HouseInMemory) -> None:
    anna = await rooms.guest("Anna")
    code = await gathered(anna)
    await counted_down(anna)
    await rooms.pass_time(COUNTDOWN_MILLIS + 60_000)
    (dealt,) = anna.heard.all(Dealt)
    assert dealt.start_at == rooms.time.at
    assert rooms.fake.races[code, 1].start_at == rooms.time.at


async def test_a_node_whose_clock_is_ahead_ends_a_race_soon_after_its_time(
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


async def test_seats_of_a_node_that_is_dead_are_lost_after_a_while(
    rooms: HouseInMemory,
) -> None:
    anna, bert = await rooms.guest("Anna"), await rooms.guest("Bert")
    code = await gathered(anna, bert)
    await rooms.restart()
    back = await rooms.guest("Bert")
    await back.at_table(Resume, table=code)
    await rooms.house.scheduler.elapse(code)
    assert [seat.connected for seat in back.table.seats] == [False, True]
    await rooms.pass_time(ABSENCE_MILLIS)
    assert [seat.name for seat in back.table.seats] == ["Bert"]


async def test_a_seat_that_nobody_holds_is_found_at_the_second_look(
    rooms: HouseInMemory,
) -> None:
    anna, bert = await rooms.guest("Anna"), await rooms.guest("Bert")
    await gathered(anna, bert)
    rooms.fake.unavailable = True
    await anna.hang_up()  # and cannot write it down
    rooms.fake.unavailable = False
    await rooms.pass_time(1000)
    assert [seat.connected for seat in bert.table.seats] == [True, True]
    await rooms.pass_time(1000)
    assert [seat.connected for seat in bert.table.seats] == [False, True]


async def test_a_race_that_ended_while_the_house_was_away_is_counted_up(
    rooms: HouseInMemory,
) -> None:
    anna = await rooms.guest("Anna")
    code = await rooms.race(anna)
    await anna.moves("draw")
    rooms.house.races.on_board_ended = None  # the process dies before it counts up
    await anna.cash_out()
    await rooms.restart()
    back = await rooms.guest("Anna")
    await back.at_table(Resume, table=code)
    await rooms.pass_time(1000)
    assert back.table.phase == "over"
    assert len(back.heard.all(RaceOver)) == 1


# A store that loses answers


async def test_a_start_whose_answer_was_lost_is_dealt_at_the_next_look(
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


async def test_a_result_whose_answer_was_lost_is_told_at_the_next_look(
    rooms: HouseInMemory,
) -> None:
    anna = await rooms.guest("Anna")
    await rooms.race(anna)
    await anna.cash_out()
    rooms.fake.ears.clear()  # or the news would tell at once
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


async def test_a_table_that_breaks_does_not_stop_the_clock_of_the_others(
    rooms: HouseInMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    anna, bert = await rooms.guest("Anna"), await rooms.guest("Bert")
    broken, sound = await gathered(anna), await gathered(bert)
    await counted_down(anna)
    await counted_down(bert)
    elapse = rooms.house.table_cache.elapse

    async def elapse_or_break(code: str, dead: frozenset[str]) -> Any:
        if code == broken:
            raise Broken
        return await elapse(code, dead)

    monkeypatch.setattr(rooms.house.table_cache, "elapse", elapse_or_break)
    await rooms.pass_time(COUNTDOWN_MILLIS)
    assert rooms.state(sound).phase == "running"
    assert len(bert.heard.all(Dealt)) == 1


async def test_where_a_part_of_the_store_is_away_the_rest_is_still_looked_after(
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
        raise StoreUnavailable("a primary is away")

    monkeypatch.setattr(rooms.store.tables, "load_table", load_or_fail)
    monkeypatch.setattr(rooms.house.scheduler, "_due", due)
    doubtful = rooms.house.table_cache.known(away)
    assert doubtful is not None
    doubtful.in_doubt = True
    rooms.fake.unavailable = True
    await guests[2].hang_up()  # and cannot write it down
    rooms.fake.unavailable = False
    for _ in range(2):
        await rooms.pass_time(1000)
    assert doubtful.in_doubt
    assert [seat.connected for seat in guests[1].table.seats] == [True, False]


async def test_of_tables_that_are_let_go_nothing_is_left(rooms: HouseInMemory) -> None:
    anna = await rooms.guest("Anna")
    code = await gathered(anna, public=True)
    assert code in rooms.house.public_tables._lines
    assert isinstance(await anna.ask(LeaveTable, table=code), Done)
    await rooms.pass_time(1000)
    assert rooms.house.table_cache.all() == []
    assert rooms.house.public_tables._lines == {}
    assert rooms.fake.public == {}
