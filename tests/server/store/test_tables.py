"""Tables and players in a store, the nodes, the audit log and keys, and the one write that changes them."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from redis.exceptions import ResponseError

from kit.in_process_server import InProcessServer, gathered
from kit.stores import calm
from kit.tables import ANN, ANNA, BERT, CODE, NODE, move, running_race, seated, table_settings
from saratoga_protocol.commands import NextRace
from saratoga_protocol.events import Done
from saratoga_server.admin.acts import Administration
from saratoga_server.domain.tables import TablePhase, TableState, unpack
from saratoga_server.node import Node
from saratoga_server.ports import MOST_LISTED, CommitStatus, Millis, PlayerRow, RaceFinish
from saratoga_server.store.client import function_name
from saratoga_server.store.keys import name_key, player_key
from saratoga_server.store.opening import Store
from saratoga_server.store.players import NotClaimed
from saratoga_server.store.save import LARGE, MISSING, Save
from saratoga_server.store.tables import NotSaved, TableWrite

# Tables, their timers and finished races, on every kind of store

SEATED = seated(ANN)
PUBLIC = table_settings(game="canfield", public=True)


def write(version: int, after: TableState = SEATED, before: TableState | None = None) -> TableWrite:
    """Return a write that seats nobody, unless `before` is given."""
    return TableWrite(version=version, before=before or after, after=after)


async def running(store: Store) -> TableState:
    """Return the stored table of a running race."""
    stored = await store.tables.load_table(CODE)
    assert stored is not None
    return unpack(stored[1])


async def test_timers_are_found_the_longest_overdue_first(store: Store) -> None:
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


async def test_a_record_that_lacks_an_entry_is_not_written(store: Store) -> None:
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
    store: Store,
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
    store: Store,
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


async def test_acts_are_read_newest_first(store: Store) -> None:
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


def row(player: str = ANNA, *, token_hash: str = "a1b2", bot: bool = False) -> PlayerRow:
    return PlayerRow(
        player=player, token_hash=token_hash, bot=bot, created=Millis(1_760_000_000_000)
    )


async def test_a_name_that_is_given_up_is_held_for_its_owner(store: Store) -> None:
    for player in (ANNA, BERT):
        await store.players.create_player(row(player))
    for name in ("zoe", "ann", "zoe"):
        assert await store.players.claim_name(ANNA, name.title(), name) is None
    for name in ("zoe", "ann"):
        assert await store.players.claim_name(BERT, name.title(), name) is NotClaimed.TAKEN
    assert await store.players.load_names([ANNA, BERT]) == {ANNA: "Zoe"}


async def test_only_the_newest_three_names_are_held_for_a_player(store: Store) -> None:
    for player in (ANNA, BERT):
        await store.players.create_player(row(player))
    for name in ("one", "two", "three", "four", "one", "five"):
        assert await store.players.claim_name(ANNA, name.title(), name) is None
    held = [await store.players.find_player(name) for name in ("two", "three", "four", "one")]
    assert held == [None, ANNA, ANNA, ANNA]
    assert await store.players.claim_name(BERT, "Two", "two") is None


async def test_a_name_that_another_player_took_after_its_time_is_freed_by_nobody_else(
    store: Store,
) -> None:
    for player in (ANNA, BERT):
        await store.players.create_player(row(player))
    for name in ("zoe", "one"):
        assert await store.players.claim_name(ANNA, name.title(), name) is None
    # the name runs out, and Bert takes it and gives it up
    await store.client.command("DEL", name_key("zoe"))
    for name in ("zoe", "bert"):
        assert await store.players.claim_name(BERT, name.title(), name) is None
    for name in ("two", "three", "four", "five"):
        assert await store.players.claim_name(ANNA, name.title(), name) is None
    assert await store.players.find_player("zoe") == BERT
    assert await store.client.command("PTTL", name_key("zoe")) > 0, "so it is not held for ever"


async def test_an_administrator_gives_away_only_names_that_are_held_for_nobody(
    store: Store,
) -> None:
    for player in (ANNA, BERT):
        await store.players.create_player(row(player))
    for name in ("zoe", "ann"):
        assert await store.players.claim_name(ANNA, name.title(), name) is None
    for name in ("zoe", "ann"):
        assert (
            await store.players.claim_name(BERT, name.title(), name, by_admin=True)
            is NotClaimed.TAKEN
        )
    await store.players.forget_player(ANNA)
    assert await store.players.claim_name(BERT, "Zoe", "zoe") is NotClaimed.TAKEN
    assert await store.players.claim_name(BERT, "Zoe", "zoe", by_admin=True) is None


async def test_a_forgotten_player_leaves_only_names_that_nobody_can_take(store: Store) -> None:
    for player in (ANNA, BERT):
        await store.players.create_player(row(player))
    await store.players.claim_name(ANNA, "Anna", "anna")
    await store.players.claim_name(ANNA, "Zoe", "zoe")
    await store.players.forget_player(ANNA)
    await store.players.forget_player(ANNA)
    assert await store.players.load_player(ANNA) is None
    assert await store.players.load_names([ANNA]) == {}
    await store.players.create_player(row())
    for player in (ANNA, BERT):
        for name in ("anna", "zoe"):
            assert await store.players.claim_name(player, name.title(), name) is NotClaimed.TAKEN
    assert await store.players.find_player("zoe") == ""


KEY, LIST, COUNT = "table:mint-otter-42", "a-list", "a-hash"


async def send(store: Store, arguments: tuple[bytes, ...]) -> int:
    """Call the Function with arguments that may have been sent before; return its answer."""
    answer = await store.client.command("FCALL", function_name("save"), 0, *arguments)
    assert isinstance(answer, int)
    return answer


@calm
@given(
    st.lists(st.tuples(st.sampled_from(["judge", "send"]), st.integers(0, 1)), max_size=14),
    st.sampled_from([1, LARGE + 1]),
)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
async def test_two_writers_that_repeat_what_they_sent_write_each_change_once(
    store: Store, acts: list[tuple[str, int]], size: int
) -> None:
    """A writer judges a change on the version it reads, and sends it any number of times, early or late."""
    await store.client.command("DEL", KEY, LIST, COUNT)
    changes: dict[int, tuple[tuple[bytes, ...], int, str]] = {}
    version, last, values = 0, None, []
    for number, (act, writer) in enumerate(acts):
        if act == "judge":
            save, value = Save(), f"{number}".rjust(size, "-")
            save.only_if("changed", KEY, "version", version or MISSING)
            save.do("HSET", KEY, "version", version + 1)
            save.do("RPUSH", LIST, value.encode())
            save.do("HINCRBY", COUNT, "changes", 1)
            changes[writer] = save.packed(), version, value
        elif writer in changes:
            arguments, judged_on, value = changes[writer]
            if last == arguments:
                expected = 0  # a repeat
            elif judged_on == version:
                version, last, expected = version + 1, arguments, 0
                values.append(value)
            else:
                expected = 1
            assert await send(store, arguments) == expected
    stored = await store.client.commands(
        [("HGET", KEY, "version"), ("LRANGE", LIST, 0, -1), ("HGET", COUNT, "changes")]
    )
    assert [int(stored[0] or 0), int(stored[2] or 0)] == [version, version]
    assert [value.decode() for value in stored[1]] == values


async def test_the_first_guard_that_does_not_hold_is_the_answer(store: Store) -> None:
    await store.client.command("HSET", KEY, "version", 3, "word", "one")
    await store.client.command("SET", "name:zoe", "anna")
    for guard, answer in (
        ((KEY, "version", 3), None),
        ((KEY, "version", 2, 4), "no"),
        ((KEY, "word", "two", "one"), None),
        ((KEY, "nothing", MISSING), None),
        ((KEY, "word", MISSING), "no"),
        (("name:zoe", "", "anna"), None),
        (("name:bert", "", MISSING), None),
    ):
        save = Save()
        save.only_if("version", KEY, "version", 3)
        save.only_if("no", *guard)
        save.do("HSET", KEY, "seen", 1)
        assert await store.client.save(save) == answer, guard
    excluded = Save()
    excluded.only_if("repeated", KEY, "word", "one", unless=True)
    excluded.do("HSET", KEY, "version", 4)
    assert await store.client.save(excluded) == "repeated"


@pytest.mark.parametrize(
    "write",
    [
        ("FLUSHALL", KEY, 1),
        ("HSET", LIST, "field", 1),
        ("ZADD", KEY, 1, "member"),
        ("BEST", KEY, "anna", 1, "row"),
        ("HINCRBY", KEY, "word", 1),
        ("HSET", KEY),
    ],
)
async def test_a_write_of_a_wrong_form_keeps_the_others_from_being_made(
    store: Store, write: tuple[str | int, ...]
) -> None:
    await store.client.command("HSET", KEY, "word", "one")
    await store.client.command("RPUSH", LIST, "one")
    save = Save()
    save.only_if("changed", KEY, "version", MISSING)
    save.do("HSET", KEY, "version", 1)
    save.do(*write)  # type: ignore[arg-type]
    with pytest.raises(ResponseError):
        await store.client.save(save)
    assert await store.client.command("HGETALL", KEY) in ([b"word", b"one"], {b"word": b"one"})
