"""The effects of a change of a table."""

import pytest

from kit.in_process_server import (
    InProcessServer,
    always,
    cash_out_unnoticed,
    counted_down,
    gathered,
    listed,
    open_in_process_server,
)
from kit.players import MemoryPlayer
from kit.table_changes import kicking, live_table, two_at
from kit.two_nodes import Nodes
from saratoga_protocol.commands import (
    ChangeSettings,
    JoinTable,
    LeaveTable,
    NextRace,
    Resume,
    WatchTable,
)
from saratoga_protocol.events import BoardEnded, Dealt, RaceOver, SeatLost, TableChanged
from saratoga_rules.records.standing import IDLE_MILLIS, State
from saratoga_server.domain.tables import (
    Change,
    TableState,
    close,
    disconnect,
)
from saratoga_server.domain.tables.countdown import COUNTDOWN_MILLIS, MINUTE
from saratoga_server.domain.tables.seating import KICKED
from saratoga_server.domain.tables.timers import LOOK_MILLIS
from saratoga_server.ports import Millis, StoredBoard
from saratoga_server.store.leaderboards import BoardKey

NEARLY_STUCK = "stock=- waste=7C reserve=- up=1,1,1,1 down=- columns=5C/5S/9C/9S base=1 passes=2"

STUCK_UNTIL_A_CARD_COMES_BACK = (
    "stock=- waste=7C reserve=- up=3,3,3,4 down=- columns=5C/5S/9C/9S base=1 passes=2"
)

BANKROLL = BoardKey(game="canfield", ranking="bankroll", period="all", bots=False)


async def two_racing(server: InProcessServer) -> tuple[MemoryPlayer, MemoryPlayer, str]:
    anna, bert = await server.player("Anna"), await server.player("Bert")
    return anna, bert, await server.race(anna, bert)


def closing(state: TableState, now: Millis) -> Change:
    return close(state, "Good night.", now=now, fresh_seed=bytes(32))


# Effects of a change by this node


async def test_the_start_of_a_race_deals_and_counts_it(server: InProcessServer) -> None:
    anna, bert, code = await two_at(server)
    await counted_down(anna, bert)
    server.time.at += COUNTDOWN_MILLIS
    await server.node.table_service.elapse(code, ())
    assert [len(player.received.all(Dealt)) for player in (anna, bert)] == [1, 1]
    assert server.node.metrics.races_begun == 1
    assert server.node.metrics.tables == {"running": 1}


async def test_a_kicked_player_loses_the_seat_and_gets_the_reason(
    server: InProcessServer,
) -> None:
    anna, bert, code = await two_at(server)
    await server.node.table_service.change(code, kicking(anna, bert))
    (lost,) = bert.received.all(SeatLost)
    assert (lost.table, lost.reason) == (code, KICKED)
    assert anna.received.all(SeatLost) == []
    assert bert.session.seat is None
    assert (await server.row(bert.player)).table is None
    assert not server.node.broadcaster.is_following(bert.player, code)


async def test_a_racer_who_leaves_ends_the_board(server: InProcessServer) -> None:
    anna, bert, code = await two_racing(server)
    await bert.moves("draw")
    await bert.ask(LeaveTable, table=code)
    states = [(await server.board(code, each.player)).state for each in (bert, anna)]
    assert states == ["left", "racing"]


async def test_a_closed_table_sends_everybody_away_and_is_not_listed(
    server: InProcessServer,
) -> None:
    anna, cleo = await server.player("Anna"), await server.player("Cleo")
    code = await gathered(anna, public=True)
    await cleo.at_table(WatchTable, table=code)
    await server.node.table_service.change(code, closing)
    for player in (anna, cleo):
        assert {lost.reason for lost in player.received.all(SeatLost)} == {"Good night."}
    assert server.node.broadcaster.audience(code) == frozenset()
    assert (await listed(cleo), (await server.row(anna.player)).table) == ([], None)


async def test_a_match_is_sent_when_it_has_changed_and_in_every_snapshot(
    server: InProcessServer,
) -> None:
    anna, bert, carl = [await server.player(name) for name in ("Anna", "Bert", "Carl")]
    code = await gathered(anna, bert, races=3)
    await server.deal(anna, bert)
    for player in (anna, bert):
        await player.cash_out()
    await server.settle()
    over = anna.received.all(TableChanged)[-1]
    assert (over.table.phase, over.same_match) == ("over", False)
    assert over.table.match is not None
    await anna.ask(NextRace, table=code)
    await bert.ready()
    for changed in anna.received.all(TableChanged)[-2:]:
        assert (changed.table.match, changed.same_match) == (None, True)
    assert (await carl.at_table(JoinTable, table=code)).table.match == over.table.match
    await anna.ask(ChangeSettings, table=code, races=1)
    ended = anna.received.all(TableChanged)[-1]
    assert (ended.table.match, ended.same_match) == (None, False)


async def test_effects_come_after_the_table_was_shown(server: InProcessServer) -> None:
    anna, bert, code = await two_at(server)
    since = len(bert.received.events)
    await server.node.table_service.change(code, kicking(anna, bert))
    assert [type(event) for event in bert.received.events[since:]] == [TableChanged, SeatLost]


# Changes by other nodes


