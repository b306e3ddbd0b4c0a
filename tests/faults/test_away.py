"""A house that was away, or died without a goodbye: nobody pays for what the house did not hear."""

from kit.in_process_server import InProcessServer, gathered
from saratoga_protocol.commands import Resume
from saratoga_server.domain.board import IDLE_MILLIS
from saratoga_server.domain.tables.timers import LOOK_MILLIS


async def test_a_killed_nodes_seats_are_found_empty_once_it_counts_as_dead(
    server: InProcessServer,
) -> None:
    anna, bert = await server.player("Anna"), await server.player("Bert")
    code = await gathered(anna, bert)
    killed = server.node.name
    await server.restart()
    await server.real.nodes.beat(killed)  # its last sign of life still holds
    back = await server.player("Bert")
    await back.at_table(Resume, table=code)
    await server.pass_time(1000)
    assert [seat.connected for seat in back.table.seats] == [True, True]
    await server.real.nodes.gone(killed)
    await server.pass_time(1000)
    assert [seat.connected for seat in back.table.seats] == [False, True]


async def test_nobody_counts_as_gone_for_the_time_in_which_the_house_was_away(
    server: InProcessServer,
) -> None:
    code = await server.race(await server.player("Anna"), await server.player("Bert"), cap=20)
    server.time.at += IDLE_MILLIS
    await server.restart()
    for name in ("Anna", "Bert"):
        await (await server.player(name)).at_table(Resume, table=code)
    await server.pass_time(LOOK_MILLIS)
    assert [seat.name for seat in server.state(code).seats] == ["Anna", "Bert"]
    await server.pass_time(IDLE_MILLIS)
    assert len(server.state(code).seats) == 1
