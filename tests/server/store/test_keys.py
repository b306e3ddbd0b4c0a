"""Keys: almost none has a TTL."""

from kit.in_process_server import InProcessServer, gathered
from saratoga_protocol.commands import NextRace
from saratoga_protocol.events import Done
from saratoga_server.admin.acts import Administration
from saratoga_server.app import compose_table_cache
from saratoga_server.ports import Millis, PlayerRow
from saratoga_server.store.keys import player_key

KINDS = ("string", "hash", "list", "zset", "set")


async def with_ttl(server: InProcessServer) -> set[str]:
    """Return the keys that the store will delete by its own clock."""
    keys = [key for kind in KINDS async for key in server.real.client.scan("*", kind)]
    ends = await server.real.client.commands([("PEXPIRETIME", key) for key in keys])
    return {key for key, end in zip(keys, ends, strict=True) if end != -1}


async def test_no_key_of_a_played_evening_is_deleted_by_the_stores_own_clock(
    server: InProcessServer,
) -> None:
    anna, bert = await server.player("Anna"), await server.player("Bert")
    row = PlayerRow(player="c" * 16, token_hash="hash", created=Millis(server.time.at))
    await server.store.players.create_player(row)
    code = await gathered(anna, bert, public=True)
    await server.deal(anna, bert)
    for racer in (anna, bert):
        await racer.moves("draw")
        await racer.cash_out()
    await server.pass_time(1000)
    assert isinstance(await anna.ask(NextRace, table=code), Done)
    await server.deal(anna, bert)
    await anna.moves("draw")
    nameless = {player_key(row.player), f"node:{server.node.name}"}
    assert await with_ttl(server) == nameless, "one race has ended and one runs"
    admin = Administration(server.store, await compose_table_cache(server.store), "root")
    assert await admin.void(f"{code}/1") == "canfield"
    await admin.forget("Bert")
    await admin.close(code, "Closing time.")
    await server.pass_time(1000)
    assert await with_ttl(server) == nameless
