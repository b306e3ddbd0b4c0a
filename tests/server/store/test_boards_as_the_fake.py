"""Every store answers every commit as the fake does."""

from collections.abc import AsyncIterator
from itertools import count

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from kit.fake_store import fake_store
from kit.running_race import ANNA, BERT, AnyStore, commit_all, move, running_race
from kit.stores import StoreServer
from saratoga_server.ports import BoardCommit, TableWrite
from saratoga_server.store.opening import Store, open_store

numbers = count()


@pytest.fixture
async def store(store_server: StoreServer) -> AsyncIterator[Store]:
    async with open_store(store_server.url) as opened:
        yield opened


small = st.integers(0, 3)
commits = st.builds(
    BoardCommit,
    table=st.just(""),
    race=st.sampled_from([1, 1, 1, 1, 2]),
    player=st.sampled_from([ANNA, ANNA, ANNA, BERT, BERT, "nobody"]),
    epoch=small,
    command_id=st.integers(0, 6),
    after=small,
    entries=st.lists(st.sampled_from(["draw", "w>t1", "stuck"]), min_size=1, max_size=3).map(tuple),
    banked=small,
    state=st.sampled_from(["racing", "racing", "racing", "racing", "won", "stuck"]),
    rises=st.booleans(),
    late=st.booleans(),
)
batches = st.lists(st.one_of(st.lists(commits, min_size=1, max_size=4), small), max_size=12)


@given(batches=batches, minutes=st.sampled_from([10, 10, 10, 1, 0]))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
async def test_every_store_answers_as_the_fake_does(
    store: Store, batches: list[list[BoardCommit] | int], minutes: int
) -> None:
    code = f"mint-otter-{next(numbers)}"
    fake = fake_store()
    told = []
    for each in (store, fake):
        await running_race(each, code=code, minutes=minutes, started_ago=70_000, banked=1)
        told.append(await story(each, code, batches))
    assert told[0] == told[1]


async def story(store: AnyStore, code: str, batches: list[list[BoardCommit] | int]) -> list[object]:
    """All that a server can see, times excepted."""
    told: list[object] = []
    version = 1
    for batch in batches:
        if isinstance(batch, int):
            write = TableWrite(
                code=code, expected=version, body=b"", due=None, race=1, epochs={ANNA: batch}
            )
            assert await store.tables.save_table(write)
            version += 1
            continue
        outcomes = await commit_all(store, [replace(each, table=code) for each in batch])
        told += [(each.status, each.length, each.number) for each in outcomes]
    for player in (ANNA, BERT):
        board = await store.boards.load_board(code, 1, player)
        assert board is not None
        told += [(board.epoch, board.last_id, board.banked, board.state)]
        told += [(each.text, each.number, each.command_id) for each in board.entries]
    standings = await store.boards.load_standings(code, 1)
    told += [
        (player, each.length, each.banked, each.state, each.reached and each.reached.number)
        for player, each in standings.items()
    ]
    told.append(code in await store.tables.due(await store.tables.now(), 1000))
    return told


async def test_more_boards_than_fit_into_one_request(store: Store) -> None:
    codes = [f"lone-crane-{number}" for number in range(300)]
    for code in codes:
        await running_race(store, code=code)
    for after in range(2):
        outcomes = await commit_all(
            store,
            [
                move("draw", after, code=code, player=player)
                for code in codes
                for player in (ANNA, BERT)
            ],
        )
        assert [outcome.length for outcome in outcomes] == [after + 1] * 600
