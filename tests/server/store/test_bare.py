"""A store as it is found: fit or not, alone or a cluster, and untouched by being looked at."""

import pytest

from kit.stores import StoreServer
from saratoga_server.ports import StoreRefused, StoreUnavailable
from saratoga_server.store.bare import open_bare_store


async def test_a_store_that_no_house_would_take_is_opened_and_left_as_it_was(
    mortal_store: StoreServer,
) -> None:
    mortal_store.ask("CONFIG", "SET", "appendfsync", "no")
    mortal_store.ask("CONFIG", "SET", "maxmemory-policy", "allkeys-lru")
    async with open_bare_store(mortal_store.url) as store:
        assert store.product in {"Redis", "Valkey"}
        assert store.version.partition(".")[0] in {"7", "8", "9"}
        assert len(store.primaries.all()) == 1
    assert mortal_store.ask_all("FUNCTION", "LIST").startswith(b"*0")


async def test_whoever_is_not_let_in_is_told(mortal_store: StoreServer) -> None:
    mortal_store.ask("ACL", "SETUSER", "default", "-info")
    with pytest.raises(StoreRefused, match="not to us"):
        async with open_bare_store(mortal_store.url):
            pass


async def test_nobody_at_home_is_told(mortal_store: StoreServer) -> None:
    mortal_store.kill()
    with pytest.raises(StoreUnavailable, match="does not answer"):
        async with open_bare_store(mortal_store.url):
            pass
