"""A player has one seat, even with concurrent commands and a failing store."""

import asyncio
import itertools
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from kit.in_process_server import (
    InProcessServer,
    before_once,
    counted_down,
    failing_after,
    gathered,
    tables_of,
)
from kit.players import MemoryPlayer
from kit.two_nodes import Nodes, beside
from saratoga_protocol.commands import CreateTable, JoinTable, LeaveTable, Resume
from saratoga_protocol.events import Done, Refused, SeatLost, Snapshot
from saratoga_server.domain.tables.countdown import COUNTDOWN_MILLIS
from saratoga_server.ports import RowTable, StoreUnavailable, TableWrite


@pytest.mark.parametrize("free", [(), ("mint-otter-42", "lone-crane-11")])
async def test_a_code_that_another_player_takes_at_the_same_moment_is_replaced(
    server: InProcessServer, monkeypatch: pytest.MonkeyPatch, free: tuple[str, ...]
) -> None:
    drawn = itertools.chain(("odd-emu-11",) * 2, free, itertools.repeat("odd-emu-11"))
    monkeypatch.setattr("saratoga_server.handlers.seats.table_code", lambda chance: next(drawn))
    async with beside(server) as nodes:
        anna, bert = await nodes.east.player("Anna"), await nodes.west.player("Bert")
        tables = nodes.east.store.tables
        takes = before_once(tables.save_table, lambda: gathered(bert))
        monkeypatch.setattr(tables, "save_table", takes)
        command = CreateTable(id=7, game="caprice")
        answer = await anna.send(command)
        assert await tables_of(server, bert.player) == ["odd-emu-11"]
        if free:
            assert isinstance(answer, Snapshot)
            assert isinstance(await anna.send(command), Snapshot)
            assert await tables_of(server, anna.player) == ["mint-otter-42"]
            assert (await server.row(anna.player)).table == "mint-otter-42"
            assert isinstance(await anna.ask(LeaveTable, table="mint-otter-42"), Done)
        else:
            assert isinstance(answer, Refused)
            assert answer.code == "store_unavailable"
        assert await anna.at_table(JoinTable, table="odd-emu-11")


@pytest.mark.parametrize("chance", [*range(40), 776, 1201])
async def test_however_many_connections_sit_down_at_once_the_player_has_one_seat(
    server: InProcessServer, monkeypatch: pytest.MonkeyPatch, chance: int
) -> None:
    dice = random.Random(chance)
    before = server.faults.before

    async def slow() -> None:
        for _ in range(dice.randrange(6)):
            await asyncio.sleep(0)
        await before()

    async with beside(server) as nodes:
        codes = [await gathered(await server.player(name)) for name in ("Bert", "Cleo", "Dora")]
        annas = [await dice.choice((nodes.east, nodes.west)).player("Anna") for _ in range(4)]
        monkeypatch.setattr(server.faults, "before", slow)

        async def sits_down(anna: MemoryPlayer) -> Any:
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
        seats = await tables_of(server, annas[0].player)
        assert len(seats) <= 1
        if seats:
            assert (await server.row(annas[0].player)).table == seats[0]


# Writes whose outcome is unknown


