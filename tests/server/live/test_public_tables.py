"""The list of public tables is what they are now, whatever restarts there were."""

from kit.rooms import HouseInMemory, gathered, listed
from saratoga_protocol.commands import ChangeSettings, JoinTable, LeaveTable, Resume
from saratoga_server.domain.tables.timers import ALONE_MILLIS


async def test_public_tables_are_listed_as_they_are_now(rooms: HouseInMemory) -> None:
    anna, bert, cleo = [await rooms.guest(name) for name in ("Anna", "Bert", "Cleo")]
    code = await gathered(anna, public=True)
    await gathered(cleo)
    assert await listed(bert) == [("Anna", "gathering", 1)]
    await bert.at_table(JoinTable, table=code)
    assert await listed(bert) == [("Anna", "gathering", 2)]
    await rooms.deal(anna, bert)
    assert await listed(bert) == [("Anna", "running", 2)]
    await anna.ask(LeaveTable, table=code)
    assert await listed(bert) == [("Bert", "running", 1)]


async def test_a_table_made_private_is_listed_no_more_even_after_a_restart(
    rooms: HouseInMemory,
) -> None:
    anna = await rooms.guest("Anna")
    code = await gathered(anna, public=True)
    await rooms.restart()
    back = await rooms.guest("Anna")
    await back.at_table(Resume, table=code)
    await back.ask(ChangeSettings, table=code, public=False)
    assert await listed(back) == []


async def test_a_table_that_lost_its_last_player_in_a_restart_is_listed_no_more(
    rooms: HouseInMemory,
) -> None:
    anna = await rooms.guest("Anna")
    await gathered(anna, public=True)
    await rooms.restart()
    await rooms.pass_time(ALONE_MILLIS)
    bert = await rooms.guest("Bert")
    await rooms.pass_time(ALONE_MILLIS)
    assert await listed(bert) == []
