"""Tables on a node: changed one at a time, judged anew when somebody wrote first, rung when it is time."""

import asyncio
from dataclasses import dataclass, field

import msgpack
import pytest
from msgspec.structs import replace

from kit.fake_store import FakeHouse, FakeStore, FakeTables, fake_store
from kit.guests import Heard, RecordingLine
from kit.rooms import InventedTime, seeds
from kit.tables import ANN, BEN, CODE, NODE, NOON, counting, seated
from saratoga_protocol.codec import CODECS
from saratoga_protocol.events import TableChanged
from saratoga_protocol.version import JSON
from saratoga_server.clock import ServerClock
from saratoga_server.domain.tables import Change, Phase, RaceStarted, Refusal, TableState, resume
from saratoga_server.domain.tables.state import FORMAT
from saratoga_server.live.broadcaster import Broadcaster
from saratoga_server.live.live_table import LiveTable
from saratoga_server.live.session import Session
from saratoga_server.live.table_cache import TableCache, Transition
from saratoga_server.ports import Millis, StoreUnavailable, TableWrite


@dataclass
class Node:
    """One node's floor, and what it was told."""

    table_cache: TableCache
    heard: Heard
    changed: list[Change] = field(default_factory=list)
    caught_up: list[tuple[TableState, TableState]] = field(default_factory=list)
    """What was known, and what there was."""
    rung: asyncio.Queue[str] = field(default_factory=asyncio.Queue)

    async def on_change(self, live_table: LiveTable, before: TableState, change: Change) -> None:
        self.changed.append(change)

    async def on_caught_up(self, live_table: LiveTable, known: TableState) -> None:
        self.caught_up.append((known, live_table.state))

    async def on_due(self, code: str) -> None:
        await self.rung.put(code)


TIME = InventedTime()


async def node(store: FakeStore) -> Node:
    """A node on which somebody follows the table."""
    broadcaster, clock = Broadcaster(), ServerClock(store.tables, TIME.steady)
    await clock.synchronise()
    heard = Heard(CODECS[JSON])
    broadcaster.follow(
        Session(connection=RecordingLine(heard), codec=CODECS[JSON], address="", number=1), CODE
    )
    there = Node(TableCache(store.tables, broadcaster, clock, seeds()), heard)
    there.table_cache.on_change = there.on_change
    there.table_cache.on_caught_up = there.on_caught_up
    there.table_cache.on_due = there.on_due
    return there


@pytest.fixture
def fake() -> FakeHouse:
    TIME.at = NOON
    return FakeHouse(clock=TIME.millis)


@pytest.fixture
async def here(fake: FakeHouse) -> Node:
    return await node(fake_store(fake))


@pytest.fixture
async def there(fake: FakeHouse) -> Node:
    return await node(fake_store(fake))


def noticed(text: str) -> Transition:
    """A change that everyone sees."""

    def transition(table: TableState, now: Millis) -> Change:
        return Change(replace(table, notice=table.notice + text, touched=now))

    return transition


async def test_a_new_table_is_there_for_every_node(here: Node, there: Node) -> None:
    live_table = await here.table_cache.open(seated(ANN))
    assert live_table is not None
    assert (live_table.version, here.table_cache.known(CODE)) == (1, live_table)
    assert await there.table_cache.open(seated(BEN)) is None, "the code is taken"
    assert (await there.table_cache.get(CODE)).state == live_table.state


async def test_a_table_that_is_not_there_leaves_nothing_behind(here: Node) -> None:
    for _ in range(3):
        with pytest.raises(Refusal, match="no_such_table"):
            await here.table_cache.get("odd-emu-11")
    assert (here.table_cache.all(), here.table_cache._arrivals) == ([], {})


async def test_a_table_is_loaded_once_however_many_ask(here: Node, there: Node) -> None:
    await here.table_cache.open(seated(ANN))
    rooms = await asyncio.gather(*(there.table_cache.get(CODE) for _ in range(5)))
    assert all(live_table is rooms[0] for live_table in rooms)


