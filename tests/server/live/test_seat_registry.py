"""A player sits at one table, whatever several connections ask for at once and whatever the store does."""

import asyncio
import itertools
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from kit.guests import GuestInMemory
from kit.rooms import HouseInMemory, counted_down, for_newer_nodes, gathered
from kit.store_calls import before_once, failing_after, tables_of
from kit.two_nodes import Nodes, beside
from saratoga_protocol.commands import CreateTable, JoinTable, LeaveTable, Resume
from saratoga_protocol.events import Done, Refused, SeatLost, Snapshot
from saratoga_protocol.refusals import RESTARTING
from saratoga_server.domain.tables.countdown import COUNTDOWN_MILLIS
from saratoga_server.ports import StoreUnavailable, TableWrite


@pytest.mark.parametrize("free", [(), ("mint-otter-42", "lone-crane-11")])
async def test_a_code_that_another_player_takes_at_the_same_moment_is_replaced(
    rooms: HouseInMemory, monkeypatch: pytest.MonkeyPatch, free: tuple[str, ...]
) -> None:
    drawn = itertools.chain(("odd-emu-11",) * 2, free, itertools.repeat("odd-emu-11"))
    monkeypatch.setattr("saratoga_server.handlers.seats.table_code", lambda chance: next(drawn))
    async with beside(rooms) as nodes:
        anna, bert = await nodes.east.guest("Anna"), await nodes.west.guest("Bert")
        tables = nodes.east.store.tables
        takes = before_once(tables.save_table, lambda: gathered(bert))
        monkeypatch.setattr(tables, "save_table", takes)
        command = CreateTable(id=7, game="caprice")
        answer = await anna.say(command)
        assert tables_of(rooms, bert.player) == ["odd-emu-11"]
        if free:
            assert isinstance(answer, Snapshot)
            assert isinstance(await anna.say(command), Snapshot)
            assert tables_of(rooms, anna.player) == ["mint-otter-42"]
            assert rooms.fake.players[anna.player].table == "mint-otter-42"
            assert isinstance(await anna.ask(LeaveTable, table="mint-otter-42"), Done)
        else:
            assert isinstance(answer, Refused)
            assert answer.code == "store_unavailable"
        assert await anna.at_table(JoinTable, table="odd-emu-11")


