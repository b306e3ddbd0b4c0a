"""Two nodes: each applies the events of the other, and finds changes whose events it missed."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager

import pytest

from kit.event_recorder import recording
from kit.in_process_server import InProcessServer, gathered
from kit.players import RECEIVED_WITHIN
from kit.results import add_results
from kit.stepped_store import SteppedStore, opened_on
from kit.two_nodes import Nodes
from saratoga_protocol.commands import (
    ChangeSettings,
    JoinTable,
    Kick,
    LeaveTable,
    ListTables,
    Resume,
    SubscribeLeaderboard,
    WatchTable,
)
from saratoga_protocol.events import (
    Announcement,
    BoardEnded,
    Dealt,
    Done,
    Leaderboard,
    RaceOver,
    SeatLost,
    Standings,
    TableChanged,
    Tables,
)
from saratoga_protocol.refusals import BANNED, TAKEN_OVER
from saratoga_rules.records.standing import State
from saratoga_server.cancellation import cancel_all
from saratoga_server.domain.tables.countdown import MINUTE
from saratoga_server.live.peer_events import PeerEvents
from saratoga_server.live.table_loads import LoadTable
from saratoga_server.messages.node_events import (
    Announce,
    Here,
    NodeEventListener,
    Stood,
    TableClosedByAdmin,
    Touched,
)
from saratoga_server.ports import LiveStanding, StoreUnavailable


async def test_a_table_is_the_same_on_both_nodes(nodes: Nodes) -> None:
    anna, bert = await nodes.two()
    code = await gathered(anna, bert)
    await nodes.settle()
    assert [seat.name for seat in anna.table.seats] == ["Anna", "Bert"]
    answer = await anna.ask(ChangeSettings, table=code, game="lady-palk")
    assert isinstance(answer, Done)
    await nodes.settle()
    assert (bert.table.settings.game, bert.table) == ("lady-palk", anna.table)


async def test_racers_on_two_nodes_are_sent_the_same_race(nodes: Nodes) -> None:
    anna, bert = await nodes.two()
    await nodes.race(anna, bert)
    deals = [player.received.all(Dealt)[0] for player in (anna, bert)]
    assert deals[0].board == deals[1].board
    await anna.moves("draw")
    await anna.cash_out()
    await nodes.pass_time(250)
    rows = {row.player: row.state for row in bert.received.all(Standings)[-1].standings}
    assert rows == {anna.player: "cashed out", bert.player: "racing"}
    await bert.cash_out()
    await nodes.pass_time(250)
    (over,), (also,) = anna.received.all(RaceOver), bert.received.all(RaceOver)
    assert over == also
    assert anna.received.all(Standings)[-1] == bert.received.all(Standings)[-1]


async def test_a_newer_connection_on_another_node_closes_the_older_one(nodes: Nodes) -> None:
    anna, bert = await nodes.two()
    code = await nodes.race(anna, bert)
    await anna.moves("draw")
    newer = await nodes.west.player("Anna")
    snapshot = await newer.at_table(Resume, table=code)
    assert snapshot.board is not None
    assert snapshot.board.count == 1
    await nodes.settle()
    assert anna.close_codes == [TAKEN_OVER.code]
    await newer.moves("draw")


async def test_a_player_who_is_kicked_on_another_node_is_sent_the_reason(nodes: Nodes) -> None:
    anna, bert = await nodes.two()
    code = await gathered(anna, bert)
    await nodes.settle()
    await anna.ask(Kick, table=code, player=bert.player)
    await nodes.settle()
    (lost,) = bert.received.all(SeatLost)
    assert (lost.table, lost.reason) == (code, "The host has kicked you from the table.")
    assert await bert.refused(JoinTable, table=code) == "kicked"


async def test_an_ending_by_another_node_is_sent_to_the_player_once(nodes: Nodes) -> None:
    anna, bert = await nodes.two()
    await nodes.race(anna, bert, cap=5)
    # west ends boards that are out of time before east looks
    nodes.east.time.at += 5 * MINUTE
    await nodes.west.pass_time(0)
    await nodes.settle()
    await nodes.pass_time(1000)
    for player in (anna, bert):
        (ended,) = player.received.all(BoardEnded)
        assert ended.board.state == "out of time"
        assert len(player.received.all(RaceOver)) == 1


async def test_before_refusing_a_command_a_node_reads_the_table_again(nodes: Nodes) -> None:
    anna, bert = await nodes.two()
    code = await gathered(anna, bert)
    cleo = await nodes.west.player("Cleo")
    await anna.ask(ChangeSettings, table=code, seats=2)
    await nodes.settle()
    assert await cleo.refused(JoinTable, table=code) == "table_full"
    nodes.west.tap.is_deaf = True
    await anna.ask(ChangeSettings, table=code, seats=3)
    await cleo.at_table(JoinTable, table=code)


async def test_the_list_of_tables_follows_changes_on_every_node(nodes: Nodes) -> None:
    anna, bert = await nodes.two()
    code = await gathered(anna, public=True)
    cleo = await nodes.west.player("Cleo")
    for seated in (2, 1, 2, 1):
        if seated == 2:
            await bert.at_table(JoinTable, table=code)
        else:
            await anna.ask(Kick, table=code, player=cleo.player)
            await bert.ask(LeaveTable, table=code)
        await nodes.settle()
        tables = await anna.ask(ListTables)
        assert isinstance(tables, Tables)
        assert [table.seated for table in tables.tables] == [seated]


async def test_a_watcher_is_sent_changes_of_another_node(nodes: Nodes) -> None:
    anna, bert = await nodes.two()
    wanda = await nodes.west.player("Wanda")
    code = await gathered(anna)
    await wanda.at_table(WatchTable, table=code)
    await bert.at_table(JoinTable, table=code)
    await anna.disconnect()
    await nodes.settle()
    assert [seat.connected for seat in wanda.table.seats] == [False, True]
    assert wanda.received.all(TableChanged)[-1].table == bert.table


async def test_a_node_that_seemed_dead_claims_its_seats_again(nodes: Nodes) -> None:
    anna, bert = await nodes.two()
    code = await gathered(anna, bert)
    await nodes.settle()
    await nodes.east.real.nodes.gone(nodes.west.node.name)
    await nodes.east.node.scheduler.sweep()
    await nodes.east.settle()
    await asyncio.sleep(0)
    assert [seat.connected for seat in anna.table.seats] == [True, False]
    await nodes.east.real.nodes.beat(nodes.west.node.name)
    await nodes.settle()
    await nodes.west.node.scheduler.sweep()
    await nodes.settle()
    assert [seat.connected for seat in anna.table.seats] == [True, True]
    assert isinstance(await bert.ready(), Done)
    assert code == bert.table.code


async def test_a_node_that_is_alone_publishes_nothing(server: InProcessServer) -> None:
    anna = await server.player("Anna")
    await server.race(anna)
    assert server.node.peers.is_alone
    server.tap.is_deaf = True  # otherwise the node would know of the recorder
    async with second_store(server) as store, recording(store.real.events, "other") as other:
        await anna.moves("draw")
        await anna.cash_out()
        await server.settle()
        await server.node.peers.publish_standings()
        await server.settle()
        await other.receives(server.tap.marker)
        kinds = {type(event) for event in other.events if event != Stood(server.node.name, {})}
    assert kinds == {Touched, Here}, "the store publishes the former, this test the latter"


async def test_a_node_that_begins_to_listen_is_sent_all_standings(server: InProcessServer) -> None:
    anna = await server.player("Anna")
    await server.race(anna)
    await anna.moves("draw")
    async with second_store(server) as store, recording(store.real.events, "newcomer") as newcomer:
        await server.settle()
        assert not server.node.peers.is_alone
        (race,) = server.node.races.all()
        server.faults.unavailable = True
        await server.node.peers.publish_standings()
        server.faults.unavailable = False
        await server.node.peers.publish_standings()
        standings = {anna.player: race.runs[anna.player].standing}
        await newcomer.receives(Stood(server.node.name, {race.id: standings}))
        assert [type(event) for event in newcomer.events].count(Stood) == 1
    assert standings[anna.player].length == 1


async def test_results_that_another_node_settled_are_sent_to_followers(nodes: Nodes) -> None:
    await nodes.two()
    wanda = await nodes.west.player("Wanda")
    await wanda.ask(SubscribeLeaderboard, game="canfield", period="all")
    await add_results(nodes.east.store, 3)
    await nodes.east.node.leaderboards.settle()
    await nodes.settle()
    sent = len(wanda.received.events)
    await nodes.west.node.leaderboards.send_changes()
    (page,) = wanda.received.all(Leaderboard, sent)
    assert page.total == 3


async def test_players_who_were_banned_or_renamed_during_a_lost_subscription_are_found(
    nodes: Nodes,
) -> None:
    anna, bert = await nodes.two()
    peer_events = nodes.west.node.peer_events
    await peer_events.subscribed()
    nodes.west.tap.is_deaf = True
    await nodes.west.store.players.set_banned(bert.player, True)
    cleo = await nodes.west.player("Cleo")
    await nodes.west.store.players.claim_name(cleo.player, "Chloe", "chloe")
    await peer_events.subscribed()
    assert bert.close_codes == [BANNED.code]
    assert cleo.session.name == "Chloe"
    assert (cleo.close_codes, anna.close_codes) == ([], [])
    assert nodes.west.node.metrics.resubscriptions == 1


async def test_a_table_that_changed_during_a_lost_subscription_is_read_again(nodes: Nodes) -> None:
    anna, bert = await nodes.two()
    code = await gathered(anna, bert)
    await nodes.settle()
    peer_events = nodes.west.node.peer_events
    nodes.west.tap.is_deaf = True
    await anna.ask(ChangeSettings, table=code, game="lady-palk")
    assert bert.table.settings.game == "canfield"
    await peer_events.subscribed()
    await nodes.settle()
    assert bert.table.settings.game == "lady-palk"


def second_store(server: InProcessServer) -> AbstractAsyncContextManager[SteppedStore]:
    """Open the server's store once more, for another listener."""
    return opened_on(server.store.server, server.time)