async def test_a_table_is_one_room_though_the_first_who_asked_was_turned_away(
    here: Node, there: Node, monkeypatch: pytest.MonkeyPatch
) -> None:
    await here.table_cache.open(seated(ANN))
    load, go, faults = FakeTables.load_table, asyncio.Event(), [StoreUnavailable("away")]

    async def slow_load(tables: FakeTables, code: str) -> tuple[int, bytes] | None:
        await go.wait()
        if faults:
            raise faults.pop()
        return await load(tables, code)

    monkeypatch.setattr(FakeTables, "load_table", slow_load)
    early = [asyncio.create_task(there.table_cache.get(CODE)) for _ in range(2)]
    await asyncio.sleep(0)
    go.set()
    with pytest.raises(StoreUnavailable):
        await early[0]
    late = await there.table_cache.get(CODE)
    assert late is await early[1] is there.table_cache.known(CODE)
    assert there.table_cache._arrivals == {}


async def test_a_change_is_durable_then_told_then_followed_up(here: Node, fake: FakeHouse) -> None:
    await here.table_cache.open(seated(ANN))
    live_table = await here.table_cache.change(CODE, noticed("Hello."))
    assert (live_table.version, fake.tables[CODE][0]) == (2, 2)
    (told,) = here.heard.all(TableChanged)
    assert (told.table.notice, told.table.version, told.now) == ("Hello.", 2, NOON)
    assert [change.table.notice for change in here.changed] == ["Hello."]


def written_by_a_newer_node(fake: FakeHouse) -> tuple[int, bytes]:
    """Have the table be one that only newer nodes may read."""
    version, body = fake.tables[CODE]
    fake.tables[CODE] = (version + 1, msgpack.packb(msgpack.unpackb(body) | {"format": FORMAT + 1}))
    return fake.tables[CODE]


async def test_a_table_for_newer_nodes_is_left_alone(
    here: Node, there: Node, fake: FakeHouse
) -> None:
    await here.table_cache.open(seated(ANN))
    newer = written_by_a_newer_node(fake)
    for node in (here, there):
        with pytest.raises(Refusal, match="draining: That table has gone over") as refused:
            await node.table_cache.change(CODE, noticed("Hello."))
        assert refused.value.retry
        assert node.table_cache.known(CODE) is None
    assert fake.tables[CODE] == newer
    assert (here.changed, here.heard.events) == ([], [])


async def test_nothing_to_change_is_nothing_written_and_nothing_told(
    here: Node, fake: FakeHouse
) -> None:
    await here.table_cache.open(seated(ANN))
    await here.table_cache.change(CODE, lambda table, now: None)
    assert (fake.tables[CODE][0], here.heard.events, here.changed) == (1, [], [])


async def test_what_nobody_can_see_is_not_told(here: Node) -> None:
    await here.table_cache.open(seated(ANN))
    await here.table_cache.change(CODE, lambda table, now: Change(replace(table, looked=now)))
    assert (here.heard.events, len(here.changed)) == ([], 1)


async def test_a_refused_change_changes_nothing(here: Node, fake: FakeHouse) -> None:
    await here.table_cache.open(seated(ANN))

    def refused(table: TableState, now: Millis) -> Change:
        raise Refusal("host_only")

    with pytest.raises(Refusal, match="host_only"):
        await here.table_cache.change(CODE, refused)
    assert (fake.tables[CODE][0], here.heard.events, here.changed) == (1, [], [])


async def test_a_change_is_judged_anew_when_another_node_wrote_first(
    here: Node, there: Node
) -> None:
    await here.table_cache.open(seated(ANN))
    await there.table_cache.get(CODE)
    await here.table_cache.change(CODE, noticed("One."))
    live_table = await there.table_cache.change(CODE, noticed("Two."))
    assert (live_table.state.notice, live_table.version) == ("One.Two.", 3)
    assert [told.table.notice for told in there.heard.all(TableChanged)] == ["One.Two."]
    ((known, found),) = there.caught_up
    assert (known.notice, found.notice) == ("", "One.Two.")
    assert here.caught_up == []