async def test_only_so_many_codes_are_tried(
    rooms: HouseInMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def always_taken(write: TableWrite) -> bool:
        return False

    anna = await rooms.guest("Anna")
    monkeypatch.setattr(rooms.store.tables, "save_table", always_taken)
    assert await anna.refused(CreateTable, game="caprice") == "store_unavailable"
    assert rooms.fake.players[anna.player].table is None


async def test_a_seat_under_way_elsewhere_is_still_found_after_the_code_was_replaced(
    rooms: HouseInMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn = itertools.chain(("odd-emu-11",) * 2, itertools.repeat("mint-otter-42"))
    async with beside(rooms) as nodes:
        bert, cleo = await nodes.west.guest("Bert"), await nodes.west.guest("Cleo")
        slow, quick = await nodes.west.guest("Anna"), await nodes.east.guest("Anna")
        one = await gathered(bert)
        monkeypatch.setattr("saratoga_server.handlers.seats.table_code", lambda chance: next(drawn))
        is_on_its_way, is_passed_over, is_seated = (asyncio.Event() for _ in range(3))
        save_slowly, save_quickly = (
            nodes.west.store.tables.save_table,
            nodes.east.store.tables.save_table,
        )

        async def saved_later(write: TableWrite) -> bool:
            if write.code == one:
                is_on_its_way.set()
                await is_passed_over.wait()
            saved = await save_slowly(write)
            if write.code == one:
                is_seated.set()
                # this node does no more for it
                await asyncio.get_running_loop().create_future()
            return saved

        async def taken(write: TableWrite) -> bool:
            if write.code == "odd-emu-11":
                await gathered(cleo)
                saved = await save_quickly(write)
                is_passed_over.set()
                await is_seated.wait()
                return saved
            return await save_quickly(write)

        monkeypatch.setattr(nodes.west.store.tables, "save_table", saved_later)
        monkeypatch.setattr(nodes.east.store.tables, "save_table", taken)
        joining = asyncio.create_task(slow.ask(JoinTable, table=one))
        await is_on_its_way.wait()
        assert await quick.refused(CreateTable, game="caprice") == "elsewhere"
        assert tables_of(rooms, quick.player) == [one]
        assert rooms.fake.players[quick.player].table == one
        joining.cancel()


async def test_a_player_seated_elsewhere_meanwhile_gives_the_later_seat_up(
    rooms: HouseInMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with beside(rooms) as nodes:
        bert, cleo = await nodes.east.guest("Bert"), await nodes.east.guest("Cleo")
        slow, quick = await nodes.east.guest("Anna"), await nodes.west.guest("Anna")
        one, other = await gathered(bert), await gathered(cleo)
        tables = nodes.east.store.tables
        interrupted = before_once(tables.save_table, lambda: quick.at_table(JoinTable, table=other))
        monkeypatch.setattr(tables, "save_table", interrupted)
        assert await slow.refused(JoinTable, table=one) == "elsewhere"
        assert tables_of(rooms, quick.player) == [other]
        assert rooms.fake.players[quick.player].table == other
        assert (slow.sent_away, quick.sent_away) == ([], [])
        assert isinstance(await quick.ask(LeaveTable, table=other), Done)
        assert isinstance(await slow.ask(JoinTable, table=one), Snapshot)


async def test_a_seat_that_was_under_way_when_the_row_changed_is_found_after_it(
    rooms: HouseInMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with beside(rooms) as nodes:
        bert, cleo = await nodes.east.guest("Bert"), await nodes.east.guest("Cleo")
        first, second = await nodes.east.guest("Anna"), await nodes.west.guest("Anna")
        one, other = await gathered(bert), await gathered(cleo)
        has_checked, is_seated = asyncio.Event(), asyncio.Event()
        players, tables = nodes.west.store.players, nodes.east.store.tables
        sit = players.sit

        async def looked(player: str, table: str, instead_of: str | None = None) -> str | None:
            if instead_of is not None:
                has_checked.set()
                await is_seated.wait()
            return await sit(player, table, instead_of)

        monkeypatch.setattr(players, "sit", looked)
        monkeypatch.setattr(tables, "save_table", before_once(tables.save_table, has_checked.wait))
        sits_down = asyncio.create_task(first.ask(JoinTable, table=one))
        await asyncio.sleep(0)
        late = asyncio.create_task(second.refused(JoinTable, table=other))
        assert isinstance(await sits_down, Snapshot)
        is_seated.set()
        assert await late == "elsewhere"
        assert tables_of(rooms, first.player) == [one]
        assert rooms.fake.players[first.player].table == one


@pytest.mark.parametrize("chance", range(40))
async def test_however_many_connections_sit_down_at_once_the_player_has_one_seat(
    rooms: HouseInMemory, monkeypatch: pytest.MonkeyPatch, chance: int
) -> None:
    dice = random.Random(chance)
    reading = rooms.fake.reading

    async def slow_reading() -> None:
        for _ in range(dice.randrange(6)):
            await asyncio.sleep(0)
        await reading()

    async with beside(rooms) as nodes:
        codes = [await gathered(await rooms.guest(name)) for name in ("Bert", "Cleo", "Dora")]
        annas = [await dice.choice((nodes.east, nodes.west)).guest("Anna") for _ in range(4)]
        monkeypatch.setattr(rooms.fake, "reading", slow_reading)

        async def sits_down(anna: GuestInMemory) -> Any:
            code = dice.choice([*codes, ""])
            asked = (
                anna.ask(JoinTable, table=code) if code else anna.ask(CreateTable, game="canfield")
            )
            return await asked

        answers = await asyncio.gather(*map(sits_down, annas))
        # of several commands with one id, another may have opened the table and given it up, or may
        # have taken the same seat and given it up
        expected = ("elsewhere", "taken_over", "not_seated", "stale_id")
        for answer in answers:
            assert isinstance(answer, Snapshot) or answer.code in expected, answer
        seats = tables_of(rooms, annas[0].player)
        assert len(seats) <= 1
        if seats:
            assert rooms.fake.players[annas[0].player].table == seats[0]


# What the store leaves uncertain


@asynccontextmanager
async def two_seats(
    rooms: HouseInMemory, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[tuple[Nodes, GuestInMemory, GuestInMemory, str, str]]:
    """Two connections of Anna's, each with a seat: the store failed before the later one's last check.

    Yields the nodes, the connection with the wrong seat, the other connection, and their tables.
    """
    async with beside(rooms) as nodes:
        bert, cleo = await nodes.east.guest("Bert"), await nodes.east.guest("Cleo")
        slow, quick = await nodes.east.guest("Anna"), await nodes.west.guest("Anna")
        one, other = await gathered(bert), await gathered(cleo)
        tables, players = nodes.east.store.tables, nodes.east.store.players
        with monkeypatch.context() as patch:
            interrupted = before_once(
                tables.save_table, lambda: quick.at_table(JoinTable, table=other)
            )
            patch.setattr(tables, "save_table", interrupted)
            patch.setattr(players, "sit", failing_after(players.sit, 1))
            assert await slow.refused(JoinTable, table=one) == "store_unavailable"
        assert sorted(tables_of(rooms, slow.player)) == sorted([one, other])
        yield nodes, slow, quick, one, other


async def test_of_two_seats_the_wrong_one_is_given_up_when_asked_for_again(
    rooms: HouseInMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with two_seats(rooms, monkeypatch) as (_, slow, quick, one, other):
        for _ in range(2):
            assert await slow.refused(JoinTable, table=one) == "elsewhere"
            assert tables_of(rooms, slow.player) == [other]
        assert rooms.fake.players[slow.player].table == other
        assert (slow.session.seat, slow.sent_away, quick.sent_away) == (None, [], [])


async def test_of_two_seats_the_wrong_one_is_given_up_by_the_sweep(
    rooms: HouseInMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with two_seats(rooms, monkeypatch) as (nodes, slow, quick, one, other):
        rooms.fake.unavailable = True
        await nodes.east.house.scheduler.sweep()
        rooms.fake.unavailable = False
        await nodes.east.house.scheduler.sweep()
        assert tables_of(rooms, slow.player) == [other]
        assert [lost.table for lost in slow.heard.all(SeatLost)] == [one]
        assert (slow.session.seat, slow.sent_away, quick.sent_away) == (None, [], [])


async def test_of_two_seats_the_wrong_one_is_given_up_when_a_third_connection_asks_for_it(
    rooms: HouseInMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with two_seats(rooms, monkeypatch) as (nodes, slow, _, one, other):
        third = await nodes.west.guest("Anna")
        assert await third.refused(JoinTable, table=one) == "elsewhere"
        await nodes.settle()
        assert tables_of(rooms, third.player) == [other]
        assert [lost.table for lost in slow.heard.all(SeatLost)] == [one]


async def test_a_seat_at_which_the_player_races_is_never_given_up(
    rooms: HouseInMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with two_seats(rooms, monkeypatch) as (nodes, slow, _, one, other):
        host = next(guest for guest in nodes.east.guests if guest.session.seat == one)
        await counted_down(host, slow)
        await nodes.pass_time(COUNTDOWN_MILLIS)
        await nodes.pass_time(1000)
        assert isinstance(await slow.ask(JoinTable, table=one), Snapshot)
        await slow.moves("draw")
        assert sorted(tables_of(rooms, slow.player)) == sorted([one, other])


@pytest.mark.parametrize("is_made", [True, False])
@pytest.mark.parametrize("asks_again", [True, False])
async def test_a_seat_under_way_elsewhere_is_found_though_the_reply_to_the_own_was_lost(
    rooms: HouseInMemory, monkeypatch: pytest.MonkeyPatch, is_made: bool, asks_again: bool
) -> None:
    async with beside(rooms) as nodes:
        bert, cleo = await nodes.east.guest("Bert"), await nodes.east.guest("Cleo")
        first, second = await nodes.east.guest("Anna"), await nodes.west.guest("Anna")
        one, other = await gathered(bert), await gathered(cleo)
        players, tables = nodes.west.store.players, nodes.west.store.tables
        sit, save = players.sit, tables.save_table

        async def passed_over(player: str, table: str, instead_of: str | None = None) -> str | None:
            if instead_of is not None:
                assert isinstance(await first.ask(JoinTable, table=one), Snapshot)
            return await sit(player, table, instead_of)

        async def unanswered(write: TableWrite) -> bool:
            if is_made:
                await save(write)
            raise StoreUnavailable("the store does not answer")

        # as if the first connection had come that far and no further
        await sit(first.player, one)
        with monkeypatch.context() as patch:
            patch.setattr(players, "sit", passed_over)
            patch.setattr(tables, "save_table", unanswered)
            assert await second.refused(JoinTable, table=other) == "store_unavailable"
        assert rooms.fake.players[first.player].table == other
        if asks_again:
            assert await second.refused(JoinTable, table=other) == "elsewhere"
        await nodes.west.house.scheduler.sweep()
        assert tables_of(rooms, first.player) == [one]
        assert rooms.fake.players[first.player].table == one
        assert (first.session.seat, second.session.seat, first.sent_away) == (one, None, [])


async def test_a_seat_at_a_table_of_a_newer_format_counts(rooms: HouseInMemory) -> None:
    anna, bert = await rooms.guest("Anna"), await rooms.guest("Bert")
    code, other = await gathered(anna), await gathered(bert)
    for_newer_nodes(rooms, code)
    assert await anna.refused(JoinTable, table=other) == "draining"
    assert anna.sent_away == [RESTARTING.code]
    assert rooms.fake.players[anna.player].table == code
    for_newer_nodes(rooms, code, by=-1)
    assert tables_of(rooms, anna.player) == [code]


async def test_a_racer_comes_back_to_the_race_though_the_row_names_another_table(
    rooms: HouseInMemory,
) -> None:
    anna, bert, cleo = [await rooms.guest(name) for name in ("Anna", "Bert", "Cleo")]
    code, other = await rooms.race(anna, bert), await gathered(cleo)
    # as a lost write may leave it
    await rooms.store.players.stand_up(anna.player, code)
    await anna.at_table(JoinTable, table=other)
    back = await rooms.guest("Anna")
    snapshot = await back.at_table(Resume, table=code)
    assert snapshot.board is not None
    await back.moves("draw")


async def test_the_connection_with_the_older_hello_takes_the_seat_from_no_other(
    rooms: HouseInMemory,
) -> None:
    async with beside(rooms) as nodes:
        anna, bert = await nodes.two()
        code = await gathered(anna, bert)
        half_open, back = await nodes.east.guest("Anna"), await nodes.west.guest("Anna")
        await back.at_table(Resume, table=code)
        await nodes.settle()
        for kind in (Resume, JoinTable):
            assert await half_open.refused(kind, table=code) == "taken_over"
            await nodes.settle()
        assert back.sent_away == []
        assert [seat.connected for seat in bert.table.seats] == [True, True]
        await back.hang_up()
        await half_open.at_table(Resume, table=code)
        assert half_open.session.seat == code