@asynccontextmanager
async def two_seats(
    server: InProcessServer, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[tuple[Nodes, MemoryPlayer, MemoryPlayer, str, str]]:
    """Two connections of Anna's, each with a seat, because the store failed before the later one's last check.

    Yield the nodes, the connection with the wrong seat, the other connection, and the codes of their tables.
    """
    async with beside(server) as nodes:
        bert, cleo = await nodes.east.player("Bert"), await nodes.east.player("Cleo")
        slow, quick = await nodes.east.player("Anna"), await nodes.west.player("Anna")
        one, other = await gathered(bert), await gathered(cleo)
        tables, players = nodes.east.store.tables, nodes.east.store.players
        with monkeypatch.context() as patch:
            interrupted = before_once(
                tables.save_table, lambda: quick.at_table(JoinTable, table=other)
            )
            patch.setattr(tables, "save_table", interrupted)
            patch.setattr(players, "sit", failing_after(players.sit, 1))
            assert await slow.refused(JoinTable, table=one) == "store_unavailable"
        assert sorted(await tables_of(server, slow.player)) == sorted([one, other])
        yield nodes, slow, quick, one, other


async def test_of_two_seats_the_wrong_one_is_given_up_when_asked_for_again(
    server: InProcessServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with two_seats(server, monkeypatch) as (_, slow, quick, one, other):
        for _ in range(2):
            assert await slow.refused(JoinTable, table=one) == "elsewhere"
            assert await tables_of(server, slow.player) == [other]
        assert (await server.row(slow.player)).table == other
        assert (slow.session.seat, slow.close_codes, quick.close_codes) == (None, [], [])


async def test_of_two_seats_the_wrong_one_is_given_up_by_the_sweep(
    server: InProcessServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with two_seats(server, monkeypatch) as (nodes, slow, quick, one, other):
        server.faults.unavailable = True
        await nodes.east.node.scheduler.sweep()
        server.faults.unavailable = False
        await nodes.east.node.scheduler.sweep()
        assert await tables_of(server, slow.player) == [other]
        assert [lost.table for lost in slow.received.all(SeatLost)] == [one]
        assert (slow.session.seat, slow.close_codes, quick.close_codes) == (None, [], [])


async def test_a_seat_at_which_the_player_races_is_never_given_up(
    server: InProcessServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with two_seats(server, monkeypatch) as (nodes, slow, _, one, other):
        host = next(player for player in nodes.east.players if player.session.seat == one)
        await counted_down(host, slow)
        await nodes.pass_time(COUNTDOWN_MILLIS)
        await nodes.pass_time(1000)
        assert isinstance(await slow.ask(JoinTable, table=one), Snapshot)
        await slow.moves("draw")
        assert sorted(await tables_of(server, slow.player)) == sorted([one, other])


@pytest.mark.parametrize("is_made", [True, False])
@pytest.mark.parametrize("asks_again", [True, False])
async def test_a_seat_under_way_elsewhere_is_found_though_the_reply_to_the_own_was_lost(
    server: InProcessServer, monkeypatch: pytest.MonkeyPatch, is_made: bool, asks_again: bool
) -> None:
    async with beside(server) as nodes:
        bert, cleo = await nodes.east.player("Bert"), await nodes.east.player("Cleo")
        first, second = await nodes.east.player("Anna"), await nodes.west.player("Anna")
        one, other = await gathered(bert), await gathered(cleo)
        players, tables = nodes.west.store.players, nodes.west.store.tables
        sit, save = players.sit, tables.save_table
        is_under_way, is_passed_over = asyncio.Event(), asyncio.Event()

        async def saved_late() -> None:
            is_under_way.set()
            await is_passed_over.wait()

        async def passed_over(
            player: str, table: str, instead_of: RowTable | None = None
        ) -> RowTable | None:
            if instead_of is not None:
                is_passed_over.set()
                assert await sits_down == "store_unavailable"
            return await sit(player, table, instead_of)

        async def unanswered(write: TableWrite) -> bool:
            if is_made:
                await save(write)
            raise StoreUnavailable("the store does not answer")

        with monkeypatch.context() as patch:
            # the first connection's seat is taken, but not checked
            east = nodes.east.store
            patch.setattr(
                east.tables, "save_table", before_once(east.tables.save_table, saved_late)
            )
            patch.setattr(east.players, "sit", failing_after(east.players.sit, 1))
            sits_down = asyncio.create_task(first.refused(JoinTable, table=one))
            await is_under_way.wait()
            patch.setattr(players, "sit", passed_over)
            patch.setattr(tables, "save_table", unanswered)
            assert await second.refused(JoinTable, table=other) == "store_unavailable"
        assert (await server.row(first.player)).table == other
        if asks_again:
            assert await second.refused(JoinTable, table=other) == "elsewhere"
        await nodes.west.node.scheduler.sweep()
        assert await tables_of(server, first.player) == [one]
        assert (await server.row(first.player)).table == one
        assert (first.session.seat, second.session.seat, first.close_codes) == (one, None, [])


async def test_a_racer_comes_back_to_the_race_though_the_row_names_another_table(
    server: InProcessServer,
) -> None:
    anna, bert, cleo = [await server.player(name) for name in ("Anna", "Bert", "Cleo")]
    code, other = await server.race(anna, bert), await gathered(cleo)
    # as a lost write may leave it
    await server.store.players.stand_up(anna.player, code)
    await anna.at_table(JoinTable, table=other)
    back = await server.player("Anna")
    snapshot = await back.at_table(Resume, table=code)
    assert snapshot.board is not None
    await back.moves("draw")


async def test_the_connection_with_the_older_hello_takes_the_seat_from_no_other(
    server: InProcessServer,
) -> None:
    async with beside(server) as nodes:
        anna, bert = await nodes.two()
        code = await gathered(anna, bert)
        half_open, back = await nodes.east.player("Anna"), await nodes.west.player("Anna")
        await back.at_table(Resume, table=code)
        await nodes.settle()
        for kind in (Resume, JoinTable):
            assert await half_open.refused(kind, table=code) == "taken_over"
            await nodes.settle()
        assert back.close_codes == []
        assert [seat.connected for seat in bert.table.seats] == [True, True]
        await back.disconnect()
        await half_open.at_table(Resume, table=code)
        assert half_open.session.seat == code