async def test_two_nodes_at_once_lose_no_change(here: Node, there: Node) -> None:
    await here.table_cache.open(seated(ANN))
    await there.table_cache.get(CODE)
    await asyncio.gather(
        *(node.table_cache.change(CODE, noticed("x")) for node in (here, there) for _ in range(5))
    )
    await here.table_cache.refresh(CODE)
    live_table = here.table_cache.known(CODE)
    assert live_table is not None
    assert (live_table.state.notice, live_table.version) == ("x" * 10, 11)


async def test_a_refreshed_table_is_told_if_it_is_news(here: Node, there: Node) -> None:
    await here.table_cache.open(seated(ANN))
    await there.table_cache.get(CODE)
    await there.table_cache.refresh(CODE)
    await there.table_cache.refresh("odd-emu-11")
    assert there.heard.events == []
    await here.table_cache.change(CODE, noticed("News."))
    await there.table_cache.refresh(CODE)
    assert [told.table.notice for told in there.heard.all(TableChanged)] == ["News."]
    assert len(there.caught_up) == 1


@pytest.mark.parametrize("happened", [True, False])
async def test_a_write_in_doubt_is_made_sure_of_at_the_next_look(
    here: Node, fake: FakeHouse, happened: bool
) -> None:
    await here.table_cache.open(seated(ANN))
    fake.lose_answers, fake.unavailable = int(happened), not happened
    with pytest.raises(StoreUnavailable):
        await here.table_cache.change(CODE, noticed("Perhaps."))
    assert (here.heard.events, here.changed) == ([], [])
    fake.unavailable = False
    await here.table_cache.look_over()
    await here.table_cache.look_over()
    told = [each.table.notice for each in here.heard.all(TableChanged)]
    assert told == (["Perhaps."] if happened else [])
    assert len(here.caught_up) == int(happened)
    live_table = await here.table_cache.change(CODE, noticed("Then."))
    assert live_table.state.notice == ("Perhaps.Then." if happened else "Then.")


FAULTS = [StoreUnavailable("away"), Refusal("no_such_race"), ValueError("broken")]


@pytest.mark.parametrize("fault", FAULTS)
async def test_what_could_not_be_followed_up_is_followed_up_at_the_next_look(
    here: Node, fault: Exception
) -> None:
    await here.table_cache.open(seated(ANN))

    async def fails(live_table: LiveTable, before: TableState, change: Change) -> None:
        raise fault

    here.table_cache.on_change = fails
    await here.table_cache.change(CODE, noticed("Done."))
    assert here.caught_up == []
    await here.table_cache.look_over()
    ((known, found),) = here.caught_up
    assert (known.notice, found.notice) == ("", "Done.")
    await here.table_cache.look_over()
    assert len(here.caught_up) == 1


@pytest.mark.parametrize("fault", FAULTS)
async def test_a_change_that_was_made_is_a_yes_though_catching_up_fails(
    here: Node, there: Node, fault: Exception
) -> None:
    await here.table_cache.open(seated(ANN))
    await there.table_cache.get(CODE)
    await here.table_cache.change(CODE, noticed("First."))
    faults = [fault]

    async def fails_once(live_table: LiveTable, known: TableState) -> None:
        if faults:
            raise faults.pop()
        await there.on_caught_up(live_table, known)

    there.table_cache.on_caught_up = fails_once
    live_table = await there.table_cache.change(CODE, noticed("Second."))
    assert live_table.state.notice == "First.Second."
    assert [change.table.notice for change in there.changed] == ["First.Second."]
    assert there.caught_up == []
    await there.table_cache.look_over()
    assert [(known.notice, found.notice) for known, found in there.caught_up] == [
        ("", "First.Second.")
    ]


async def test_who_waits_for_others_at_a_table_waits_no_longer_than_for_the_store(
    here: Node,
) -> None:
    live_table = await here.table_cache.open(seated(ANN))
    assert live_table is not None
    here.table_cache.timeout = 0.001
    async with asyncio.timeout(30), live_table.lock:
        with pytest.raises(StoreUnavailable, match="in time"):
            await here.table_cache.change(CODE, noticed("Hello."))
        with pytest.raises(StoreUnavailable, match="in time"):
            await here.table_cache.refresh(CODE)
        assert live_table.in_doubt, "what it was refreshed for is still to be read"
    assert (live_table.state.notice, here.changed) == ("", [])


