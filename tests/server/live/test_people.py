"""Who is on a node: at tables, watching, in the lobby, and in a race without a connection."""

import pytest

from kit.in_process_server import InProcessServer, gathered
from saratoga_protocol.commands import Kick, WatchTable
from saratoga_server.live.people import Person, people


def names(server: InProcessServer) -> list[tuple[str, str]]:
    found = people(server.node.broadcaster, server.node.table_cache)
    return [(person.table, person.name) for person in found]


async def test_everybody_is_listed_by_table_but_no_bots(server: InProcessServer) -> None:
    anna, bert, cleo = [await server.player(name) for name in ("Anna", "Bert", "Cleo")]
    await server.player("Dan")
    code = await gathered(anna, bert, await server.player("Otto", bot=True))
    await cleo.at_table(WatchTable, table=code)
    server.connect("Nobody")
    assert names(server) == [("", "Dan"), (code, "Anna"), (code, "Bert"), (code, "Cleo")]
    found = people(server.node.broadcaster, server.node.table_cache)
    assert Person(anna.player, "Anna", code) in found


async def test_a_racer_without_a_connection_is_still_there(server: InProcessServer) -> None:
    anna, bert = await server.player("Anna"), await server.player("Bert")
    code = await server.race(anna, bert)
    await bert.disconnect()
    assert names(server) == [(code, "Anna"), (code, "Bert")]
    await anna.disconnect()
    again = await server.player("Anna")
    assert names(server) == [("", "Anna"), (code, "Bert")]
    assert again.player == anna.player


async def test_a_player_without_a_connection_is_still_there_while_the_seat_is_kept(
    server: InProcessServer,
) -> None:
    anna, bert = await server.player("Anna"), await server.player("Bert")
    code = await gathered(anna, bert)
    await bert.disconnect()
    assert names(server) == [(code, "Anna"), (code, "Bert")]
    await anna.ask(Kick, table=code, player=bert.player)
    assert names(server) == [(code, "Anna")]


@pytest.mark.parametrize("seated", [0, 1, 2])
async def test_of_several_connections_of_a_player_the_one_with_the_seat_counts(
    server: InProcessServer, seated: int
) -> None:
    connections = [await server.player("Anna") for _ in range(3)]
    code = await gathered(connections[seated])
    assert names(server) == [(code, "Anna")]
