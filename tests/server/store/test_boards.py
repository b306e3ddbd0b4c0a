"""Boards in a store, the same on every store."""

from itertools import count

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from kit.stores import EVERY_STORE, calm, empty_store
from kit.tables import (
    ANNA,
    BERT,
    CODE,
    MINUTE,
    RunningRace,
    commit_all,
    ending,
    move,
    running_race,
)
from saratoga_server.ports import BoardCommit, CommitOutcome, CommitStatus
from saratoga_server.store.opening import Store

# The boards of races, on every kind of store


async def test_a_move_is_appended_with_its_time_and_number(store: Store) -> None:
    race = await running_race(store)
    before = await store.tables.now()
    [outcome] = await race.commit(move("draw", 0))
    after = await store.tables.now()
    assert (outcome.status, outcome.length, outcome.number) == (CommitStatus.DONE, 1, 1)
    assert before <= outcome.at <= after
    board = await race.board()
    [entry] = board.entries
    assert (entry.text, entry.at, entry.number) == ("draw", outcome.at, 1)
    assert (board.epoch, board.banked, board.state) == (1, 0, "racing")


async def test_the_head_of_a_standing_is_the_last_one_that_was_committed(store: Store) -> None:
    race = await running_race(store)
    assert (await race.standing()).head == ""
    await race.commit(replace(move("draw", 0), head="9c1f0a5be27d4386"))
    await race.commit(move("draw", 1))
    assert (await race.standing()).head == "9c1f0a5be27d4386"
    assert (await race.standing(BERT)).head == ""


async def test_entries_that_stand_there_already_are_done_and_appended_once(store: Store) -> None:
    race = await running_race(store)
    [first] = await race.commit(move("draw", 0))
    [again] = await race.commit(replace(move("draw", 0), epoch=9))
    await race.commit(move("draw", 1))
    assert again == first
    assert again == (await race.commit(move("draw", 0)))[0], "a later entry changes nothing"
    [left] = await race.commit(ending("left", 2, "left"))
    assert (await race.commit(ending("left", 2, "left")))[0] == left
    assert (left.open, left.number) == (1, 3)
    [other] = await race.commit(ending("stuck", 3, "stuck"))
    assert (other.status, other.length) == (CommitStatus.BOARD_OVER, 3)
    assert await race.texts() == ["draw", "draw", "left"]


async def test_one_boards_failure_fails_no_other(store: Store) -> None:
    race = await running_race(store)
    outcomes = await race.commit(
        move("draw", 3),
        move("draw", 0, player="nobodynobodynobo"),
        move("draw", 0, player=BERT),
        move("draw", 0, code="amber-heron-07"),
    )
    assert [outcome.status for outcome in outcomes] == [
        CommitStatus.STALE,
        CommitStatus.NO_BOARD,
        CommitStatus.DONE,
        CommitStatus.NO_BOARD,
    ]
    assert await race.texts(BERT) == ["draw"]


async def test_the_first_move_is_not_lost_to_a_node_whose_clock_is_ahead(store: Store) -> None:
    race = await running_race(store, started_ago=-MINUTE)
    (outcome,) = await race.commit(move("draw", 0, banked=1, rises=True))
    assert (outcome.status, outcome.at) == (CommitStatus.DONE, race.start_at)
    assert [entry.at for entry in (await race.board()).entries] == [race.start_at]
    assert (await race.standing()).reached == (0, 1)


async def test_no_move_is_accepted_after_the_deadline_but_an_ending_is(store: Store) -> None:
    race = await running_race(store, started_ago=20 * MINUTE)
    [move_made] = await race.commit(move("draw", 0))
    [ended] = await race.commit(ending("out-of-time", 0, "out-of-time", late=True))
    assert move_made == CommitOutcome(CommitStatus.TIME_UP, 0)
    assert ended.status is CommitStatus.DONE
    assert (await race.board()).state == "out-of-time"


async def test_an_ending_just_before_the_deadline_is_written_at_it_and_no_move_follows(
    store: Store,
) -> None:
    race = await running_race(store, started_ago=10 * MINUTE - 90)
    deadline = race.start_at + 10 * MINUTE
    ended, move_made = await race.commit(
        ending("out-of-time", 0, "out-of-time", late=True), move("draw", 0, player=BERT)
    )
    assert ended.status is CommitStatus.DONE
    assert ended.at >= deadline
    assert move_made == CommitOutcome(CommitStatus.TIME_UP, 0)
    [entry] = (await race.board()).entries
    assert entry.at >= deadline


