"""What a change of a table leads to: effects carried out, and repeated when they failed."""

from collections.abc import AsyncIterator

import pytest
from msgspec.structs import replace

from kit.guests import GuestInMemory
from kit.rooms import (
    HouseInMemory,
    always,
    cash_out_unnoticed,
    counted_down,
    gathered,
    house_in_memory,
    listed,
)
from kit.two_nodes import Nodes, beside
from saratoga_protocol.commands import JoinTable, LeaveTable, Resume, WatchTable
from saratoga_protocol.events import BoardEnded, Dealt, Done, RaceOver, SeatLost, TableChanged
from saratoga_rules.records.standing import State
from saratoga_server.domain.board import IDLE_MILLIS
from saratoga_server.domain.tables import (
    Change,
    CommandRejected,
    TableState,
    close,
    disconnect,
    idle_leave,
    kick,
)
from saratoga_server.domain.tables.countdown import COUNTDOWN_MILLIS, MINUTE
from saratoga_server.domain.tables.seating import KICKED
from saratoga_server.domain.tables.timers import LOOK_MILLIS
from saratoga_server.live.live_table import LiveTable
from saratoga_server.live.table_cache import Transition
from saratoga_server.ports import Millis, StoredBoard, StoreUnavailable

NEARLY_STUCK = "stock=- waste=7C reserve=- up=1,1,1,1 down=- columns=5C/5S/9C/9S base=1 passes=2"

STUCK_UNTIL_A_CARD_COMES_BACK = (
    "stock=- waste=7C reserve=- up=3,3,3,4 down=- columns=5C/5S/9C/9S base=1 passes=2"
)

FAULTS = [StoreUnavailable("away"), CommandRejected("no_such_race"), ValueError("broken")]


@pytest.fixture
async def nodes(rooms: HouseInMemory) -> AsyncIterator[Nodes]:
    async with beside(rooms) as opened:
        yield opened


async def two_at(rooms: HouseInMemory) -> tuple[GuestInMemory, GuestInMemory, str]:
    anna, bert = await rooms.guest("Anna"), await rooms.guest("Bert")
    return anna, bert, await gathered(anna, bert)


async def two_racing(rooms: HouseInMemory) -> tuple[GuestInMemory, GuestInMemory, str]:
    anna, bert = await rooms.guest("Anna"), await rooms.guest("Bert")
    return anna, bert, await rooms.race(anna, bert)


def live_table(rooms: HouseInMemory, code: str) -> LiveTable:
    table = rooms.house.table_cache.known(code)
    assert table is not None
    return table


def kicking(host: GuestInMemory, target: GuestInMemory) -> Transition:
    def transition(state: TableState, now: Millis) -> Change:
        return kick(state, host.player, 100, target=target.player, now=now, fresh_seed=bytes(32))

    return transition


def closing(state: TableState, now: Millis) -> Change:
    return close(state, "Good night.", now=now)


# Effects of a change of this node's


async def test_the_start_of_a_race_deals_and_counts_it(rooms: HouseInMemory) -> None:
    anna, bert, code = await two_at(rooms)
    await counted_down(anna, bert)
    rooms.time.at += COUNTDOWN_MILLIS
    await rooms.house.table_service.elapse(code, ())
    assert [len(guest.heard.all(Dealt)) for guest in (anna, bert)] == [1, 1]
    assert rooms.house.metrics.races_begun == 1
    assert rooms.house.metrics.tables == {"running": 1}


async def test_a_player_who_is_kicked_loses_the_seat_and_is_told_why(rooms: HouseInMemory) -> None:
    anna, bert, code = await two_at(rooms)
    await rooms.house.table_service.change(code, kicking(anna, bert))
    (lost,) = bert.heard.all(SeatLost)
    assert (lost.table, lost.reason) == (code, KICKED)
    assert anna.heard.all(SeatLost) == []
    assert bert.session.seat is None
    assert rooms.fake.players[bert.player].table is None
    assert not rooms.house.broadcaster.is_following(bert.player, code)


async def test_a_racer_who_leaves_ends_the_board(rooms: HouseInMemory) -> None:
    anna, bert, code = await two_racing(rooms)
    await bert.moves("draw")

    def idle(state: TableState, now: Millis) -> Change | None:
        return idle_leave(state, bert.player, now=now)

    await rooms.house.table_service.change(code, idle)
    stored = rooms.fake.races[code, 1].boards
    assert (stored[bert.player].state, stored[anna.player].state) == ("left", "racing")
    (lost,) = bert.heard.all(SeatLost)
    assert "three minutes" in lost.reason


async def test_a_closed_table_sends_everybody_away_and_is_not_listed(rooms: HouseInMemory) -> None:
    anna, cleo = await rooms.guest("Anna"), await rooms.guest("Cleo")
    code = await gathered(anna, public=True)
    await cleo.at_table(WatchTable, table=code)
    await rooms.house.table_service.change(code, closing)
    for guest in (anna, cleo):
        assert {lost.reason for lost in guest.heard.all(SeatLost)} == {"Good night."}
    assert rooms.house.broadcaster.audience(code) == frozenset()
    assert (await listed(cleo), rooms.fake.players[anna.player].table) == ([], None)


