"""Retention: a table and its races expire together, at one moment."""

from collections.abc import AsyncIterator

import pytest
from msgspec.structs import replace

from kit.results import result_of
from kit.running_race import ANNA, BERT, CODE, move, running_race
from kit.stores import StoreServer
from saratoga_server.domain.periods import periods
from saratoga_server.messages.settlements import pack_settlement
from saratoga_server.ports import (
    Millis,
    PlayerRow,
    RaceFinish,
    RaceOpening,
    Settlement,
    TableWrite,
)
from saratoga_server.store import tables
from saratoga_server.store.keys import (
    FINISHED_LOGS_KEPT,
    GUEST_KEPT,
    LEDGER_KEYS,
    SETTLED_KEPT,
    TABLE_KEPT,
    UNRACED_KEPT,
    partition,
    table_key,
)
from saratoga_server.store.opening import Store, open_store

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


async def finish(store: Store, expected: int, settlement: bytes | None = None) -> None:
    over = RaceFinish(race=1, record="record", settlement=settlement)
    assert await store.tables.save_table(
        TableWrite(code=CODE, expected=expected, body=b"over", due=None, finish=over)
    )


async def test_every_key_of_a_table_goes_at_the_same_moment(store: Store) -> None:
    race = await running_race(store)
    await race.commit(move("draw", 0), move("draw", 0, player=BERT))
    await finish(store, 1)
    opening = RaceOpening(
        race=2, start_at=race.start_at, deadline=Millis(0), banked=0, epochs={ANNA: 1, BERT: 1}
    )
    write = TableWrite(code=CODE, expected=2, body=b"x", due=None, race=2, opening=opening)
    assert await store.tables.save_table(write)
    for player in (ANNA, BERT):
        await race.commit(replace(move("draw", 0, player=player), race=2))
    before = await store.tables.now()
    assert await store.tables.save_table(
        TableWrite(code=CODE, expected=3, body=b"touched", due=Millis(1), race=2)
    )
    found = await ends(store, f"{table_key(CODE)}*")
    present = {key: end for key, end in found.items() if ":race:1" not in key}
    assert len(present) == 5
    assert len(set(present.values())) == 1
    assert before + TABLE_KEPT <= present[table_key(CODE)] <= before + TABLE_KEPT + SOON
    finished = {end for key, end in found.items() if ":race:1" in key}
    assert all(end <= before + FINISHED_LOGS_KEPT + SOON for end in finished)
    assert len(found) == len(present) + 3


async def test_a_table_that_closes_without_a_race_goes_soon(store: Store) -> None:
    opened = TableWrite(code=CODE, expected=0, body=b"open", due=None)
    assert await store.tables.save_table(opened)
    before = await store.tables.now()
    [end] = (await ends(store, f"{table_key(CODE)}*")).values()
    assert end >= before + TABLE_KEPT - SOON
    closed = TableWrite(code=CODE, expected=1, body=b"closed", due=None, unraced=True)
    assert await store.tables.save_table(closed)
    [end] = (await ends(store, f"{table_key(CODE)}*")).values()
    assert before + UNRACED_KEPT <= end <= before + UNRACED_KEPT + SOON


async def test_codes_of_older_tables_leave_no_trace_in_a_players_row(store: Store) -> None:
    await store.players.create_player(PlayerRow(player=ANNA, token_hash="a1", created=Millis(1)))
    for command_id in range(1, 12):
        await store.players.reserve_table(ANNA, command_id, CODE)
    stored = await store.client.command("HKEYS", f"{{players}}:player:{ANNA}")
    codes = sorted(field for field in stored if field.startswith(b"code:"))
    assert codes == [b"code:10", b"code:11"]


async def test_the_keys_of_a_table_share_their_partition(store: Store) -> None:
    race = await running_race(store)
    await race.commit(move("draw", 0))
    result = result_of(ANNA, bot=False, banked=9, net=-5, reached=1)
    settlement = Settlement(race="r", game="canfield", start_at=START, results=(result,))
    await finish(store, 1, pack_settlement(settlement))
    tag = f"{{p{partition(CODE)}}}"
    keys = (await ends(store, "*")).keys() - LEDGER_KEYS
    assert keys
    assert all(key.startswith(f"{tag}:") for key in keys)


