"""Tables in a store, the nodes, the audit log and the keys beside them."""

from msgspec.structs import replace

from kit.in_process_server import InProcessServer, gathered
from kit.running_race import CODE, AnyStore, move, running_race
from kit.stores import calm
from kit.tables import ANN, NODE, seated, table_settings
from saratoga_protocol.commands import NextRace
from saratoga_protocol.events import Done
from saratoga_server.admin.acts import Administration
from saratoga_server.domain.tables import TablePhase, TableState, unpack
from saratoga_server.node import Node
from saratoga_server.ports import (
    MOST_LISTED,
    CommitStatus,
    Millis,
    PlayerRow,
    RaceFinish,
)
from saratoga_server.store.keys import player_key
from saratoga_server.store.tables import NotSaved, TableWrite

# Tables, their timers and finished races, on every kind of store

SEATED = seated(ANN)
PUBLIC = table_settings(game="canfield", public=True)


def write(version: int, after: TableState = SEATED, before: TableState | None = None) -> TableWrite:
    """Return a write that seats nobody, unless `before` is given."""
    return TableWrite(version=version, before=before or after, after=after)


async def running(store: AnyStore) -> TableState:
    """Return the stored table of a running race."""
    stored = await store.tables.load_table(CODE)
    assert stored is not None
    return unpack(stored[1])


async def test_timers_are_found_the_longest_overdue_first(store: AnyStore) -> None:
    for number, touched in ((1, 300), (2, 100), (3, 200), (4, 400)):
        table = replace(SEATED, code=f"mint-otter-0{number}", seats=(), touched=Millis(touched))
        await store.tables.save_table(write(0, table))
    closed = replace(SEATED, code="mint-otter-05", phase=TablePhase.CLOSED)
    await store.tables.save_table(write(0, closed))
    found = await store.tables.due(Millis(10**9), 10)
    assert list(found) == ["mint-otter-02", "mint-otter-03", "mint-otter-01", "mint-otter-04"]
    first = found["mint-otter-02"]
    assert list(await store.tables.due(Millis(10**9), 2)) == list(found)[:2]
    assert await store.tables.due(Millis(first - 1), 10) == {}
    await store.tables.set_timer("mint-otter-03", Millis(first - 1))
    assert list(await store.tables.due(Millis(first), 2)) == ["mint-otter-03", "mint-otter-02"]
    await store.tables.forget_timer("mint-otter-02")
    assert "mint-otter-02" not in await store.tables.due(Millis(10**9), 10)


async def test_a_record_that_lacks_an_entry_is_not_written(store: AnyStore) -> None:
    await running_race(store)
    before = await running(store)
    await store.commits.commit(move("draw", 0))
    finish = RaceFinish(race=1, record="record", entries=0)
    closed = replace(before, phase=TablePhase.CLOSED, seats=())
    late = TableWrite(version=1, before=before, after=closed, finish=finish)
    assert await store.tables.save_table(late) is NotSaved.CHANGED
    assert await store.tables.load_record(CODE, 1) is None
    whole = replace(late, finish=replace(finish, entries=1))
    assert await store.tables.save_table(whole) is None
    assert await store.tables.load_record(CODE, 1) == "record"
    outcome = await store.commits.commit(move("draw", 1))
    assert outcome.status is CommitStatus.BOARD_OVER


@calm
async def test_a_hundred_public_tables_are_listed_most_people_first_then_newest(
    store: AnyStore,
) -> None:
    async def put(number: int, people: int, version: int = 0, **changes: object) -> None:
        crowd = replace(seated(ANN, settings=PUBLIC), code=f"mint-otter-{number}")
        known = replace(crowd, created=Millis(number))
        seat = replace(crowd.seats[0], node=NODE if people else "")
        after = replace(known, seats=(seat,), **changes)
        before = replace(known, seats=(seat,), locked=True)
        await store.tables.save_table(write(version, after, before))

    async def listed() -> list[int]:
        return [int(each.code[11:]) for each in await store.tables.list_public()]

    for number in range(10, 20):
        await put(number, people=number % 2)
    assert await listed() == [19, 17, 15, 13, 11, 18, 16, 14, 12, 10]
    for number in range(20, 20 + MOST_LISTED):
        await put(number, people=1)
    assert await listed() == list(range(19 + MOST_LISTED, 19, -1))


async def test_a_table_leaves_the_list_when_it_is_locked_private_empty_or_closed(
    store: AnyStore,
) -> None:
    await store.players.create_player(PlayerRow(player=ANN, token_hash="hash"))
    open_ = seated(ANN, settings=PUBLIC)
    hidden = [
        replace(open_, locked=True),
        replace(open_, settings=table_settings(game="canfield")),
        replace(open_, phase=TablePhase.CLOSED),
        replace(open_, seats=()),
    ]
    version = 0
    for after in hidden:
        for before, now, count in ((after, open_, 1), (open_, after, 0)):
            assert await store.tables.save_table(write(version, now, before)) is None
            version += 1
            assert len(await store.tables.list_public()) == count


# The audit log, on every kind of store


async def test_acts_are_read_newest_first(store: AnyStore) -> None:
    acts = [{"act": "ban", "player": "anna"}, {"act": "close"}, {"act": "close"}, {"act": "void"}]
    for act in acts:
        await store.audit.append(act)
    assert await store.audit.read(10) == acts[::-1]
    assert await store.audit.read(2) == acts[:1:-1]
    assert await store.audit.read(0) == []


# Keys: a time to live comes only in the write that ends a thing


KINDS = ("string", "hash", "list", "zset", "set")


async def with_ttl(server: InProcessServer) -> set[str]:
    """Return the keys that the store will delete by its own clock."""
    keys = [key for kind in KINDS async for key in server.real.client.scan("*", kind)]
    ends = await server.real.client.commands([("PEXPIRETIME", key) for key in keys])
    return {key for key, end in zip(keys, ends, strict=True) if end != -1}


async def test_only_what_has_ended_runs_out(
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
    ended = {
        f"table:{code}:race:1",
        *(f"table:{code}:race:1:log:{each.player}" for each in (anna, bert)),
    }
    nameless = {player_key(row.player), f"node:{server.node.name}"}
    periods = {key for key in await with_ttl(server) if key.startswith("leaderboard:canfield:")}
    assert not any(":all:" in key or ":results:" in key for key in periods)
    assert await with_ttl(server) == nameless | ended | periods, "one race has ended and one runs"
    admin = Administration(
        server.store, (await Node.for_administration(server.store)).tables, "root"
    )
    assert await admin.void(f"{code}/1") == "canfield"
    await admin.forget("Bert")
    await admin.close(code, "Closing time.")
    await server.pass_time(1000)
    found = {key for key in await with_ttl(server) if key.startswith(f"table:{code}")}
    second = {key.replace("race:1", "race:2") for key in ended}
    assert found == {f"table:{code}", f"table:{code}:records"} | ended | second
