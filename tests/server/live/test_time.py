"""What time brings: timers, idle players and hosts, searches, and whether a node is ready."""

import asyncio
from itertools import count
from unittest.mock import AsyncMock, Mock

import pytest

from kit.in_process_server import InProcessServer, Nodes, gathered, listed
from saratoga_protocol import events
from saratoga_protocol.commands import (
    AllowReady,
    CreateTable,
    EndRace,
    Heartbeat,
    JoinTable,
    Kick,
    LeaveTable,
    LockTable,
    MakeMove,
    NextRace,
)
from saratoga_protocol.events import Done, RaceOver
from saratoga_rules.games import GAMES
from saratoga_rules.position import Position, parse_position
from saratoga_rules.records.record import parse_record
from saratoga_rules.records.standing import IDLE_MILLIS
from saratoga_rules.records.verify import verify
from saratoga_rules.stuck.arrangements import ArrangementSearch
from saratoga_rules.stuck.prospects import prospects
from saratoga_server.admin.acts import Administration
from saratoga_server.background_tasks import BackgroundTasks
from saratoga_server.live.readiness import STORE_REFUSED, Readiness
from saratoga_server.live.scheduler import LOOK_EVERY
from saratoga_server.live.stuck_searches import StuckSearches
from saratoga_server.live.tables import RETRY_MILLIS
from saratoga_server.node import Node
from saratoga_server.ports import StoreUnavailable
from saratoga_server.store.tables import NotSaved, TableWrite

# Signs of activity, and what a host without them loses


async def test_other_commands_and_refused_moves_are_signs_too(server: InProcessServer) -> None:
    anna, bert, code = await server.two_racing(cap=0)
    table, race = {"table": code}, {"race": f"{code}/1"}
    for kind, fields in (
        (EndRace, race),
        (LockTable, table | {"locked": True}),
        (Kick, table | {"player": "nobodynobodynobo"}),
        (AllowReady, table | {"player": "nobodynobodynobo"}),
        (MakeMove, race | {"move": "t1>t1", "after": 0}),
        (MakeMove, race | {"move": "draw", "after": 9}),
        (MakeMove, race | {"move": "draw!", "after": 0}),
        (Heartbeat, {"active": True}),
    ):
        await server.pass_time(IDLE_MILLIS - int(LOOK_EVERY * 1000))
        assert (await server.board(code, anna.player)).state == "racing"
        await anna.ask(kind, **fields)
    assert (await server.board(code, bert.player)).state == "idle"


# Between races


@pytest.mark.parametrize("is_over", [False, True], ids=["gathering", "over"])
async def test_friends_do_not_wait_between_races_for_a_host_who_has_gone(
    nodes: Nodes, is_over: bool
) -> None:
    anna, bert = await nodes.two()
    if is_over:
        await nodes.race(anna, bert, cap=20)
        for player in (anna, bert):
            await player.cash_out()
        await nodes.settle()
    else:
        await anna.at_table(CreateTable, game="canfield")
        await bert.at_table(JoinTable, table=anna.table.code)
    await nodes.pass_time(60_000)
    await bert.ask(Heartbeat, active=True)
    await nodes.pass_time(IDLE_MILLIS - 60_000 - 1)
    assert bert.table.host == anna.player
    await nodes.pass_time(1)
    for player in (anna, bert):
        assert player.table.host == bert.player
        assert player.table.notice == "Anna has been away for three minutes; Bert is host now."
    kind = NextRace if is_over else LockTable
    fields = {} if is_over else {"locked": True}
    assert isinstance(await bert.ask(kind, table=bert.table.code, **fields), Done)


# A table that an administrator closes


