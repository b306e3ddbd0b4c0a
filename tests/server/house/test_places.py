"""One table for one player, whatever several connections ask for at once, and whatever the store does."""

import asyncio
import random
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from kit.guests import GuestInMemory
from kit.rooms import HouseInMemory, gathered
from kit.two_nodes import beside
from saratoga_protocol.commands import CreateTable, JoinTable, LeaveTable, Resume
from saratoga_protocol.events import Done, Refused, Snapshot
from saratoga_server.table import unpack


def tables_of(rooms: HouseInMemory, player: str) -> list[str]:
    """Where the player has a seat, by what is stored."""
    return [code for code, (_, body) in rooms.fake.tables.items() if unpack(body).seat(player)]


def before_once(method: Callable[..., Awaitable[object]], first: Callable[[], Awaitable[object]]):  # type: ignore[no-untyped-def]
    """The method, which the first time it is called has something else done before."""
    waiting = [first]

    async def called(*args: object, **named: object) -> object:
        if waiting:
            await waiting.pop()()
        return await method(*args, **named)

    return called


async def test_who_is_seated_elsewhere_before_the_seat_is_taken_gives_it_up(
    rooms: HouseInMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with beside(rooms) as nodes:
        bert, cleo = await nodes.east.guest("Bert"), await nodes.east.guest("Cleo")
        slow, quick = await nodes.east.guest("Anna"), await nodes.west.guest("Anna")
        one, other = await gathered(bert), await gathered(cleo)
        tables = nodes.east.store.tables
        passing = before_once(tables.save_table, lambda: quick.at_table(JoinTable, table=other))
        monkeypatch.setattr(tables, "save_table", passing)
        assert await slow.refused(JoinTable, table=one) == "elsewhere"
        assert tables_of(rooms, quick.player) == [other]
        assert rooms.fake.players[quick.player].table == other
        assert (slow.sent_away, quick.sent_away) == ([], [])
        assert isinstance(await quick.ask(LeaveTable, table=other), Done)
        assert isinstance(await slow.ask(JoinTable, table=one), Snapshot)


async def test_who_passes_a_table_over_looks_again_whether_there_is_a_seat(
    rooms: HouseInMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with beside(rooms) as nodes:
        bert, cleo = await nodes.east.guest("Bert"), await nodes.east.guest("Cleo")
        first, second = await nodes.east.guest("Anna"), await nodes.west.guest("Anna")
        one, other = await gathered(bert), await gathered(cleo)
        has_looked, is_seated = asyncio.Event(), asyncio.Event()
        players, tables = nodes.west.store.players, nodes.east.store.tables
        sit = players.sit

        async def looked(player: str, table: str, instead_of: str | None = None) -> str | None:
            if instead_of is not None:
                has_looked.set()
                await is_seated.wait()
            return await sit(player, table, instead_of)

        monkeypatch.setattr(players, "sit", looked)
        monkeypatch.setattr(tables, "save_table", before_once(tables.save_table, has_looked.wait))
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

    async def dawdling() -> None:
        for _ in range(dice.randrange(6)):
            await asyncio.sleep(0)
        await reading()

    async with beside(rooms) as nodes:
        codes = [await gathered(await rooms.guest(name)) for name in ("Bert", "Cleo", "Dora")]
        annas = [await dice.choice((nodes.east, nodes.west)).guest("Anna") for _ in range(4)]
        monkeypatch.setattr(rooms.fake, "reading", dawdling)

        async def sits_down(anna: GuestInMemory) -> Any:
            code = dice.choice([*codes, ""])
            asked = (
                anna.ask(JoinTable, table=code) if code else anna.ask(CreateTable, game="canfield")
            )
            return await asked

        answers = await asyncio.gather(*map(sits_down, annas))
        for answer in answers:
            assert isinstance(answer, Snapshot) or answer.code in ("elsewhere", "taken_over"), (
                answer
            )
        seats = tables_of(rooms, annas[0].player)
        assert len(seats) <= 1
        if seats:
            assert rooms.fake.players[annas[0].player].table == seats[0]


async def test_whoever_races_comes_back_to_the_race_though_a_seat_elsewhere_is_on_record(
    rooms: HouseInMemory,
) -> None:
    anna, bert, cleo = [await rooms.guest(name) for name in ("Anna", "Bert", "Cleo")]
    code, other = await rooms.race(anna, bert), await gathered(cleo)
    # as an older program left it
    await rooms.store.players.stand_up(anna.player, code)
    await anna.at_table(JoinTable, table=other)
    back = await rooms.guest("Anna")
    snapshot = await back.at_table(Resume, table=code)
    assert snapshot.board is not None
    await back.moves("draw")


async def test_a_seat_that_the_store_did_not_hear_of_is_given_up_later(
    rooms: HouseInMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    anna, bert = await rooms.guest("Anna"), await rooms.guest("Bert")
    code = await gathered(anna, bert)
    tables = rooms.store.tables
    save = tables.save_table

    async def saved(*args: object) -> bool:
        done = await save(*args)  # type: ignore[arg-type]
        rooms.fake.unavailable = True
        return done

    with monkeypatch.context() as patch:
        patch.setattr(tables, "save_table", saved)
        assert await bert.refused(LeaveTable, table=code) == "store_unavailable"
    assert tables_of(rooms, bert.player) == []
    assert rooms.fake.players[bert.player].table == code
    await rooms.timekeeper.sweep()
    rooms.fake.unavailable = False
    await rooms.timekeeper.sweep()
    row = rooms.fake.players[bert.player]
    assert (row.table, row.last_id) == (None, bert.last_id)


async def test_a_seat_that_was_to_be_given_up_and_is_taken_again_stays(
    rooms: HouseInMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    anna, bert = await rooms.guest("Anna"), await rooms.guest("Bert")
    code = await gathered(anna, bert)
    with monkeypatch.context() as patch:

        async def unheard(player: str, table: str) -> None:
            raise ConnectionError("the store is away")

        patch.setattr(rooms.store.players, "stand_up", unheard)
        await bert.refused(LeaveTable, table=code)
    assert isinstance(await bert.ask(JoinTable, table=code), Snapshot)
    for _ in range(2):
        await rooms.timekeeper.sweep()
    assert rooms.fake.players[bert.player].table == code


async def test_after_a_seat_given_up_unheard_the_next_welcome_tells_an_id_that_may_be_used(
    rooms: HouseInMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    anna, bert = await rooms.guest("Anna"), await rooms.guest("Bert")
    code = await gathered(anna, bert)
    bert.last_id = 50
    with monkeypatch.context() as patch:

        async def unheard(player: str, command_id: int) -> None:
            raise ConnectionError("the store is away")

        patch.setattr(rooms.store.players, "raise_last_id", unheard)
        await bert.refused(LeaveTable, table=code)
    await rooms.restart()
    first, second = rooms.stranger("Bert"), rooms.stranger("Bert")
    await first.hello()
    answer = await first.ask(JoinTable, table=code)
    assert isinstance(answer, Refused)
    assert answer.code == "stale_id"
    await second.hello()
    assert isinstance(await second.ask(JoinTable, table=code), Snapshot)


async def test_of_two_connections_the_one_that_said_hello_first_takes_the_seat_from_no_other(
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