async def test_players_without_a_name_expire_and_names_stay(store: Store) -> None:
    row = PlayerRow(player=ANNA, token_hash="a1", created=Millis(1))
    await store.players.create_player(row)
    await store.players.sit(ANNA, CODE)
    now = await store.tables.now()
    [end] = (await ends(store, f"{{players}}:player:{ANNA}")).values()
    assert now + GUEST_KEPT - SOON <= end <= now + GUEST_KEPT
    await store.players.claim_name(ANNA, "Anna", "anna")
    await store.players.stand_up(ANNA, CODE)
    await store.players.reserve_table(ANNA, 1, CODE)
    assert await ends(store, f"{{players}}:player:{ANNA}") == {f"{{players}}:player:{ANNA}": -1}
    assert await ends(store, "{players}:name:*") == {"{players}:name:anna": -1}


async def test_leaderboards_go_with_their_period_and_marks_before_codes_return(
    store: Store,
) -> None:
    result = result_of(ANNA, bot=False, banked=9, net=-5, reached=1)
    settlement = Settlement(race="r/1", game="canfield", start_at=START, results=(result,))
    await running_race(store)
    await finish(store, 1, pack_settlement(settlement))
    assert await store.leaderboards.settle_outbox(1) == [settlement]
    tag = "{leaderboard:canfield}"
    found = await ends(store, f"{tag}*")
    for period in periods(START):
        for ranking in ("best", "bankroll"):
            for rows in ("", ":rows"):
                end = found.pop(f"{tag}:{ranking}:{period.name}:people{rows}")
                assert end == (period.gone or -1)
    now = await store.tables.now()
    assert now + SETTLED_KEPT - SOON <= found.pop(f"{tag}:race:r/1") <= now + SETTLED_KEPT
    assert SETTLED_KEPT < TABLE_KEPT
    assert found == {f"{tag}:results:{ANNA}": -1, f"{tag}:sequence": -1}
    assert await store.leaderboards.void_race("canfield", "r/1")
    left = await ends(store, f"{tag}*")
    assert left == {
        f"{tag}:sequence": -1,
        f"{tag}:race:r/1": left[f"{tag}:race:r/1"],
    }


async def test_a_listing_that_is_not_renewed_is_dropped(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    await store.tables.set_public(CODE, b"summary")
    assert await store.tables.list_public() == [b"summary"]
    monkeypatch.setattr(tables, "LISTING_KEPT", -SOON)
    assert await store.tables.list_public() == []
    monkeypatch.undo()
    assert await store.tables.list_public() == []


async def test_a_dropped_listing_makes_room_for_an_older_one(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tables, "MOST_LISTED", 2)
    names = ("oldest", "old", "middle", "new", "newest")
    for place, name in enumerate(names):
        await store.tables.set_public(name, name.encode())
        await store.client.command("ZADD", "{public}:listed", place, name)
    assert await store.tables.list_public() == [b"newest", b"new"]
    for name in ("newest", "middle"):
        await store.client.command("HSET", "{public}:summaries", name, "0 stale")
    assert await store.tables.list_public() == [b"new", b"old"]
    await store.client.command("HSET", "{public}:summaries", "oldest", "0 stale")
    assert await store.tables.list_public() == [b"new", b"old"]
    assert await store.client.command("ZCARD", "{public}:listed") == 2


async def test_a_timer_without_its_table_is_dropped(store: Store) -> None:
    await store.tables.save_table(TableWrite(code=CODE, expected=0, body=b"x", due=Millis(5)))
    assert await store.tables.due(Millis(9), 10) == [CODE]
    await store.client.command("DEL", table_key(CODE))
    assert await store.tables.due(Millis(9), 10) == []
    assert await ends(store, "*:due") == {}
