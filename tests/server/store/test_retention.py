"""Retention: what is deleted, when, and what a wrong clock cannot delete."""

from collections.abc import AsyncIterator

import pytest
from msgspec.structs import replace

from kit.results import result_of
from kit.running_race import ANNA, BERT, CODE, move, running_race
from kit.stepped_store import SteppedStore, stepped_store
from kit.stores import StoreServer
from saratoga_server.domain.periods import periods
from saratoga_server.ports import (
    Millis,
    PlayerRow,
    RaceFinish,
    RaceOpening,
    Settlement,
    TableWrite,
    pack_settlement,
)
from saratoga_server.store import tables
from saratoga_server.store.keys import (
    CLOCKS_WITHIN,
    FINISHED_LOGS_KEPT,
    GUEST_KEPT,
    SETTLED_KEPT,
    TABLE_KEPT,
    UNTRUSTED_FOR,
    leaderboard_key,
    player_key,
    race_key,
    table_key,
)
from saratoga_server.store.opening import Store, open_store
from saratoga_server.store.retention import Swept

DAY = 24 * 60 * 60 * 1000
SOON = 10_000
"""Milliseconds that a test may take."""
START = Millis(2_261_779_200_000)
"""The time 2041-09-03 00:00 UTC, in milliseconds since 1970."""


@pytest.fixture
async def store(store_server: StoreServer) -> AsyncIterator[Store]:
    async with open_store(store_server.url) as opened:
        yield opened


async def ends(store: Store, pattern: str) -> dict[str, int]:
    """Return when each of the keys expires, in milliseconds since 1970; -1 means never."""
    _, keys = await store.client.command("SCAN", 0, "MATCH", pattern, "COUNT", 100_000)
    return {key.decode(): await store.client.command("PEXPIRETIME", key) for key in keys}


async def entries(store: Store, prefix: str = "") -> dict[str, int]:
    """Return when each key with this prefix is to be deleted, without the prefix."""
    flat = await store.client.command("ZRANGE", "expiring", 0, -1, "WITHSCORES")
    found = {key.decode(): int(at) for key, at in zip(flat[::2], flat[1::2], strict=True)}
    return {key.removeprefix(prefix): at for key, at in found.items() if key.startswith(prefix)}


async def finish(store: Store, expected: int, settlement: bytes | None = None) -> None:
    over = RaceFinish(race=1, record="record", settlement=settlement)
    assert await store.tables.save_table(
        TableWrite(code=CODE, expected=expected, body=b"over", due=None, finish=over)
    )


async def test_a_table_and_its_finished_races_are_due_after_the_last_write(store: Store) -> None:
    race = await running_race(store)
    await race.commit(move("draw", 0), move("draw", 0, player=BERT))
    before = await store.tables.now()
    await finish(store, 1)
    opening = RaceOpening(
        race=2, start_at=race.start_at, deadline=Millis(0), banked=0, epochs={ANNA: 1, BERT: 1}
    )
    write = TableWrite(code=CODE, expected=2, body=b"x", due=None, race=2, opening=opening)
    assert await store.tables.save_table(write)
    found = await entries(store, "table:")
    assert found.keys() == {CODE, f"{CODE}:race:1"}
    assert before + TABLE_KEPT <= found[CODE] <= before + TABLE_KEPT + SOON
    finished = found[f"{CODE}:race:1"]
    assert before + FINISHED_LOGS_KEPT <= finished <= before + FINISHED_LOGS_KEPT + SOON


async def test_players_without_a_name_expire_and_names_stay(store: Store) -> None:
    row = PlayerRow(player=ANNA, token_hash="a1", created=Millis(1))
    await store.players.create_player(row)
    await store.players.sit(ANNA, CODE)
    now = await store.tables.now()
    [end] = (await ends(store, player_key(ANNA))).values()
    assert now + GUEST_KEPT - SOON <= end <= now + GUEST_KEPT
    await store.players.claim_name(ANNA, "Anna", "anna")
    await store.players.stand_up(ANNA, CODE)
    await store.players.reserve_table(ANNA, 1, CODE)
    assert await ends(store, player_key(ANNA)) == {player_key(ANNA): -1}
    assert await ends(store, "name:*") == {"name:anna": -1}


