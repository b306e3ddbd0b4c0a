"""Two nodes: what each publishes, and how it follows what the other does."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from kit.counted import counted
from kit.in_process_server import Nodes, gathered
from saratoga_protocol.commands import (
    ChangeSettings,
    JoinTable,
    Kick,
    LeaveTable,
    ListTables,
    MakeMove,
)
from saratoga_protocol.events import (
    Done,
    RaceOver,
    Tables,
)
from saratoga_protocol.refusals import BANNED, TAKEN_OVER
from saratoga_rules.records.standing import State
from saratoga_server.cancellation import cancel_all
from saratoga_server.domain.tables.countdown import MINUTE
from saratoga_server.live.listener import Listener
from saratoga_server.messages.node_events import (
    PlayerChanged,
)
from saratoga_server.ports import PlayerRow, StoredBoard, StoreUnavailable

# Two nodes: each applies the events of the other, and finds changes whose events it missed


async def test_an_ending_by_another_node_is_sent_to_the_player_once(nodes: Nodes) -> None:
    anna, bert = await nodes.two()
    await nodes.race(anna, bert, cap=5)
    # west ends boards that are out of time before east looks
    nodes.east.time.at += 5 * MINUTE
    await nodes.west.pass_time(0)
    await nodes.settle()
    await nodes.pass_time(1000)
    for player in (anna, bert):
        (ended,) = player.received.endings()
        assert ended.board.state == "out-of-time"
        assert len(player.received.all(RaceOver)) == 1


async def test_a_replaced_connection_is_closed_before_it_is_sent_that_its_player_left(
    nodes: Nodes,
) -> None:
    anna, bert = await nodes.two()
    code = await nodes.race(anna, bert)
    (race,) = nodes.east.node.races.all()
    nodes.east.tap.is_deaf = True
    newer = await nodes.west.player("Anna")
    await newer.at_table(JoinTable, table=code)
    await newer.ask(LeaveTable, table=code)
    told = len(anna.received.events)
    ended = nodes.west.node.races.all()[0].runs[anna.player].standing
    # the standing comes before the table that says why
    nodes.east.node.races.merge(race, {anna.player: ended})
    await nodes.east.settle()
    assert race.runs[anna.player].standing.state is State.LEFT
    assert anna.close_codes == [TAKEN_OVER.code]
    assert anna.received.endings(told) == []


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


async def test_a_node_that_seemed_dead_claims_its_seats_again(nodes: Nodes) -> None:
    anna, bert = await nodes.two()
    code = await gathered(anna, bert)
    await nodes.settle()
    await nodes.east.real.nodes.gone(nodes.west.node.name)
    await nodes.east.node.scheduler.look_around()
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


async def test_players_who_were_banned_or_renamed_during_a_lost_subscription_are_found(
    nodes: Nodes,
) -> None:
    anna, bert = await nodes.two()
    peer_events = nodes.west.node.listener
    await peer_events.subscribed()
    nodes.west.tap.is_deaf = True
    await nodes.west.store.players.set_banned(bert.player, True)
    cleo = await nodes.west.player("Cleo")
    await nodes.west.store.players.claim_name(cleo.player, "Chloe", "chloe")
    await peer_events.subscribed()
    assert bert.close_codes == [BANNED.code]
    assert cleo.session.name == "Chloe"
    assert (cleo.close_codes, anna.close_codes) == ([], [])
    assert counted(nodes.west.node.metrics, "resubscriptions_total") == 1


@asynccontextmanager
async def running(listener: Listener) -> AsyncIterator[None]:
    """Run the tasks of a node that apply events and catch up."""
    task = asyncio.create_task(listener.run())
    try:
        yield
    finally:
        await cancel_all([task])


async def no_events(listener: Listener) -> None:
    """Wait for ever, in place of a subscription that passes events to `listener`."""
    await asyncio.get_running_loop().create_future()


async def test_a_change_of_a_player_that_fails_stops_no_other(
    nodes: Nodes, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, bert = await nodes.two()
    tab = await nodes.west.player("Bert")
    players, load = nodes.west.store.players, nodes.west.store.players.load_player
    faults = [StoreUnavailable("away")]

    async def failing_once(player: str) -> PlayerRow | None:
        if faults:
            raise faults.pop()
        return await load(player)

    await players.set_banned(bert.player, True)
    monkeypatch.setattr(nodes.west.store.events, "listen", no_events)
    monkeypatch.setattr(players, "load_player", failing_once)
    for player in (bert.player, bert.player):
        nodes.west.node.listener.receive(PlayerChanged(player))
    async with running(nodes.west.node.listener), asyncio.timeout(10):
        while not (bert.close_codes and tab.close_codes):  # noqa: ASYNC110 - a closed connection sets no event
            await asyncio.sleep(0)
    assert bert.close_codes == tab.close_codes == [BANNED.code]


# Two connections of one player on two nodes: only the newer one holds the seat


@pytest.mark.parametrize("same_node", [True, False])
async def test_of_two_connections_that_resume_at_once_only_the_newer_one_holds_the_seat(
    nodes: Nodes, monkeypatch: pytest.MonkeyPatch, same_node: bool
) -> None:
    anna, bert = await nodes.two()
    code = await nodes.race(anna, bert)
    slow = await nodes.east.player("Anna")
    quick = await (nodes.east if same_node else nodes.west).player("Anna")
    boards = nodes.east.store.boards
    load = boards.load_board
    loads: list[str] = []

    async def load_board(table: str, race: int, player: str) -> StoredBoard | None:
        if not loads:
            # the older connection's resume is stored, and its node now receives what it missed
            loads.append(player)
            nodes.east.tap.is_deaf = False
            await quick.at_table(JoinTable, table=code)
            await nodes.east.tap.pass_marker(nodes.east.real.events)
        return await load(table, race, player)

    nodes.east.tap.is_deaf = True
    await bert.ask(LeaveTable, table=code)
    monkeypatch.setattr(boards, "load_board", load_board)
    assert await slow.refused(JoinTable, table=code) == "taken_over"
    assert loads == [bert.player]
    assert set(slow.close_codes) == {TAKEN_OVER.code}
    assert (quick.close_codes, anna.close_codes) == ([], [TAKEN_OVER.code])
    await quick.moves("draw")
    assert await slow.refused(MakeMove, race=f"{code}/1", after=1, move="draw") == "not_seated"
