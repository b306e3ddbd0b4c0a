"""Tables as others see them: watched without a seat, listed if public, closed in the end."""

from kit.guests import GuestInMemory
from kit.rooms import HouseInMemory, gathered, listed
from saratoga_protocol.commands import (
    JoinTable,
    LeaveTable,
    UnwatchTable,
    WatchTable,
)
from saratoga_protocol.events import (
    BoardEnded,
    Dealt,
    Refused,
    SeatLost,
    Standings,
    TableChanged,
)
from saratoga_server.domain.tables.timers import EMPTY_MILLIS, IDLE_MILLIS
from saratoga_server.handlers.seats import MOST_WATCHED


async def guests(rooms: HouseInMemory, *names: str) -> list[GuestInMemory]:
    return [await rooms.guest(name) for name in names]


async def test_a_watcher_sees_standings_and_never_a_board(rooms: HouseInMemory) -> None:
    anna, bert, wanda = await guests(rooms, "Anna", "Bert", "Wanda")
    code = await rooms.race(anna, bert)
    snapshot = await wanda.at_table(WatchTable, table=code)
    assert snapshot.board is None
    assert [row.banked for row in snapshot.standings] == [1, 1]
    await anna.moves("draw")
    await anna.cash_out()
    await rooms.pass_time(250)
    rows = {row.player: row.state for row in wanda.heard.all(Standings)[-1].standings}
    assert rows == {anna.player: "cashed out", bert.player: "racing"}
    assert wanda.heard.all(Dealt) == []
    assert wanda.heard.all(BoardEnded) == []


async def test_who_stops_watching_hears_no_more(rooms: HouseInMemory) -> None:
    anna, wanda = await guests(rooms, "Anna", "Wanda")
    code = await gathered(anna)
    await wanda.at_table(WatchTable, table=code)
    await wanda.ask(UnwatchTable, table=code)
    told = len(wanda.heard.events)
    await anna.ready()
    assert wanda.heard.events[told:] == []


async def test_watching_ones_own_table_and_stopping_keeps_the_seat(
    rooms: HouseInMemory,
) -> None:
    anna, bert = await guests(rooms, "Anna", "Bert")
    code = await gathered(anna, bert)
    await anna.at_table(WatchTable, table=code)
    await anna.ask(UnwatchTable, table=code)
    told = len(anna.heard.events)
    await bert.ready()
    assert len(anna.heard.all(TableChanged, told)) == 1


async def test_one_connection_watches_so_many_tables_and_no_more(
    rooms: HouseInMemory,
) -> None:
    (wanda,) = await guests(rooms, "Wanda")
    codes = []
    for number in range(MOST_WATCHED + 1):
        host = await rooms.guest(f"Host {number + 10}")
        codes.append(await gathered(host))
    for code in codes[:-1]:
        await wanda.at_table(WatchTable, table=code)
    assert isinstance(await wanda.ask(WatchTable, table=codes[-1]), Refused)
    await wanda.at_table(WatchTable, table=codes[0])
    await wanda.ask(UnwatchTable, table=codes[0])
    await wanda.at_table(WatchTable, table=codes[-1])


# The end of a table


async def test_an_empty_table_is_not_listed_and_closes_after_a_while(
    rooms: HouseInMemory,
) -> None:
    anna, bert = await guests(rooms, "Anna", "Bert")
    code = await gathered(anna, public=True)
    await bert.at_table(WatchTable, table=code)
    await anna.ask(LeaveTable, table=code)
    assert await listed(anna) == []
    await rooms.pass_time(EMPTY_MILLIS)
    assert [lost.table for lost in bert.heard.all(SeatLost)] == [code]
    assert await anna.refused(JoinTable, table=code) == "table_closed"
    assert await anna.refused(WatchTable, table=code) == "table_closed"
    await rooms.pass_time(0)
    assert rooms.house.table_cache.known(code) is None


async def test_a_table_where_nothing_happens_closes(rooms: HouseInMemory) -> None:
    anna, bert = await guests(rooms, "Anna", "Bert")
    code = await gathered(anna, bert, public=True)
    await rooms.pass_time(IDLE_MILLIS)
    for guest in (anna, bert):
        assert [lost.table for lost in guest.heard.all(SeatLost)] == [code]
    assert await listed(anna) == []
    await gathered(bert, anna)