async def test_a_write_that_was_given_up_is_in_doubt(
    here: Node, monkeypatch: pytest.MonkeyPatch
) -> None:
    live_table = await here.table_cache.open(seated(ANN))
    assert live_table is not None
    save, timeout = FakeTables.save_table, here.table_cache.timeout
    writes: list[asyncio.Task[bool]] = []

    async def no_answer(tables: FakeTables, write: TableWrite) -> bool:
        writes.append(asyncio.create_task(save(tables, write)))
        return await asyncio.Event().wait()

    with monkeypatch.context() as store:
        store.setattr(FakeTables, "save_table", no_answer)
        here.table_cache.timeout = 0.001
        async with asyncio.timeout(30):
            with pytest.raises(StoreUnavailable, match="in time"):
                await here.table_cache.change(CODE, noticed("Perhaps."))
    assert live_table.in_doubt
    await asyncio.gather(*writes)
    here.table_cache.timeout = timeout
    await here.table_cache.look_over()
    assert (live_table.in_doubt, live_table.state.notice) == (False, "Perhaps.")


async def test_a_table_without_peace_gives_up_after_many_tries(here: Node, fake: FakeHouse) -> None:
    await here.table_cache.open(seated(ANN))

    def never(table: TableState, now: Millis) -> Change:
        version, body = fake.tables[CODE]
        fake.tables[CODE] = (version + 1, body)
        return Change(replace(table, touched=now))

    with pytest.raises(Refusal, match="Too many changes at once") as refused:
        await here.table_cache.change(CODE, never)
    assert refused.value.retry


async def test_the_start_of_a_race_opens_its_boards_in_the_same_write(
    here: Node, fake: FakeHouse
) -> None:
    here.table_cache.opening_banked = lambda state: 7
    table = replace(counting(ANN, BEN), deal_key="ab" * 32)
    await here.table_cache.open(table)
    TIME.at = table.start_at
    await here.table_cache.elapse(CODE, frozenset())
    assert [change.effects for change in here.changed] == [(RaceStarted(),)]
    race = fake.races[CODE, 1]
    assert (race.start_at, race.deadline) == (table.start_at, table.deadline)
    assert {player: (board.banked, board.epoch) for player, board in race.boards.items()} == {
        ANN: (7, 1),
        BEN: (7, 2),
    }


async def test_a_newer_connection_moves_the_fence_of_the_board(here: Node, fake: FakeHouse) -> None:
    table = replace(counting(ANN, BEN), deal_key="ab" * 32)
    await here.table_cache.open(table)
    TIME.at = table.start_at
    await here.table_cache.elapse(CODE, frozenset())
    await here.table_cache.change(CODE, lambda table, now: resume(table, BEN, node=NODE, now=now))
    boards = fake.races[CODE, 1].boards
    assert {player: board.epoch for player, board in boards.items()} == {ANN: 1, BEN: 3}


async def test_a_timer_that_has_run_out_rings(here: Node) -> None:
    await here.table_cache.open(seated(ANN))
    assert here.rung.empty()
    TIME.at = NOON + 10_000
    table = counting(ANN, BEN)
    await here.table_cache.change(CODE, lambda _, now: Change(table))
    async with asyncio.timeout(20):
        assert await here.rung.get() == CODE


async def test_a_table_that_is_loaded_is_looked_at_once(here: Node, there: Node) -> None:
    await here.table_cache.open(seated(ANN))
    await there.table_cache.get(CODE)
    async with asyncio.timeout(20):
        assert await there.rung.get() == CODE
    assert there.rung.empty()


