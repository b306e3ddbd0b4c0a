"""A house that was away, or died without a goodbye: nobody pays for what the house did not hear."""

from kit.rooms import HouseInMemory, gathered
from saratoga_protocol.commands import Resume
from saratoga_server.domain.board import IDLE_MILLIS
from saratoga_server.domain.tables.timers import LOOK_MILLIS


async def test_a_killed_nodes_seats_are_found_empty_once_it_counts_as_dead(
    rooms: HouseInMemory,
) -> None:
    anna, bert = await rooms.guest("Anna"), await rooms.guest("Bert")
    code = await gathered(anna, bert)
    killed = rooms.house.name
    await rooms.restart()
    rooms.fake.nodes.add(killed)  # its last sign of life still holds
    back = await rooms.guest("Bert")
    await back.at_table(Resume, table=code)
    await rooms.pass_time(1000)
    assert [seat.connected for seat in back.table.seats] == [True, True]
    rooms.fake.nodes.discard(killed)
    await rooms.pass_time(1000)
    assert [seat.connected for seat in back.table.seats] == [False, True]


async def test_nobody_counts_as_gone_for_the_time_in_which_the_house_was_away(
    rooms: HouseInMemory,
) -> None:
    code = await rooms.race(await rooms.guest("Anna"), await rooms.guest("Bert"), cap=20)
    rooms.time.at += IDLE_MILLIS
    await rooms.restart()
    for name in ("Anna", "Bert"):
        await (await rooms.guest(name)).at_table(Resume, table=code)
    await rooms.pass_time(LOOK_MILLIS)
    assert [seat.name for seat in rooms.state(code).seats] == ["Anna", "Bert"]
    await rooms.pass_time(IDLE_MILLIS)
    assert len(rooms.state(code).seats) == 1