async def test_a_move_made_while_the_table_is_closed_is_in_the_record(
    server: InProcessServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    administration = Administration(
        server.store, (await Node.for_administration(server.store)).tables, "zoe@laptop"
    )
    anna = await server.player("Anna")
    code = await server.race(anna)
    save = server.store.tables.save_table
    moves = ["draw", "draw"]
    writes = []

    async def after_a_move(write: TableWrite) -> NotSaved | None:
        writes.append(write)
        if moves:
            assert isinstance(await anna.move(moves.pop()), events.BoardChanged)
        return await save(write)

    monkeypatch.setattr(administration.stores.tables, "save_table", after_a_move)
    await administration.close(code, "Enough.")
    record = await server.record(code)
    assert record is not None
    assert verify(record).ok
    assert [line.text for line in parse_record(record).racers[0].log] == ["draw", "draw"]
    assert len(writes) == 3, "the logs are read again after each refused write"


# Timers of tables


async def test_a_node_whose_clock_is_ahead_ends_a_race_soon_after_its_deadline(
    server: InProcessServer,
) -> None:
    anna, *_ = await server.two_racing(cap=3)
    deadline = anna.received.deals()[0].deadline
    assert deadline
    server.time.behind = 300
    await server.pass_time(deadline - server.time.at)
    assert anna.table.phase == "running", "by the store's clock there is time"
    await server.pass_time(RETRY_MILLIS)
    assert anna.table.phase == "over"
    (over,) = anna.received.all(RaceOver)
    assert {row.state for row in over.outcome.results} == {"out-of-time"}


# Seats


async def test_a_seat_without_a_connection_is_found_at_the_second_look(
    server: InProcessServer,
) -> None:
    anna, bert = await server.player("Anna"), await server.player("Bert")
    code = await gathered(anna, bert)
    other_tab = await server.player("Anna")
    await other_tab.at_table(JoinTable, table=code, seat=False)
    server.faults.unavailable = True
    await anna.disconnect()  # and the note about it in the store is lost
    server.faults.unavailable = False
    await server.pass_time(1000)
    assert [seat.connected for seat in bert.table.seats] == [True, True]
    await server.pass_time(1000)
    assert [seat.connected for seat in bert.table.seats] == [False, True]


# Entries that are no longer needed


async def test_unused_tables_races_and_lines_are_dropped(
    server: InProcessServer,
) -> None:
    anna = await server.player("Anna")
    code = await gathered(anna, public=True)
    await server.deal(anna)
    assert await listed(anna) == [("Anna", "running", 1)]
    assert len(server.node.races.all()) == 1
    assert isinstance(await anna.ask(LeaveTable, table=code), Done)
    await server.pass_time(1000)
    await server.pass_time(1000)
    assert (server.node.tables.all(), server.node.races.all()) == ([], [])
    assert (await listed(anna), await server.real.tables.list_public()) == ([], [])


# Readiness


NO_STORE = "The store does not answer."


async def test_a_store_that_is_away_is_one_line_in_the_log_and_so_is_its_return(
    caplog: pytest.LogCaptureFixture,
) -> None:
    ask = AsyncMock(side_effect=StoreUnavailable("no"))
    readiness = Readiness(ask, map(float, count()).__next__, lambda: None)
    with caplog.at_level("INFO"):
        for _ in range(10):
            assert await readiness.why_not_ready() == NO_STORE
        ask.side_effect = None
        for _ in range(2):
            assert await readiness.why_not_ready() is None
    assert [line.getMessage() for line in caplog.records] == ["store_away", "store_back"]


async def test_a_node_whose_store_is_refused_names_no_folder_and_asks_no_store() -> None:
    ask, refused = AsyncMock(), Mock(return_value="Move /srv/saratoga/store away.")
    readiness = Readiness(ask, lambda: 0.0, refused)
    assert await readiness.why_not_ready() == STORE_REFUSED
    ask.assert_not_awaited()
    refused.return_value = None
    assert await readiness.why_not_ready() is None


# Long searches for *stuck* boards run one at a time, in slices, and stop when they are out of date


STUCK = parse_position(
    "stock=- waste=7C reserve=- up=1,1,1,1 down=- columns=5C/5S/9C/9S base=1 passes=2"
)
SUBJECT = ("mint-otter-42/1", "a" * 16, 7)


@pytest.fixture
def background_tasks() -> BackgroundTasks:
    return BackgroundTasks()


@pytest.fixture
def searches(background_tasks: BackgroundTasks) -> StuckSearches:
    return StuckSearches(background_tasks)


def search(position: Position = STUCK) -> ArrangementSearch:
    game = GAMES["canfield"]
    return ArrangementSearch(game, position, prospects(game, position))


async def test_a_board_whose_ending_failed_is_searched_again(
    searches: StuckSearches, background_tasks: BackgroundTasks
) -> None:
    ending = AsyncMock(side_effect=[StoreUnavailable("away"), None])
    searches.search(SUBJECT, search(), lambda: True, ending)
    await background_tasks.finish()
    searches.search(SUBJECT, search(), lambda: True, ending)
    await background_tasks.finish()
    assert ending.await_count == 2


class EndlessSearch(ArrangementSearch):
    """A search without a verdict, which sets an event when it begins."""

    def __init__(self) -> None:
        self.slices = 0
        self.has_begun = asyncio.Event()

    def advance(self, arrangements: int) -> bool | None:
        self.slices += 1
        self.has_begun.set()
        return None


async def test_searches_end_when_the_server_stops(
    searches: StuckSearches, background_tasks: BackgroundTasks
) -> None:
    endless, ending = EndlessSearch(), AsyncMock()
    searches.search(SUBJECT, endless, lambda: True, ending)
    await endless.has_begun.wait()
    searches.stop()
    slices = endless.slices
    await background_tasks.finish()
    assert endless.slices == slices
    searches.search(("mint-otter-42/1", "b" * 16, 7), search(), lambda: True, ending)
    await background_tasks.finish()
    ending.assert_not_awaited()