async def test_leaderboards_are_due_with_their_period_and_marks_can_be_voided_as_long_as_tables(
    store: Store,
) -> None:
    result = result_of(ANNA, banked=9, net=-5, reached=1)
    settlement = Settlement(
        race="r/1", game="canfield", start_at=START, results=(result,), people=(ANNA,)
    )
    await running_race(store)
    await finish(store, 1, pack_settlement(settlement))
    assert await store.leaderboards.settle_outbox(1) == [settlement]
    board = leaderboard_key("canfield")
    found = await entries(store, f"{board}:")
    for period in periods(START):
        for ranking in ("best", "bankroll"):
            assert found.pop(f"{ranking}:{period.name}:people", 0) == period.gone
    now = await store.tables.now()
    assert now + SETTLED_KEPT - SOON <= found.pop("race:r/1") <= now + SETTLED_KEPT
    assert found == {}
    assert await store.leaderboards.void_race("canfield", "r/1")
    left = (await ends(store, f"{board}*")).keys()
    assert left == {f"{board}:sequence", f"{board}:race:r/1"}


async def test_a_listing_that_is_not_renewed_is_dropped(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    await store.tables.set_public(CODE, b"summary")
    assert await store.tables.list_public() == [b"summary"]
    monkeypatch.setattr(tables, "LISTING_KEPT", -SOON)
    assert await store.tables.list_public() == []
    monkeypatch.undo()
    assert await store.tables.list_public() == []


async def test_a_timer_without_its_table_is_dropped(store: Store) -> None:
    await store.tables.save_table(TableWrite(code=CODE, expected=0, body=b"x", due=Millis(5)))
    assert list(await store.tables.due(Millis(9), 10)) == [CODE]
    await store.client.command("DEL", table_key(CODE))
    assert list(await store.tables.due(Millis(9), 10)) == []
    assert await ends(store, "due") == {}


# The sweeper


@pytest.fixture
async def stepped() -> AsyncIterator[SteppedStore]:
    async with stepped_store() as opened:
        yield opened


async def sweep(stepped: SteppedStore, *, node_ahead: int = 0) -> Swept:
    """Let a node sweep everything; its clock is ahead of the store's by `node_ahead` milliseconds."""
    node_time = Millis(stepped.time.store_at + node_ahead)
    return await stepped.retention.sweep(node_time, 1_000)


async def pass_days(stepped: SteppedStore, days: int) -> None:
    """Let time pass while the sweeper visits the store often enough."""
    for _ in range(days // 10):
        stepped.time.at += 10 * DAY
        await sweep(stepped)
    stepped.time.at += days % 10 * DAY
    await sweep(stepped)


async def keys(stepped: SteppedStore, prefix: str = "table:") -> set[str]:
    """Return the keys with this prefix, without the prefix."""
    return {key.removeprefix(prefix) for key in await ends(stepped.real, f"{prefix}*")}


async def played(stepped: SteppedStore) -> None:
    """Store a table with one finished race and one that runs; the sweeper has visited it."""
    race = await running_race(stepped)
    await race.commit(move("draw", 0), move("draw", 0, player=BERT))
    await finish(stepped.real, 1)
    opening = RaceOpening(
        race=2, start_at=race.start_at, deadline=Millis(0), banked=0, epochs={ANNA: 1}
    )
    write = TableWrite(code=CODE, expected=2, body=b"x", due=Millis(9), race=2, opening=opening)
    assert await stepped.tables.save_table(write)
    await race.commit(replace(move("draw", 0), race=2))
    await sweep(stepped)


async def test_the_logs_of_a_finished_race_go_first_and_then_the_table_with_everything(
    stepped: SteppedStore,
) -> None:
    await played(stepped)
    everything = await keys(stepped)
    assert len(everything) == 7
    await pass_days(stepped, 1)
    left = await keys(stepped)
    assert left == {key for key in everything if ":race:1" not in key}
    assert await stepped.tables.load_record(CODE, 1) == "record"
    await pass_days(stepped, 88)
    assert await keys(stepped) == left
    await pass_days(stepped, 1)
    assert await keys(stepped) == set()
    assert await entries(stepped.real) == {}


async def test_names_that_were_given_up_are_free_after_thirty_days(stepped: SteppedStore) -> None:
    for player in (ANNA, BERT):
        row = PlayerRow(player=player, token_hash="a1", created=Millis(1))
        await stepped.players.create_player(row)
    for player, name in ((ANNA, "ann"), (ANNA, "anna"), (BERT, "bert")):
        await stepped.players.claim_name(player, name.title(), name)
    await stepped.players.forget_player(BERT)
    await sweep(stepped)
    await pass_days(stepped, 29)
    before = await keys(stepped, "name:")
    assert {"ann", "anna", "bert"} <= before
    await pass_days(stepped, 1)
    assert before - await keys(stepped, "name:") == {"ann", "bert"}
    assert await stepped.players.load_names([ANNA]) == {ANNA: "Anna"}


async def test_a_table_that_is_written_again_is_kept(stepped: SteppedStore) -> None:
    await played(stepped)
    await pass_days(stepped, 89)
    assert await stepped.tables.save_table(
        TableWrite(code=CODE, expected=3, body=b"touched", due=None, race=2)
    )
    await pass_days(stepped, 89)
    assert await stepped.tables.load_record(CODE, 1) == "record"


async def test_an_entry_of_an_older_table_deletes_no_race_of_a_younger_one(
    stepped: SteppedStore,
) -> None:
    await running_race(stepped)
    await sweep(stepped)
    await stepped.real.client.command("ZADD", "expiring", 1, race_key(CODE, 1))
    assert (await sweep(stepped)).done == 1
    assert f"{CODE}:race:1" in await keys(stepped)
    assert (await entries(stepped.real)).keys() == {table_key(CODE)}


async def test_rankings_go_after_their_period_and_results_stay(stepped: SteppedStore) -> None:
    start = Millis(stepped.time.at)
    result = result_of(ANNA, banked=9, net=-5, reached=1)
    people = (ANNA, "bertbertbertbert")
    race = Settlement(race="r/1", game="canfield", start_at=start, results=(result,), people=people)
    await running_race(stepped)
    await finish(stepped.real, 1, pack_settlement(race))
    assert await stepped.leaderboards.settle_outbox(1) == [race]
    await sweep(stepped)
    day, week, month, _ = (period.name for period in periods(start))
    for days, gone in ((9, day), (30, week), (51, "race"), (140, month)):
        await pass_days(stepped, days)
        left = await keys(stepped, "leaderboard:canfield:")
        assert not any(gone in key for key in left), gone
        assert {"best:all:people", f"results:{ANNA}", "sequence"} <= left
    assert "bankroll:all:people:rivals" in left
    assert len(left) == 7


async def test_a_step_of_the_sweeper_is_bounded(stepped: SteppedStore) -> None:
    await sweep(stepped)
    for code in ("one", "two", "three"):
        await running_race(stepped, code=code)
    await sweep(stepped)
    for code in ("one", "two", "three"):
        await stepped.real.client.command("ZADD", "expiring", 1, table_key(code))
    now = Millis(stepped.time.at)
    assert [(await stepped.retention.sweep(now, 2)).done for _ in range(3)] == [2, 1, 0]


# Wrong clocks


@pytest.mark.parametrize("node_ahead", [-CLOCKS_WITHIN - 1, CLOCKS_WITHIN + 1])
async def test_nothing_is_deleted_while_node_and_store_have_different_times(
    stepped: SteppedStore, node_ahead: int
) -> None:
    await played(stepped)
    stepped.time.at += 2 * DAY
    before = await keys(stepped)
    swept = await sweep(stepped, node_ahead=node_ahead)
    assert (swept.clocks_differ, swept.ahead, swept.done) == (True, -node_ahead, 0)
    assert await keys(stepped) == before
    assert (await sweep(stepped, node_ahead=node_ahead // 2)).done == 1


async def test_what_was_written_under_a_clock_far_behind_outlives_its_correction(
    stepped: SteppedStore,
) -> None:
    right = stepped.time.at
    stepped.time.at = 0
    await played(stepped)
    before = await keys(stepped)
    stepped.time.at = right
    assert (await sweep(stepped)).held_until == right + UNTRUSTED_FOR
    await pass_days(stepped, 80)
    assert await keys(stepped) == before


async def test_after_the_time_without_trust_the_sweeper_deletes_again(
    stepped: SteppedStore,
) -> None:
    await played(stepped)
    stepped.time.at += 31 * DAY
    await sweep(stepped)
    await pass_days(stepped, 89)
    assert f"{CODE}:race:1" in await keys(stepped)
    await pass_days(stepped, 1)
    assert await keys(stepped) == set()
