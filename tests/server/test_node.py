"""A node: its readiness, its refusals while it drains, and its stop."""

from kit.in_process_server import (
    InProcessServer,
    compose_node,
    gathered,
)
from saratoga_protocol.commands import (
    CreateTable,
    JoinTable,
    Start,
)
from saratoga_protocol.events import (
    RaceOver,
)
from saratoga_server.domain.tables import Change, TableState, resume, unpack
from saratoga_server.ports import Millis

# Draining


async def test_a_draining_node_starts_nothing_and_finishes_everything(
    server: InProcessServer,
) -> None:
    anna, bert = await server.player("Anna"), await server.player("Bert")
    code = await server.race(anna, bert)
    waiting = await server.player("Cleo")
    other = await gathered(waiting)
    await waiting.ready()
    server.node.readiness.is_draining = True
    assert await server.node.why_not_ready() is not None
    late = await server.player("Dan")
    assert await late.refused(CreateTable, game="canfield") == "draining"
    assert await waiting.refused(Start, table=other) == "draining"
    await late.at_table(JoinTable, table=code)
    await anna.moves("draw")
    await anna.cash_out()
    await bert.cash_out()
    await server.settle()
    assert len(anna.received.all(RaceOver)) == 1


async def test_a_node_about_to_stop_is_not_ready_but_goes_on(server: InProcessServer) -> None:
    server.node.readiness.is_stopping = True
    assert await server.node.why_not_ready() == "This server is about to stop."
    anna, bert = await server.player("Anna"), await server.player("Bert")
    code = await server.race(anna, bert)
    live_table = await server.node.table_cache.get(code)
    (session,) = server.node.broadcaster.sessions_of(live_table.state.seats[0].player)
    assert server.node.dispatcher.is_racing(session)
    outside = await server.player("Cleo")
    (session,) = (each for each in server.node.broadcaster.sessions if each.seat is None)
    assert outside.name == session.name
    assert not server.node.dispatcher.is_racing(session)


async def test_players_of_a_draining_node_are_disconnected_only_if_not_back_when_it_stops(
    server: InProcessServer,
) -> None:
    anna, bert = await server.player("Anna"), await server.player("Bert")
    code = await server.race(anna, bert)
    elsewhere = await compose_node(server.store, server.time, node="other")
    server.node.readiness.is_draining = True
    version, _ = await server.stored(code)
    for session in list(server.node.broadcaster.sessions):
        await server.node.dispatcher.disconnected(session)
    # other players see no change, because the player will reconnect at once
    assert (await server.stored(code))[0] == version

    def back(table: TableState, now: Millis) -> Change | None:
        return resume(
            table, anna.player, node=elsewhere.name, hello=anna.session.hello + 1, now=now
        )

    await elsewhere.table_cache.change(code, back)
    await server.node.stop()
    seats = {seat.name: seat.node for seat in unpack((await server.stored(code))[1]).seats}
    assert seats == {"Anna": elsewhere.name, "Bert": ""}
    await elsewhere.stop()


async def test_a_node_is_ready_when_its_store_answers(server: InProcessServer) -> None:
    assert await server.node.why_not_ready() is None
    server.faults.unavailable = True
    server.time.at += 1000
    assert await server.node.why_not_ready() == "The store does not answer."


async def test_a_stopped_node_is_not_listed_as_alive(server: InProcessServer) -> None:
    assert await server.is_alive(server.node.name)
    await server.node.stop()
    assert not await server.is_alive(server.node.name)


async def test_a_node_stops_without_its_store(server: InProcessServer) -> None:
    anna, bert = await server.player("Anna"), await server.player("Bert")
    await server.race(anna, bert)
    server.node.readiness.is_draining = server.faults.unavailable = True
    await server.node.stop()
    server.faults.unavailable = False
    assert await server.is_alive(server.node.name)
