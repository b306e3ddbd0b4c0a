"""What a store holds, counted."""

import asyncio

import msgpack

from kit.in_process_server import InProcessServer
from kit.tables import of_unknown_game
from saratoga_protocol.commands import CashOut
from saratoga_server.admin.census import take_census
from saratoga_server.store.keys import records_key, table_key


async def test_tables_races_moves_players_and_results_are_counted(server: InProcessServer) -> None:
    anna, bert, cleo = [await server.player(name) for name in ("Anna", "Bert", "Cleo")]
    over, running = await server.race(anna, bert), await server.race(cleo)
    for player in (anna, bert):
        await player.moves("draw")
        await player.ask(CashOut, race=f"{over}/1")
    await cleo.moves("draw", "draw")
    await server.settle()
    await server.node.leaderboards.settle()
    census = await take_census(server.real)
    assert (census.tables, census.records, census.running, census.boards) == (2, 1, 1, 1)
    assert (census.moves, census.players, census.results) == (6, 3, 2)
    assert census.damaged == []
    # what cannot be read is named, and counted as far as it can be
    raw = server.store.server
    await asyncio.to_thread(raw.ask, "HSET", records_key(over), "1", "saratoga record 0")
    await server.rewrite(running, msgpack.packb({"code": running}))
    census = await take_census(server.real)
    assert [what.partition(":")[0] for what in sorted(census.damaged)] == [
        f"the record of race {over}/1",
        f"the table {running}",
    ]
    assert census.moves == 0


async def test_tables_for_newer_nodes_are_counted_and_not_damaged(server: InProcessServer) -> None:
    anna = await server.player("Anna")
    code = await server.race(anna)
    _, body = await server.stored(code)
    await server.rewrite(code, of_unknown_game(body))
    census = await take_census(server.real)
    assert (census.tables, census.newer, census.running, census.damaged) == (1, 1, 0, [])


async def test_whatever_cannot_be_read_is_damaged_and_the_rest_is_counted(
    server: InProcessServer,
) -> None:
    anna, bert = [await server.player(name) for name in ("Anna", "Bert")]
    harmed = await server.race(anna)
    await server.race(bert)
    await bert.moves("draw", "draw")
    await server.settle()
    write = server.real.client.command
    await write("SET", records_key(harmed), "no hash")
    await write("HSET", table_key("mint-otter-41"), "version", "abc")
    await write("HSET", table_key("mint-otter-42"), "body", "no version")
    await write("HSET", table_key("mint-otter-43").encode() + b"\xff", "version", "1")
    census = await take_census(server.real)
    assert (census.tables, census.running, census.boards, census.moves) == (5, 2, 2, 2)
    reasons = dict(what.split(": ", 1) for what in census.damaged)
    assert len(reasons) == 4
    assert reasons["the table mint-otter-41"].startswith("invalid literal")
    assert reasons["the table mint-otter-42"] == "it has no version"
    assert reasons[f"the record of race {harmed}/1"].startswith("it cannot be read (ResponseError")