async def test_effects_come_after_the_table_was_shown(rooms: HouseInMemory) -> None:
    anna, bert, code = await two_at(rooms)
    since = len(bert.heard.events)
    await rooms.house.table_service.change(code, kicking(anna, bert))
    assert [type(event) for event in bert.heard.events[since:]] == [TableChanged, SeatLost]


async def test_a_refused_change_has_no_effect(rooms: HouseInMemory) -> None:
    anna, bert, code = await two_at(rooms)
    with pytest.raises(CommandRejected, match="host_only"):
        await rooms.house.table_service.change(code, kicking(bert, anna))
    assert anna.heard.all(SeatLost) == []
    assert live_table(rooms, code).followed_up is None


# Effects that fail


@pytest.mark.parametrize("fault", FAULTS)
async def test_effects_that_failed_are_carried_out_at_the_next_look(
    rooms: HouseInMemory, monkeypatch: pytest.MonkeyPatch, fault: Exception
) -> None:
    anna, bert, code = await two_at(rooms)

    async def fails(player: str, command_id: int) -> None:
        raise fault

    with monkeypatch.context() as broken:
        broken.setattr(rooms.store.players, "raise_last_id", fails)
        table = await rooms.house.table_service.change(code, kicking(anna, bert))
        assert table.state.seat(bert.player) is None, "the change stands"
        assert rooms.fake.players[bert.player].table == code
    await rooms.pass_time(1000)
    assert rooms.fake.players[bert.player].table is None
    assert table.followed_up is None
    assert len(bert.heard.all(SeatLost)) == 1


@pytest.mark.parametrize("fault", FAULTS)
async def test_a_change_is_made_though_catching_up_on_others_fails(
    nodes: Nodes, monkeypatch: pytest.MonkeyPatch, fault: Exception
) -> None:
    anna, bert = await nodes.two()
    code = await gathered(anna)
    await bert.at_table(JoinTable, table=code)
    await nodes.settle()
    nodes.east.fake.ears.clear()
    await nodes.east.house.table_service.change(code, kicking(anna, bert))
    west = nodes.west.house.table_service

    async def fails(player: str, command_id: int) -> None:
        raise fault

    def noting(state: TableState, now: Millis) -> Change:
        return Change(replace(state, notice="Noted."))

    with monkeypatch.context() as broken:
        broken.setattr(nodes.west.store.players, "raise_last_id", fails)
        table = await west.change(code, noting)
        is_behind = table.followed_up is not None
    assert (table.state.notice, is_behind) == ("Noted.", True)
    assert len(bert.heard.all(SeatLost)) == 1
    await west.look_over()
    assert table.followed_up is None


# A reply that was lost


async def test_a_change_whose_reply_was_lost_has_its_effects_when_it_is_found(
    rooms: HouseInMemory,
) -> None:
    anna, bert, code = await two_at(rooms)
    rooms.fake.ears.clear()  # or an event would tell at once
    rooms.fake.lose_answers = 1
    with pytest.raises(StoreUnavailable):
        await rooms.house.table_service.change(code, kicking(anna, bert))
    assert bert.heard.all(SeatLost) == []
    for _ in range(2):
        await rooms.house.table_service.look_over()
    (lost,) = bert.heard.all(SeatLost)
    assert lost.reason == KICKED
    assert not live_table(rooms, code).in_doubt


async def test_a_change_that_did_not_happen_has_no_effects(rooms: HouseInMemory) -> None:
    anna, bert, code = await two_at(rooms)
    rooms.fake.unavailable = True
    with pytest.raises(StoreUnavailable):
        await rooms.house.table_service.change(code, kicking(anna, bert))
    rooms.fake.unavailable = False
    await rooms.house.table_service.look_over()
    assert bert.heard.all(SeatLost) == []
    assert not live_table(rooms, code).in_doubt
    assert isinstance(await bert.ask(LeaveTable, table=code), Done)


# Changes of other nodes


async def test_a_start_on_another_node_is_dealt_here(nodes: Nodes) -> None:
    anna, bert = await nodes.two()
    code = await gathered(anna)
    await bert.at_table(JoinTable, table=code)
    await nodes.settle()
    await counted_down(anna, bert)
    await nodes.settle()
    nodes.east.time.at += COUNTDOWN_MILLIS
    await nodes.east.house.table_service.elapse(code, ())
    await nodes.west.house.table_service.refresh(code)
    (dealt,) = bert.heard.all(Dealt)
    assert dealt.board == anna.heard.all(Dealt)[0].board


async def test_a_table_closed_on_another_node_is_closed_here(nodes: Nodes) -> None:
    anna, bert = await nodes.two()
    code = await gathered(anna)
    await bert.at_table(JoinTable, table=code)
    await nodes.settle()
    await nodes.east.house.table_service.change(code, closing)
    await nodes.settle()
    assert {lost.reason for lost in bert.heard.all(SeatLost)} == {"Good night."}
    assert bert.session.seat is None


