"""Every kind of store gives the same outcomes for any sequence of commits."""

from itertools import count

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from kit.running_race import ANNA, BERT, AnyStore, commit_all, move, running_race
from kit.stepped_store import empty_store
from kit.stores import calm
from saratoga_server.ports import BoardCommit, TableWrite
from saratoga_server.store.opening import Store

numbers = count()


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


@calm
@given(batches=batches, minutes=st.sampled_from([10, 10, 10, 1, 0]))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
async def test_every_store_answers_as_the_embedded_one_does(
    store: Store, batches: list[list[BoardCommit] | int], minutes: int
) -> None:
    code = f"mint-otter-{next(numbers)}"
    stories = []
    async with empty_store() as embedded:
        for each in (store, embedded):
            await running_race(each, code=code, minutes=minutes, started_ago=70_000, banked=1)
            stories.append(await story(each, code, batches))
    assert stories[0] == stories[1]


async def story(store: AnyStore, code: str, batches: list[list[BoardCommit] | int]) -> list[object]:
    """Commit the batches; return their outcomes and all stored data, except times."""
    seen: list[object] = []
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
        seen += [(each.status, each.length, each.number) for each in outcomes]
    for player in (ANNA, BERT):
        board = await store.boards.load_board(code, 1, player)
        assert board is not None
        seen += [(board.epoch, board.last_id, board.banked, board.state)]
        seen += [(each.text, each.number, each.command_id) for each in board.entries]
    standings = await store.boards.load_standings(code, 1)
    seen += [
        (player, each.length, each.banked, each.state, each.reached and each.reached.number)
        for player, each in standings.items()
    ]
    seen.append(code in await store.tables.due(await store.tables.now(), 1000))
    return seen


@calm
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
