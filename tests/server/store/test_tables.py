"""Tables in a store, the nodes, the audit log and the keys beside them."""

from collections.abc import AsyncIterator

import pytest
from msgspec.structs import replace
from redis.exceptions import ResponseError

from kit.in_process_server import InProcessServer, gathered
from kit.running_race import ANNA, BERT, CODE, AnyStore, ending, move, running_race
from kit.stores import StoreServer, calm
from saratoga_protocol.commands import NextRace
from saratoga_protocol.events import Done
from saratoga_server.admin.acts import Administration
from saratoga_server.app import compose_table_cache
from saratoga_server.ports import (
    MOST_LISTED,
    MOST_PLACES,
    CommitOutcome,
    CommitStatus,
    Millis,
    PlayerRow,
    RaceFinish,
    RaceOpening,
    TableWrite,
)
from saratoga_server.store.keys import player_key
from saratoga_server.store.opening import Store, open_store

# Tables, their timers and finished races, on every kind of store


def write(
    expected: int, body: bytes = b"body", *, due: int | None = None, code: str = CODE
) -> TableWrite:
    return TableWrite(
        code=code, expected=expected, body=body, due=None if due is None else Millis(due)
    )


async def test_a_write_judged_on_another_version_changes_nothing(store: AnyStore) -> None:
    await store.tables.save_table(write(0, b"first"))
    await store.tables.save_table(write(1, b"second"))
    assert not await store.tables.save_table(write(0, b"other"))
    assert not await store.tables.save_table(write(1, b"other", due=1))
    assert not await store.tables.save_table(write(5, b"other"))
    assert await store.tables.load_table(CODE) == (2, b"second")
    assert list(await store.tables.due(Millis(10), 10)) == []


async def test_a_refused_write_opens_no_board(store: AnyStore) -> None:
    race = await running_race(store)
    opening = RaceOpening(
        race=2, start_at=race.start_at, deadline=Millis(0), banked=0, epochs={ANNA: 1}
    )
    refused = TableWrite(
        code=CODE,
        expected=0,
        body=b"late",
        due=None,
        race=1,
        epochs={ANNA: 9},
        opening=opening,
        finish=RaceFinish(race=1, record="wrong", settlement=b"wrong"),
    )
    assert not await store.tables.save_table(refused)
    assert await store.boards.load_board(CODE, 2, ANNA) is None
    assert await store.tables.load_record(CODE, 1) is None
    assert (await race.board()).epoch == 1
    assert (await race.commit(move("draw", 0)))[0].status is CommitStatus.DONE


async def test_timers_are_found_the_longest_overdue_first(store: AnyStore) -> None:
    for number, due in ((1, 300), (2, 100), (3, 200), (4, 400), (5, None)):
        await store.tables.save_table(write(0, code=f"mint-otter-0{number}", due=due))
    assert list(await store.tables.due(Millis(300), 10)) == [
        "mint-otter-02",
        "mint-otter-03",
        "mint-otter-01",
    ]
    assert list(await store.tables.due(Millis(300), 2)) == ["mint-otter-02", "mint-otter-03"]
    assert list(await store.tables.due(Millis(99), 10)) == []
    assert await store.tables.due(Millis(300), 2, Millis(150)) == {
        "mint-otter-03": 200,
        "mint-otter-01": 300,
    }


async def test_a_record_that_lacks_an_entry_is_not_written(store: AnyStore) -> None:
    await running_race(store)
    await store.commits.commit(move("draw", 0))
    finish = RaceFinish(race=1, record="record", settlement=None, entries=0)
    late = TableWrite(code=CODE, expected=1, body=b"closed", due=None, finish=finish)
    assert not await store.tables.save_table(late)
    assert await store.tables.load_record(CODE, 1) is None
    assert await store.tables.save_table(replace(late, finish=replace(finish, entries=1)))
    assert await store.tables.load_record(CODE, 1) == "record"
    outcome = await store.commits.commit(move("draw", 1))
    assert outcome.status is CommitStatus.BOARD_OVER


async def test_a_finished_race_leaves_its_record(store: AnyStore) -> None:
    race = await running_race(store)
    finish = RaceFinish(race=1, record="record of a race\nwith ♠\n", settlement=None)
    assert await store.tables.save_table(
        TableWrite(code=CODE, expected=1, body=b"over", due=None, finish=finish)
    )
    assert await store.tables.load_record(CODE, 1) == "record of a race\nwith ♠\n"
    assert await store.tables.load_record(CODE, 2) is None
    [late] = await race.commit(ending("left", 0, "left"))
    assert late == CommitOutcome(CommitStatus.BOARD_OVER, 0)


async def test_the_next_race_has_boards_of_its_own(store: AnyStore) -> None:
    race = await running_race(store)
    await race.commit(move("draw", 0))
    finish = RaceFinish(race=1, record="first", settlement=None)
    await store.tables.save_table(
        TableWrite(code=CODE, expected=1, body=b"over", due=None, finish=finish)
    )
    opening = RaceOpening(
        race=2, start_at=race.start_at, deadline=Millis(0), banked=4, epochs={BERT: 3}
    )
    await store.tables.save_table(
        TableWrite(code=CODE, expected=2, body=b"running", due=None, race=2, opening=opening)
    )
    assert set(await store.boards.load_standings(CODE, 2)) == {BERT}
    board = await store.boards.load_board(CODE, 2, BERT)
    assert board is not None
    assert (board.epoch, board.last_id, board.banked, board.entries) == (3, 0, 4, ())
    assert await race.texts() == ["draw"]


