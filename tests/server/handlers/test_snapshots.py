"""Snapshots: the first event that a connection receives about a table."""

import pytest

from kit.in_process_server import InProcessServer, gathered
from kit.two_nodes import beside
from saratoga_protocol.commands import (
    Heartbeat,
    JoinTable,
    LeaveTable,
    NextRace,
    Resume,
    WatchTable,
)
from saratoga_protocol.events import RaceOver
from saratoga_server.ports import LiveStanding


async def test_before_a_race_there_is_a_table_and_nothing_else(server: InProcessServer) -> None:
    anna, bert = await server.player("Anna"), await server.player("Bert")
    code = await gathered(anna)
    snapshot = await bert.at_table(JoinTable, table=code)
    assert (snapshot.table, snapshot.now) == (anna.table, server.time.at)
    assert (snapshot.board, snapshot.standings, snapshot.outcome) == (None, [], None)


async def test_a_racer_is_sent_the_own_board_and_everybodys_standing(
    server: InProcessServer,
) -> None:
    anna, bert = await server.player("Anna", legal=True), await server.player("Bert")
    code = await server.race(anna, bert)
    await anna.moves("draw")
    await bert.moves("draw", "draw")
    back = await server.player("Anna", legal=True)
    snapshot = await back.at_table(Resume, table=code)
    assert snapshot.board == anna.board
    assert {row.player for row in snapshot.standings} == {anna.player, bert.player}
    without = await (await server.player("Bert")).at_table(Resume, table=code)
    assert without.board is not None
    assert (without.board.count, without.board.legal) == (2, None)


async def test_a_racer_is_sent_since_when_idleness_counts(server: InProcessServer) -> None:
    anna, bert = await server.player("Anna"), await server.player("Bert")
    code = await server.race(anna, bert)
    started = server.time.at

    async def idle_since() -> int:
        back = await server.player("Anna")
        return (await back.at_table(Resume, table=code)).idle_since - started

    await server.pass_time(10_000)
    assert await idle_since() == 0
    anna = await server.player("Anna")
    await anna.at_table(Resume, table=code)
    await anna.moves("draw")
    await server.pass_time(5_000)
    assert await idle_since() == 10_000
    anna = await server.player("Anna")
    await anna.at_table(Resume, table=code)
    await anna.ask(Heartbeat, active=True)
    await server.pass_time(30_000)
    assert await idle_since() == 15_000
    await server.restart()
    assert await idle_since() == 45_000, "time without a server does not count"
    anna = await server.player("Anna")
    await anna.at_table(Resume, table=code)
    await anna.cash_out()
    assert await idle_since() == -started


async def test_a_host_between_races_is_sent_since_when_idleness_counts(
    server: InProcessServer,
) -> None:
    anna, bert = await server.player("Anna"), await server.player("Bert")
    code = await gathered(anna, bert)
    opened = server.time.at

    async def idle_since(name: str) -> int:
        back = await server.player(name)
        return (await back.at_table(Resume, table=code)).idle_since - opened

    await server.pass_time(5_000)
    assert await idle_since("Anna") == 0
    assert await idle_since("Bert") == -opened
    await server.restart()
    await server.pass_time(5_000)
    assert await idle_since("Anna") == 5_000, "time without a server does not count"


async def test_a_watcher_is_sent_standings_and_no_board(server: InProcessServer) -> None:
    anna, wanda = await server.player("Anna"), await server.player("Wanda")
    code = await server.race(anna)
    snapshot = await wanda.at_table(WatchTable, table=code)
    assert (snapshot.board, snapshot.next_id) == (None, 1)
    assert [row.player for row in snapshot.standings] == [anna.player]


async def test_a_racer_who_watches_the_own_table_without_the_seat_is_sent_no_board(
    server: InProcessServer,
) -> None:
    anna = await server.player("Anna")
    code = await server.race(anna)
    other = await server.player("Anna")
    assert (await other.at_table(WatchTable, table=code)).board is None
    await anna.moves("draw")


async def test_the_next_id_is_above_every_id_of_the_seat_and_of_the_board(
    server: InProcessServer,
) -> None:
    anna, bert = await server.player("Anna"), await server.player("Bert")
    code = await server.race(anna, bert)
    anna.last_id = 70
    await anna.moves("draw")
    back = await server.player("Anna")
    snapshot = await back.at_table(Resume, table=code)
    assert snapshot.next_id == 72


async def test_a_board_that_the_store_knows_better_is_read_again(server: InProcessServer) -> None:
    anna = await server.player("Anna")
    code = await server.race(anna)
    server.faults.lost_replies = 1  # the move is stored, and this node has not noticed it
    await anna.move("draw")
    back = await server.player("Anna")
    snapshot = await back.at_table(Resume, table=code)
    assert snapshot.board is not None
    assert snapshot.board.count == 1


async def test_after_a_race_there_is_its_outcome(server: InProcessServer) -> None:
    anna, bert = await server.player("Anna"), await server.player("Bert")
    code = await server.race(anna, bert)
    for racer in (anna, bert):
        await racer.cash_out()
    await server.settle()
    (over,) = anna.received.all(RaceOver)
    await bert.ask(LeaveTable, table=code)
    snapshot = await bert.at_table(WatchTable, table=code)
    assert (snapshot.outcome, snapshot.board, snapshot.standings) == (over.outcome, None, [])
    await anna.ask(NextRace, table=code)
    assert (await bert.at_table(WatchTable, table=code)).table.phase == "gathering"


async def test_a_race_that_ends_while_its_standings_are_read_is_sent_as_over_with_its_outcome(
    server: InProcessServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with beside(server) as nodes:
        anna, wanda = await nodes.east.player("Anna"), await nodes.west.player("Wanda")
        code = await nodes.race(anna)
        boards = nodes.west.store.boards
        read = boards.load_standings

        async def slowly(table: str, race: int) -> dict[str, LiveStanding]:
            monkeypatch.setattr(boards, "load_standings", read)
            standings = await read(table, race)
            await anna.cash_out()
            await nodes.settle()
            return standings

        monkeypatch.setattr(boards, "load_standings", slowly)
        snapshot = await wanda.at_table(WatchTable, table=code)
        (over,) = anna.received.all(RaceOver)
        assert (snapshot.table.phase, snapshot.outcome) == ("over", over.outcome)
        assert (snapshot.board, snapshot.standings) == (None, [])