async def test_an_older_connection_is_fenced_off(store: Store) -> None:
    race = await running_race(store)
    await race.resumed(ANNA, 2)
    [old] = await race.commit(move("draw", 0, epoch=1))
    [new] = await race.commit(move("draw", 0, epoch=2))
    [server] = await race.commit(ending("left", 1, "left"))
    assert old == CommitOutcome(CommitStatus.FENCED, 0)
    assert new.status is server.status is CommitStatus.DONE
    assert (await race.board()).epoch == 2
    assert (await race.board(BERT)).epoch == 1


async def test_the_table_is_due_when_one_board_is_left_and_when_none_is(store: Store) -> None:
    race = await running_race(store)
    assert list(await store.tables.due(await store.tables.now(), 10)) == []
    await race.commit(ending("cash-out", 0, "cash-out"))
    assert list(await store.tables.due(await store.tables.now(), 10)) == [CODE]
    await store.tables.forget_timer(CODE)
    await race.commit(ending("stuck", 0, "stuck", player=BERT))
    assert list(await store.tables.due(await store.tables.now(), 10)) == [CODE]


async def test_a_count_is_reached_when_it_rises_to_it(store: Store) -> None:
    race = await running_race(store, banked=1)
    assert (await race.standing()).reached is None
    [first] = await race.commit(move("t1>up", 0, banked=2, rises=True))
    await race.commit(move("draw", 1, banked=2))
    standing = await race.standing()
    assert (standing.banked, standing.reached) == (2, (first.at - race.start_at, 1))


async def test_a_count_is_reached_by_the_move_not_by_the_ending_behind_it(store: Store) -> None:
    race = await running_race(store)
    last = move("t1>up", 0, banked=1, rises=True)
    outcomes = await race.commit(
        replace(last, state="stuck", entries=("t1>up", "stuck")),
        replace(last, state="won", player=BERT),
    )
    assert [outcome.number for outcome in outcomes] == [1, 3]
    standings = await store.boards.load_standings(CODE, 1)
    reached = [standings[player].reached for player in (ANNA, BERT)]
    assert [each and each.number for each in reached] == [1, 3]


# Every kind of store gives the same outcomes for any sequence of commits


numbers = count()


small = st.integers(0, 3)
commits = st.builds(
    BoardCommit,
    table=st.just(""),
    race=st.sampled_from([1, 1, 1, 1, 2]),
    player=st.sampled_from([ANNA, ANNA, ANNA, BERT, BERT, "nobody"]),
    epoch=small,
    after=small,
    entries=st.lists(st.sampled_from(["draw", "w>t1", "stuck"]), min_size=1, max_size=3).map(tuple),
    banked=small,
    state=st.sampled_from(["racing", "racing", "racing", "racing", "won", "stuck"]),
    rises=st.booleans(),
    late=st.booleans(),
)
batches = st.lists(st.one_of(st.lists(commits, min_size=1, max_size=4), small), max_size=12)


@pytest.mark.parametrize("store", EVERY_STORE[-1:], indirect=True)
@given(batches=batches, minutes=st.sampled_from([10, 10, 10, 1, 0]))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
async def test_every_store_answers_as_the_embedded_one_does(
    store: Store, batches: list[list[BoardCommit] | int], minutes: int
) -> None:
    code = f"mint-otter-{next(numbers)}"
    stories = []
    async with empty_store() as embedded:
        for each in (store, embedded):
            race = await running_race(
                each, code=code, minutes=minutes, started_ago=70_000, banked=1
            )
            stories.append(await story(race, code, batches))
    assert stories[0] == stories[1]


async def story(
    race: RunningRace, code: str, batches: list[list[BoardCommit] | int]
) -> list[object]:
    """Commit the batches; return their outcomes and all stored data, except times."""
    seen: list[object] = []
    store = race.store
    for batch in batches:
        if isinstance(batch, int):
            await race.resumed(ANNA, batch, code)
            continue
        outcomes = await commit_all(store, [replace(each, table=code) for each in batch])
        seen += [(each.status, each.length, each.number) for each in outcomes]
    for player in (ANNA, BERT):
        board = await store.boards.load_board(code, 1, player)
        assert board is not None
        seen += [(board.epoch, board.banked, board.state)]
        seen += [(each.text, each.number) for each in board.entries]
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
