"""The composing of a node, one option of its program, and draining."""

from kit.altered_server import QUICK
from kit.in_process_server import InProcessServer, compose_node, counted_down, gathered
from kit.players import player_at
from kit.server_process import running_server
from saratoga_protocol.commands import CreateTable, JoinTable, Start
from saratoga_protocol.events import BoardChanged, RaceOver
from saratoga_server.domain.tables import TableState, join, unpack
from saratoga_server.metrics import Metrics
from saratoga_server.node import Node
from saratoga_server.ports import Millis
from saratoga_server.store.opening import Store

# The composition root: composing a node


async def test_a_server_on_a_real_store_goes_by_the_stores_clock(valkey: Store) -> None:
    node = await Node.opened(valkey, "node-1", "test", Metrics())
    assert abs(node.clock.now() - await valkey.tables.now()) < 1000
    assert await node.why_not_ready() is None
    assert await valkey.nodes.dead([node.name, "another"]) == {"another"}
    await node.stop()
    assert await valkey.nodes.dead([node.name]) == {node.name}


# An option of the running server


async def test_the_operator_may_let_only_races_at_public_tables_count() -> None:
    async with (
        running_server("--ranked", "public", module=QUICK) as server_process,
        player_at(server_process.url, "Anna") as anna,
        player_at(server_process.url, "Bert") as bert,
    ):
        await gathered(anna, bert, public=False)
        await counted_down(anna, bert)
        for player in (anna, bert):
            await player.received.next(BoardChanged, 0, entries=[])
            await player.cash_out()
        over = await anna.received.next(RaceOver, 0)
        assert not over.outcome.ranked


# Draining


async def test_a_draining_node_starts_nothing_and_finishes_everything(
    server: InProcessServer,
) -> None:
    anna, bert, code = await server.two_racing()
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
    _, _, code = await server.two_racing()
    live_table = await server.node.tables.get(code)
    (session,) = server.node.broadcaster.sessions_of(live_table.state.seats[0].player)
    assert server.node.dispatcher.is_racing(session)
    outside = await server.player("Cleo")
    (session,) = (each for each in server.node.broadcaster.sessions if each.seat is None)
    assert outside.name == session.name
    assert not server.node.dispatcher.is_racing(session)


async def test_players_of_a_draining_node_are_disconnected_only_if_not_back_when_it_stops(
    server: InProcessServer,
) -> None:
    anna, _, code = await server.two_racing()
    elsewhere = await compose_node(server.store, server.time, node="other")
    server.node.readiness.is_draining = True
    version, _ = await server.stored(code)
    for session in list(server.node.broadcaster.sessions):
        await server.node.dispatcher.disconnected(session)
    # other players see no change, because the player will reconnect at once
    assert (await server.stored(code))[0] == version

    def back(table: TableState, now: Millis) -> TableState:
        return join(
            table,
            anna.player,
            "Anna",
            node=elsewhere.name,
            hello=anna.session.hello + 1,
            now=now,
        )

    await elsewhere.tables.change(code, back)
    await server.node.stop()
    seats = {seat.name: seat.node for seat in unpack((await server.stored(code))[1]).seats}
    assert seats == {"Anna": elsewhere.name, "Bert": ""}
    await elsewhere.stop()


async def test_a_node_stops_without_its_store(server: InProcessServer) -> None:
    await server.two_racing()
    server.node.readiness.is_draining = server.faults.unavailable = True
    await server.node.stop()
    server.faults.unavailable = False
    assert await server.is_alive(server.node.name)