# Time


async def test_time_disconnects_the_seats_of_dead_nodes(rooms: HouseInMemory) -> None:
    anna, _, code = await two_at(rooms)
    await rooms.house.table_service.elapse(code, {"another"})
    assert [seat.connected for seat in anna.table.seats] == [True, True]
    await rooms.house.table_service.elapse(code, [rooms.house.name])
    assert [seat.connected for seat in anna.table.seats] == [False, False]


async def test_racers_who_are_out_of_time_idle_or_gone_are_found(rooms: HouseInMemory) -> None:
    anna, bert, code = await two_racing(rooms)
    rooms.time.at += IDLE_MILLIS - 1
    await anna.moves("draw")
    rooms.time.at += 15_001
    await rooms.house.table_service.elapse(code, ())
    stored = rooms.fake.races[code, 1].boards
    assert {player: board.state for player, board in stored.items()} == {
        anna.player: "racing",
        bert.player: "left",
    }
    rooms.time.at += 10 * MINUTE
    await rooms.house.table_service.elapse(code, ())
    assert stored[anna.player].state == "out of time"
    await rooms.settle()
    assert len(anna.heard.all(RaceOver)) == 1


async def test_boards_that_are_stuck_are_ended_in_the_background() -> None:
    async with house_in_memory(always(NEARLY_STUCK)) as rooms:
        anna = await rooms.guest("Anna")
        await rooms.race(anna)
        await rooms.pass_time(15_000)
        (ended,) = anna.heard.all(BoardEnded)
        assert ended.board.state == "stuck"
        assert len(anna.heard.all(RaceOver)) == 1


async def test_a_board_played_on_another_node_is_not_searched_here() -> None:
    async with house_in_memory(always(NEARLY_STUCK)) as rooms:
        anna, bert, code = await two_racing(rooms)
        await rooms.restart(always(NEARLY_STUCK))
        newer = await rooms.guest("Anna")
        await newer.at_table(Resume, table=code)
        rooms.time.at += LOOK_MILLIS
        await rooms.house.table_service.elapse(code, ())
        await rooms.settle()
        stored = rooms.fake.races[code, 1].boards
        assert (stored[anna.player].state, stored[bert.player].state) == ("stuck", "racing")


async def test_a_move_made_during_a_look_is_not_ended_for_the_position_before_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with house_in_memory(always(STUCK_UNTIL_A_CARD_COMES_BACK)) as rooms:
        anna, bert = await rooms.guest("Anna"), await rooms.guest("Bert")
        code = await rooms.race(anna, bert, game="canfield-aisleriot")
        await rooms.restart(always(STUCK_UNTIL_A_CARD_COMES_BACK))
        anna = await rooms.guest("Anna")
        await anna.at_table(Resume, table=code)
        load_board = rooms.store.boards.load_board

        async def slow(table: str, race: int, player: str) -> StoredBoard | None:
            if player == bert.player and anna.board.count == 0:
                await anna.moves("up.D>t1")
            return await load_board(table, race, player)

        monkeypatch.setattr(rooms.store.boards, "load_board", slow)
        rooms.time.at += LOOK_MILLIS
        await rooms.house.table_service.elapse(code, ())
        await rooms.settle()
        stored = rooms.fake.races[code, 1].boards[anna.player]
        assert (stored.state, len(stored.log)) == ("racing", 1)


# Races that end


async def test_the_last_board_that_the_server_ends_ends_the_race(rooms: HouseInMemory) -> None:
    anna, bert, code = await two_racing(rooms)
    (race,) = rooms.house.races.all()
    await rooms.house.table_service.end_board(race, anna.player, State.LEFT)
    await rooms.settle()
    assert rooms.fake.records == {}
    await rooms.house.table_service.end_board(race, bert.player, State.LEFT)
    await rooms.settle()
    assert list(rooms.fake.records) == [(code, 1)]
    for guest in (anna, bert):
        assert len(guest.heard.all(RaceOver)) == 1
    assert rooms.house.metrics.races_over == 1


async def test_a_finished_race_is_settled_and_announced_once(rooms: HouseInMemory) -> None:
    anna, bert, code = await two_racing(rooms)
    for guest in (anna, bert):
        await guest.moves("draw")
        await cash_out_unnoticed(rooms, guest)
    table = live_table(rooms, code)
    await rooms.house.table_service.check_race(table)
    await rooms.house.table_service.finish(code)
    await rooms.settle()
    assert len(anna.heard.all(RaceOver)) == 1
    assert (len(rooms.fake.settled), rooms.house.metrics.races_over) == (1, 1)
    assert rooms.house.metrics.tables == {"over": 1}


async def test_a_racer_who_lost_the_connection_keeps_the_board(rooms: HouseInMemory) -> None:
    anna, _, code = await two_racing(rooms)

    def gone(state: TableState, now: Millis) -> Change | None:
        return disconnect(state, anna.player, anna.session.epoch, now=now)

    await rooms.house.table_service.change(code, gone)
    assert rooms.fake.races[code, 1].boards[anna.player].state == "racing"
