"""What a connection is shown: snapshots, and tables that it only watches."""

import pytest

from kit.in_process_server import InProcessServer, beside, gathered, listed
from kit.players import MemoryPlayer
from saratoga_protocol.commands import JoinTable, LeaveTable, LockTable, NextRace
from saratoga_protocol.events import (
    RaceOver,
    SeatLost,
    Snapshot,
    Standings,
)
from saratoga_server.domain.tables.timers import EMPTY_MILLIS
from saratoga_server.handlers.seats import MOST_WATCHED
from saratoga_server.limits import RateLimiter
from saratoga_server.ports import LiveStanding

# Watching tables: the events for watchers, their number, and the end of watching


async def players(server: InProcessServer, *names: str) -> list[MemoryPlayer]:
    return [await server.player(name) for name in names]


async def test_a_watcher_sees_standings_and_never_a_board(server: InProcessServer) -> None:
    anna, bert, wanda = await players(server, "Anna", "Bert", "Wanda")
    code = await server.race(anna, bert)
    snapshot = await wanda.at_table(JoinTable, table=code, seat=False)
    assert snapshot.board is None
    assert [row.banked for row in snapshot.standings] == [1, 1]
    await anna.moves("draw")
    await anna.cash_out()
    await server.pass_time(250)
    rows = {row.player: row.state for row in wanda.received.all(Standings)[-1].standings}
    assert rows == {anna.player: "cash-out", bert.player: "racing"}
    assert wanda.received.deals() == []
    assert wanda.received.endings() == []


async def test_a_player_who_only_watches_from_a_second_tab_is_refused_and_may_stay(
    server: InProcessServer,
) -> None:
    (anna,) = await players(server, "Anna")
    code = await gathered(anna)
    (tab,) = await players(server, "Anna")
    await tab.at_table(JoinTable, table=code, seat=False)
    assert await tab.refused(LockTable, table=code, locked=True) == "taken_over"
    assert tab.close_codes == []


async def test_one_connection_watches_a_limited_number_of_tables(
    server: InProcessServer,
) -> None:
    (wanda,) = await players(server, "Wanda")
    codes = []
    for number in range(MOST_WATCHED + 1):
        host = await server.player(f"Host {number + 10}")
        codes.append(await gathered(host))
    for code in codes[:-1]:
        await wanda.at_table(JoinTable, table=code, seat=False)
    answer = await wanda.ask(JoinTable, table=codes[-1], seat=False)
    # a limit that lasts: a client that repeated the command would loop for ever
    assert (answer.code, answer.retry) == ("watch_limit", False)
    await wanda.at_table(JoinTable, table=codes[0], seat=False)
    await wanda.ask(LeaveTable, table=codes[0])
    await wanda.at_table(JoinTable, table=codes[-1], seat=False)


# The end of a table


async def test_an_empty_table_is_not_listed_and_is_closed_after_a_while(
    server: InProcessServer,
) -> None:
    anna, bert = await players(server, "Anna", "Bert")
    code = await gathered(anna, public=True)
    await bert.at_table(JoinTable, table=code, seat=False)
    await anna.ask(LeaveTable, table=code)
    assert await listed(anna) == []
    await server.pass_time(EMPTY_MILLIS)
    assert [lost.table for lost in bert.received.all(SeatLost)] == [code]
    assert await anna.refused(JoinTable, table=code) == "table_closed"
    assert await anna.refused(JoinTable, table=code, seat=False) == "table_closed"
    await server.pass_time(0)
    assert server.node.tables.known(code) is None


# The number of watchers


async def test_a_full_table_of_watchers_still_takes_a_player(
    server: InProcessServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("saratoga_server.handlers.seats.MAX_WATCHERS", 1)
    anna, bert, cleo = [await server.player(name) for name in ("Anna", "Bert", "Cleo")]
    code = await gathered(anna)
    await bert.ask(JoinTable, table=code, seat=False)
    await bert.ask(JoinTable, table=code, seat=False)
    assert await cleo.refused(JoinTable, table=code, seat=False) == "table_full"
    assert isinstance(await cleo.ask(JoinTable, table=code), Snapshot)
    await bert.ask(LeaveTable, table=code)
    assert isinstance(await cleo.ask(JoinTable, table=code, seat=False), Snapshot)


async def test_watchers_of_one_address_leave_room_for_others_at_a_table(
    server: InProcessServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("saratoga_server.limits.MAX_WATCHERS_PER_ADDRESS", 2)
    limiter = RateLimiter(server.time.steady)
    anna = await server.player("Anna")
    code = await gathered(anna)
    crowd = [await server.player(name) for name in ("Bert", "Cleo", "Dan")]
    outside = await server.player("Emma")
    for player in crowd:
        player.session.quota = limiter.open("203.0.113.7")
    outside.session.quota = limiter.open("198.51.100.9")
    bert, cleo, dan = crowd
    for player in (bert, cleo, bert):
        assert isinstance(await player.ask(JoinTable, table=code, seat=False), Snapshot)
    assert await dan.refused(JoinTable, table=code, seat=False) == "table_full"
    assert isinstance(await outside.ask(JoinTable, table=code, seat=False), Snapshot)
    await cleo.ask(LeaveTable, table=code)
    assert isinstance(await dan.ask(JoinTable, table=code, seat=False), Snapshot)


# Snapshots: the first event that a connection receives about a table


async def test_a_racer_is_sent_the_own_board_and_everybodys_standing(
    server: InProcessServer,
) -> None:
    anna, bert = await server.player("Anna", legal=True), await server.player("Bert")
    code = await server.race(anna, bert)
    await anna.moves("draw")
    await bert.moves("draw", "draw")
    back = await server.player("Anna", legal=True)
    snapshot = await back.at_table(JoinTable, table=code)
    assert (snapshot.board, snapshot.now) == (anna.board, server.time.at)
    assert {row.player for row in snapshot.standings} == {anna.player, bert.player}
    without = await (await server.player("Bert")).at_table(JoinTable, table=code)
    assert without.board is not None
    assert (without.board.count, without.board.legal) == (2, None)


async def test_after_a_race_there_is_its_outcome(server: InProcessServer) -> None:
    anna, bert = await server.player("Anna"), await server.player("Bert")
    code = await server.race(anna, bert)
    for racer in (anna, bert):
        await racer.cash_out()
    await server.settle()
    (over,) = anna.received.all(RaceOver)
    await bert.ask(LeaveTable, table=code)
    snapshot = await bert.at_table(JoinTable, table=code, seat=False)
    assert (snapshot.outcome, snapshot.board, snapshot.standings) == (over.outcome, None, [])
    await anna.ask(NextRace, table=code)
    assert (await bert.at_table(JoinTable, table=code, seat=False)).table.phase == "gathering"


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
        snapshot = await wanda.at_table(JoinTable, table=code, seat=False)
        (over,) = anna.received.all(RaceOver)
        assert (snapshot.table.phase, snapshot.outcome) == ("over", over.outcome)
        assert (snapshot.board, snapshot.standings) == (None, [])
