"""Players keep their seats and boards although their server was stopped or killed."""

from kit.in_process_server import InProcessServer, gathered
from saratoga_protocol.commands import Resume
from saratoga_server.domain.board import IDLE_MILLIS
from saratoga_server.domain.tables.timers import LOOK_MILLIS


async def test_seats_at_a_killed_node_are_disconnected_once_it_counts_as_dead(
    server: InProcessServer,
) -> None:
    anna, bert = await server.player("Anna"), await server.player("Bert")
    code = await gathered(anna, bert)
    killed = server.node.name
    await server.restart()
    # the last heartbeat of the killed node has not expired yet
    await server.real.nodes.beat(killed)
    back = await server.player("Bert")
    await back.at_table(Resume, table=code)
    await server.pass_time(1000)
    assert [seat.connected for seat in back.table.seats] == [True, True]
    await server.real.nodes.gone(killed)
    await server.pass_time(1000)
    assert [seat.connected for seat in back.table.seats] == [False, True]


async def test_the_servers_downtime_does_not_count_as_a_players_absence(
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