async def test_a_start_on_another_node_is_dealt_here(nodes: Nodes) -> None:
    anna, bert = await nodes.two()
    code = await gathered(anna)
    await bert.at_table(JoinTable, table=code)
    await nodes.settle()
    await counted_down(anna, bert)
    await nodes.settle()
    nodes.east.time.at += COUNTDOWN_MILLIS
    await nodes.east.node.table_service.elapse(code, ())
    await nodes.west.node.table_service.refresh(code)
    (dealt,) = bert.received.all(Dealt)
    assert dealt.board == anna.received.all(Dealt)[0].board


async def test_a_table_closed_on_another_node_is_closed_here(nodes: Nodes) -> None:
    anna, bert = await nodes.two()
    code = await gathered(anna)
    await bert.at_table(JoinTable, table=code)
    await nodes.settle()
    await nodes.east.node.table_service.change(code, closing)
    await nodes.settle()
    assert {lost.reason for lost in bert.received.all(SeatLost)} == {"Good night."}
    assert bert.session.seat is None


# Time


async def test_time_disconnects_the_seats_of_dead_nodes(server: InProcessServer) -> None:
    anna, _, code = await two_at(server)
    await server.node.table_service.elapse(code, {"another"})
    assert [seat.connected for seat in anna.table.seats] == [True, True]
    await server.node.table_service.elapse(code, [server.node.name])
    assert [seat.connected for seat in anna.table.seats] == [False, False]


async def test_racers_who_are_out_of_time_idle_or_gone_are_found(server: InProcessServer) -> None:
    anna, bert, code = await two_racing(server)
    await server.pass_time(IDLE_MILLIS - 1)
    await anna.moves("draw")
    await server.pass_time(15_001)
    states = [(await server.board(code, each.player)).state for each in (anna, bert)]
    assert states == ["racing", "idle"]
    server.time.at += 10 * MINUTE
    await server.node.table_service.elapse(code, ())
    assert (await server.board(code, anna.player)).state == "out of time"
    await server.settle()
    assert len(anna.received.all(RaceOver)) == 1


async def test_boards_that_are_stuck_are_ended_in_the_background() -> None:
    async with open_in_process_server(always(NEARLY_STUCK)) as server:
        anna = await server.player("Anna")
        await server.race(anna)
        await server.pass_time(15_000)
        (ended,) = anna.received.all(BoardEnded)
        assert ended.board.state == "stuck"
        assert len(anna.received.all(RaceOver)) == 1


async def test_a_board_played_on_another_node_is_not_searched_here() -> None:
    async with open_in_process_server(always(NEARLY_STUCK)) as server:
        anna, bert, code = await two_racing(server)
        await server.restart(always(NEARLY_STUCK))
        newer = await server.player("Anna")
        await newer.at_table(Resume, table=code)
        server.time.at += LOOK_MILLIS
        await server.node.table_service.elapse(code, ())
        await server.settle()
        states = [(await server.board(code, each.player)).state for each in (anna, bert)]
        assert states == ["stuck", "racing"]


async def test_a_move_made_during_a_look_is_not_ended_for_the_position_before_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with open_in_process_server(always(STUCK_UNTIL_A_CARD_COMES_BACK)) as server:
        anna, bert = await server.player("Anna"), await server.player("Bert")
        code = await server.race(anna, bert, game="canfield-aisleriot")
        await server.restart(always(STUCK_UNTIL_A_CARD_COMES_BACK))
        anna = await server.player("Anna")
        await anna.at_table(Resume, table=code)
        load_board = server.store.boards.load_board

        async def slow(table: str, race: int, player: str) -> StoredBoard | None:
            if player == bert.player and anna.board.count == 0:
                await anna.moves("up.D>t1")
            return await load_board(table, race, player)

        monkeypatch.setattr(server.store.boards, "load_board", slow)
        server.time.at += LOOK_MILLIS
        await server.node.table_service.elapse(code, ())
        await server.settle()
        stored = await server.board(code, anna.player)
        assert (stored.state, len(stored.entries)) == ("racing", 1)


# Races that end


async def test_the_last_board_that_the_server_ends_ends_the_race(server: InProcessServer) -> None:
    anna, bert, code = await two_racing(server)
    (race,) = server.node.races.all()
    await server.node.table_service.end_board(race, anna.player, State.LEFT)
    await server.settle()
    assert await server.record(code) is None
    await server.node.table_service.end_board(race, bert.player, State.LEFT)
    await server.settle()
    assert await server.record(code) is not None
    for player in (anna, bert):
        assert len(player.received.all(RaceOver)) == 1
    assert server.node.metrics.races_over == 1


async def test_a_finished_race_is_settled_and_announced_once(server: InProcessServer) -> None:
    anna, bert, code = await two_racing(server)
    for player in (anna, bert):
        await player.moves("draw")
        await cash_out_unnoticed(server, player)
    table = live_table(server, code)
    await server.node.table_service.check_race(table)
    await server.node.table_service.finish(code)
    await server.settle()
    assert len(anna.received.all(RaceOver)) == 1
    row = await server.real.leaderboards.row(BANKROLL, anna.player)
    assert row is not None
    assert (row.races, server.node.metrics.races_over) == (1, 1)
    assert server.node.metrics.tables == {"over": 1}


async def test_a_racer_who_lost_the_connection_keeps_the_board(server: InProcessServer) -> None:
    anna, _, code = await two_racing(server)

    def gone(state: TableState, now: Millis) -> Change | None:
        return disconnect(state, anna.player, anna.session.epoch, now=now)

    await server.node.table_service.change(code, gone)
    assert (await server.board(code, anna.player)).state == "racing"
