"""Opening a store: it is usable at once, or an error says that it is unavailable."""

import pytest

from kit.running_race import move, running_race
from kit.stores import StoreServer
from saratoga_server.ports import CommitStatus, StoreUnavailable
from saratoga_server.store.library import function_name
from saratoga_server.store.opening import open_store


async def test_an_opened_store_has_the_functions_and_takes_commits(
    store_server: StoreServer,
) -> None:
    async with open_store(store_server.url) as store:
        assert function_name("commit_boards").encode() in store_server.ask_all("FUNCTION", "LIST")
        race = await running_race(store)
        (outcome,) = await race.commit(move("draw", 0))
        assert outcome.status is CommitStatus.DONE


async def test_a_store_that_does_not_answer_is_unavailable(
    store_server: StoreServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("saratoga_server.store.opening.STORE_TIMEOUT", 0.0)
    with pytest.raises(StoreUnavailable):
        async with open_store(f"unix://{store_server.folder}/none"):
            raise AssertionError("opened without a store")