async def test_tables_that_nobody_follows_are_let_go(here: Node, fake: FakeHouse) -> None:
    await here.table_cache.open(seated(ANN))
    await here.table_cache.open(replace(seated(ANN), code="odd-emu-11"))
    here.table_cache.forget_unused("another node")
    assert [live_table.code for live_table in here.table_cache.all()] == [CODE], (
        "the other nobody follows"
    )
    assert here.table_cache.phases() == {Phase.GATHERING: 1}
    assert (await here.table_cache.get("odd-emu-11")).state.seats
    here.table_cache.forget_unused(NODE)
    assert len(here.table_cache.all()) == 2, "somebody of this node sits there"
    assert set(fake.tables) == {CODE, "odd-emu-11"}
    for live_table in here.table_cache.all():
        here.table_cache.forget(live_table.code)


# What other nodes tell


async def test_a_version_that_is_told_of_is_read_once(here: Node, there: Node) -> None:
    await here.table_cache.open(seated(ANN))
    await there.table_cache.get(CODE)
    await here.table_cache.change(CODE, noticed("one"))
    assert there.table_cache.is_behind(CODE, 2)
    assert not there.table_cache.is_behind(CODE, 2), "it is being read already"
    assert not here.table_cache.is_behind(CODE, 2), "it is this node's own"
    assert not there.table_cache.is_behind("odd-emu-11", 2), "it is not held here"
    await there.table_cache.refresh(CODE, 2)
    live_table = there.table_cache.known(CODE)
    assert live_table is not None
    assert (live_table.version, live_table.state.notice) == (2, "one")
    assert [told.table.notice for told in there.heard.all(TableChanged)] == ["one"]


async def test_a_version_that_is_told_of_while_an_older_one_is_on_its_way_is_not_missed(
    here: Node, fake: FakeHouse
) -> None:
    await here.table_cache.open(seated(ANN))
    store = fake_store(fake)

    class Late(FakeTables):
        """Answers with what there was before somebody wrote."""

        async def load_table(self, code: str) -> tuple[int, bytes] | None:
            answer = await super().load_table(code)
            if answer is not None and answer[0] == 1:
                await here.table_cache.change(CODE, noticed("one"))
                assert not late.is_behind(CODE, 2)
            return answer

    broadcaster, clock = Broadcaster(), ServerClock(store.tables, TIME.steady)
    late = TableCache(Late(fake), broadcaster, clock, seeds())
    live_table = await late.live_table(CODE)
    assert (live_table.version, live_table.state.notice) == (2, "one")
    assert late._arrivals == {}


async def test_what_changed_without_a_word_is_found_by_looking(here: Node, there: Node) -> None:
    await here.table_cache.open(seated(ANN))
    await there.table_cache.get(CODE)
    assert await there.table_cache.changed_elsewhere() == []
    await here.table_cache.change(CODE, noticed("one"))
    assert await there.table_cache.changed_elsewhere() == [CODE]


async def test_a_no_is_said_only_after_a_look_if_other_nodes_live(here: Node, there: Node) -> None:
    await here.table_cache.open(seated(ANN))
    await there.table_cache.get(CODE)
    await here.table_cache.change(CODE, noticed("one"))

    def only_after_one(table: TableState, now: Millis) -> Change:
        if table.notice != "one":
            raise Refusal("wrong_phase")
        return Change(replace(table, notice="two"))

    with pytest.raises(Refusal):
        await there.table_cache.change(CODE, only_after_one)
    there.table_cache.is_alone = lambda: False
    assert (await there.table_cache.change(CODE, only_after_one)).state.notice == "two"


async def test_with_others_about_a_race_is_looked_after_where_it_is_followed(
    here: Node, fake: FakeHouse
) -> None:
    state = replace(seated(ANN), code="odd-emu-11", phase=Phase.RUNNING, seats=())
    await here.table_cache.open(state)
    here.table_cache.forget_unused("node")
    assert here.table_cache.known("odd-emu-11") is not None
    here.table_cache.is_alone = lambda: False
    here.table_cache.forget_unused("node")
    assert here.table_cache.known("odd-emu-11") is None


async def test_who_stops_rings_no_more(here: Node) -> None:
    await here.table_cache.open(counting(ANN, BEN))
    await here.table_cache.close()
    assert here.table_cache.all() == []
    assert here.rung.empty()
