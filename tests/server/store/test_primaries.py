"""Which primary owns which key."""

from kit.stores import StoreServer
from saratoga_server.store.primaries import open_primaries


async def test_a_store_by_itself_owns_every_key(store_server: StoreServer) -> None:
    primaries = await open_primaries(store_server.url)
    try:
        [only] = primaries.all()
        assert primaries.of("{p1}:due") is primaries.of("{p2}:due") is only
        assert await only.client.ping()
    finally:
        await primaries.close()


async def test_a_primarys_name_gives_no_password_away() -> None:
    primaries = await open_primaries("redis://user:secret@localhost:1/0?password=secret")
    assert [primary.name for primary in primaries.all()] == ["localhost:1/0"]
    await primaries.close()
