"""At the level `replicated` a store needs a replica in sync, and its disk is asked if it answers."""

import pytest

from kit.running_race import move, running_race
from kit.stores import StoreServer, replica_of
from saratoga_server.ports import CommitStatus, StoreRefused
from saratoga_server.store.durability import Durability
from saratoga_server.store.opening import open_store


async def test_a_store_without_a_replica_is_refused(store_server: StoreServer) -> None:
    with pytest.raises(StoreRefused, match="no replica in sync"):
        async with open_store(store_server.url, Durability.REPLICATED):
            pass


async def test_a_replica_that_keeps_no_file_is_not_asked_for_its_disk(
    mortal_store: StoreServer, caplog: pytest.LogCaptureFixture
) -> None:
    with replica_of(mortal_store, {"appendonly": "no"}):
        async with open_store(mortal_store.url, Durability.REPLICATED) as store:
            race = await running_race(store)
            [outcome] = await race.commit(move("draw", 0))
            assert outcome.status is CommitStatus.DONE
    knows = mortal_store.ask("WAITAOF", "0", "0", "1").startswith(b"*")
    assert ("replica_not_on_disk" in caplog.text) == knows