async def test_public_tables_are_listed_newest_first(store: AnyStore) -> None:
    await store.tables.set_public("mint-otter-01", b"one \x00\xff")
    await store.tables.set_public("mint-otter-02", b"two")
    await store.tables.set_public("mint-otter-01", b"one again\n")
    listed = await store.tables.list_public()
    assert sorted(listed) == [b"one again\n", b"two"]
    await store.tables.set_public("mint-otter-02", None)
    await store.tables.set_public("mint-otter-03", None)
    assert await store.tables.list_public() == [b"one again\n"]


async def test_tables_with_connected_people_are_listed_first(store: AnyStore) -> None:
    for code, people in (("mint-otter-01", 0), ("mint-otter-02", 2), ("mint-otter-03", 1)):
        await store.tables.set_public(code, code[-1:].encode(), people=people)
    assert await store.tables.list_public() == [b"2", b"3", b"1"]
    await store.tables.set_public("mint-otter-01", b"1", people=16)
    assert await store.tables.list_public() == [b"1", b"2", b"3"]


async def test_an_address_has_eight_places_and_tables_with_more_people_take_them(
    store: AnyStore,
) -> None:
    codes = [f"mint-otter-{number}" for number in range(10, 10 + MOST_PLACES)]
    for code in codes:
        assert await store.tables.set_public(code, code.encode(), "abcd", people=1)
    assert not await store.tables.set_public("mint-otter-90", b"90", "abcd", people=1)
    assert await store.tables.set_public("mint-otter-91", b"91", "ef01", people=1)
    assert await store.tables.set_public("mint-otter-92", b"92")
    assert len(await store.tables.list_public()) == MOST_PLACES + 2
    assert await store.tables.set_public(codes[3], codes[3].encode(), "abcd", people=0)
    assert await store.tables.set_public("mint-otter-90", b"90", "abcd", people=1)
    listed = await store.tables.list_public()
    assert len(listed) == MOST_PLACES + 2
    assert codes[3].encode() not in listed
    await store.tables.set_public(codes[0], None)
    assert await store.tables.set_public(codes[3], codes[3].encode(), "abcd")


@calm
async def test_no_more_than_the_newest_hundred_are_listed(store: AnyStore) -> None:
    for number in range(MOST_LISTED + 5):
        await store.tables.set_public(f"mint-otter-{number}", b"%03d" % number)
    assert len(await store.tables.list_public()) == MOST_LISTED
    for number in range(3, MOST_LISTED + 5):
        await store.tables.set_public(f"mint-otter-{number}", None)
    assert sorted(await store.tables.list_public()) == [b"000", b"001", b"002"]


# Heartbeats of nodes, on every kind of store


async def test_a_node_is_alive_from_its_first_beat_until_it_reports_that_it_stopped(
    store: AnyStore,
) -> None:
    assert await store.nodes.dead(["east", "west"]) == {"east", "west"}
    await store.nodes.beat("east")
    await store.nodes.beat("east")
    assert await store.nodes.dead(["east", "west", "west"]) == {"west"}
    await store.nodes.gone("east")
    await store.nodes.gone("never-there")
    assert await store.nodes.dead(["east"]) == {"east"}


# The audit log, on every kind of store


async def test_acts_are_read_newest_first(store: AnyStore) -> None:
    acts = [{"act": "ban", "player": "anna"}, {"act": "close"}, {"act": "close"}, {"act": "void"}]
    for act in acts:
        await store.audit.append(act)
    assert await store.audit.read(10) == acts[::-1]
    assert await store.audit.read(2) == acts[:1:-1]
    assert await store.audit.read(0) == []


# Keys: almost none has a TTL


KINDS = ("string", "hash", "list", "zset", "set")


async def with_ttl(server: InProcessServer) -> set[str]:
    """Return the keys that the store will delete by its own clock."""
    keys = [key for kind in KINDS async for key in server.real.client.scan("*", kind)]
    ends = await server.real.client.commands([("PEXPIRETIME", key) for key in keys])
    return {key for key, end in zip(keys, ends, strict=True) if end != -1}


async def test_no_key_of_a_played_evening_is_deleted_by_the_stores_own_clock(
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
    nameless = {player_key(row.player), f"node:{server.node.name}"}
    assert await with_ttl(server) == nameless, "one race has ended and one runs"
    admin = Administration(server.store, await compose_table_cache(server.store), "root")
    assert await admin.void(f"{code}/1") == "canfield"
    await admin.forget("Bert")
    await admin.close(code, "Closing time.")
    await server.pass_time(1000)
    assert await with_ttl(server) == nameless


# A key of a wrong type, or an argument that is no number, is an error of a sweep


@pytest.fixture
async def real(store_server: StoreServer) -> AsyncIterator[Store]:
    async with open_store(store_server.url) as opened:
        yield opened


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        ("due_tables", ("soon", 10, 10)),
        ("due_tables", (0, 10, 10)),
        ("sweep", ("soon", 10, 1, 1, 1)),
        ("sweep", (0, 10, 10**14, 1, 1)),
    ],
)
async def test_an_error_of_a_sweep_is_raised(
    real: Store, function: str, arguments: tuple[str | int, ...]
) -> None:
    for key in ("due", "expiring"):
        await real.client.command("SET", key, "no sorted set")
    with pytest.raises(ResponseError):
        await real.client.read(function, (), *arguments)