@asynccontextmanager
async def running(peer_events: PeerEvents) -> AsyncIterator[None]:
    """Run the tasks of a node that apply events and catch up."""
    task = asyncio.create_task(peer_events.run())
    try:
        yield
    finally:
        await cancel_all([task])


async def no_events(listener: NodeEventListener) -> None:
    """Wait for ever, in place of a subscription that passes events to `listener`."""
    await asyncio.get_running_loop().create_future()


async def test_a_look_that_failed_is_taken_again(
    nodes: Nodes, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, bert = await nodes.two()
    peer_events = nodes.west.node.peer_events
    await peer_events.subscribed()
    nodes.west.tap.is_deaf = True
    await nodes.west.store.players.set_banned(bert.player, True)
    nodes.west.faults.unavailable = True
    await peer_events.subscribed()
    nodes.west.faults.unavailable = False
    assert bert.close_codes == []
    monkeypatch.setattr("saratoga_server.live.peer_events.LOOK_EVERY", 0.0)
    monkeypatch.setattr(nodes.west.store.events, "listen", no_events)
    is_disconnected = asyncio.Event()
    monkeypatch.setattr(bert.connection, "close", lambda code: is_disconnected.set())
    async with running(peer_events):
        await asyncio.wait_for(is_disconnected.wait(), RECEIVED_WITHIN)


async def test_administrative_actions_are_applied_in_order_and_one_failure_stops_no_other(
    nodes: Nodes, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, bert = await nodes.two()
    code = await gathered(bert)
    peer_events = nodes.west.node.peer_events
    monkeypatch.setattr(nodes.west.store.events, "listen", no_events)
    monkeypatch.setattr(
        nodes.west.store.tables, "load_table", failing_once(nodes.west.store.tables.load_table)
    )
    for event in (TableClosedByAdmin(code, "Enough."), Announce("one"), Announce("two")):
        peer_events.receive(event)
    async with running(peer_events):
        await bert.received.next(Announcement, 0, text="two")
    assert [each.text for each in bert.received.all(Announcement)] == ["one", "two"]


def failing_once(load: LoadTable) -> LoadTable:
    """Return `load`, changed so that the first call raises `StoreUnavailable`."""
    faults = [StoreUnavailable("away")]

    async def loaded(code: str) -> tuple[int, bytes] | None:
        if faults:
            raise faults.pop()
        return await load(code)

    return loaded


async def test_standings_that_cannot_be_read_keep_no_other_race_from_being_read(
    nodes: Nodes, monkeypatch: pytest.MonkeyPatch
) -> None:
    anna, bert = await nodes.two()
    first = await nodes.race(anna, bert)
    cleo, dora = await nodes.east.player("Cleo"), await nodes.west.player("Dora")
    second = await nodes.race(cleo, dora)
    boards = nodes.west.store.boards
    load, asked = boards.load_standings, []

    async def load_standings(table: str, race: int) -> dict[str, LiveStanding]:
        asked.append(table)
        if table == first:
            raise StoreUnavailable("its primary is away")
        return await load(table, race)

    monkeypatch.setattr(boards, "load_standings", load_standings)
    nodes.west.tap.is_deaf = True
    for racer in (anna, cleo):
        await racer.cash_out()
    await nodes.west.node.peer_events.subscribed()
    assert sorted(asked) == sorted([first, second])
    states = {
        race.code: race.runs[racer.player].standing.state
        for race in nodes.west.node.races.all()
        for racer in (anna, cleo)
        if racer.player in race.runs
    }
    assert states == {first: State.RACING, second: State.CASHED_OUT}
