"""Seats: opening a table, joining, coming back, leaving, and lost connections."""

import pytest

from kit.in_process_server import InProcessServer, counted_down, gathered
from kit.players import MemoryPlayer
from saratoga_protocol.commands import (
    ChangeSettings,
    ClaimName,
    CreateTable,
    Hello,
    JoinTable,
    Kick,
    LeaveTable,
    MakeMove,
    NextRace,
    NotReady,
    Resume,
    Start,
    WatchTable,
)
from saratoga_protocol.events import (
    Dealt,
    Done,
    Refused,
    SeatLost,
    Snapshot,
    Standings,
    TableChanged,
)
from saratoga_protocol.refusals import TAKEN_OVER
from saratoga_server.domain.tables.countdown import COUNTDOWN_MILLIS
from saratoga_server.domain.tables.timers import ABSENCE_MILLIS
from saratoga_server.ports import StoreUnavailable, TableWrite

AWAY = "odd-emu-11"
"""A code that no table has."""


async def players(server: InProcessServer, *names: str) -> list[MemoryPlayer]:
    return [await server.player(name) for name in names]


def seated(player: MemoryPlayer) -> list[str]:
    return [seat.name for seat in player.table.seats]


async def test_a_player_sits_at_one_table_at_a_time(server: InProcessServer) -> None:
    anna, bert = await players(server, "Anna", "Bert")
    await gathered(anna)
    code = await gathered(bert)
    assert await anna.refused(CreateTable, game="canfield") == "elsewhere"
    assert await anna.refused(JoinTable, table=code) == "elsewhere"
    await anna.ask(LeaveTable, table=anna.table.code)
    await anna.at_table(JoinTable, table=code)
    assert seated(bert) == ["Bert", "Anna"]


async def test_a_player_without_a_name_cannot_sit_down(server: InProcessServer) -> None:
    (anna,) = await players(server, "Anna")
    code = await gathered(anna)
    nobody = server.connect("nobody")
    await nobody.ask(Hello, token=nobody.token)
    assert await nobody.refused(CreateTable, game="canfield") == "name_needed"
    assert await nobody.refused(JoinTable, table=code) == "name_needed"
    await nobody.at_table(WatchTable, table=code)
    await nobody.ask(ClaimName, name="Dora")
    await nobody.at_table(JoinTable, table=code)
    assert seated(anna) == ["Anna", "Dora"]


async def test_a_full_table_refuses_more_players(server: InProcessServer) -> None:
    anna, bert, cleo = await players(server, "Anna", "Bert", "Cleo")
    snapshot = await anna.at_table(CreateTable, game="canfield", seats=2)
    await bert.at_table(JoinTable, table=snapshot.table.code)
    assert await cleo.refused(JoinTable, table=snapshot.table.code) == "table_full"
    await bert.ask(LeaveTable, table=snapshot.table.code)
    await cleo.at_table(JoinTable, table=snapshot.table.code)


@pytest.mark.parametrize("kind", [JoinTable, Resume, WatchTable, LeaveTable, Start, NotReady])
async def test_an_unknown_table_is_refused_as_such(server: InProcessServer, kind: type) -> None:
    (anna,) = await players(server, "Anna")
    assert await anna.refused(kind, table=AWAY) == "no_such_table"


@pytest.mark.parametrize("kind", [Resume, Start, NextRace, NotReady])
async def test_seat_commands_need_a_seat(server: InProcessServer, kind: type) -> None:
    anna, bert = await players(server, "Anna", "Bert")
    code = await gathered(anna)
    assert await bert.refused(kind, table=code) == "not_seated"
    await bert.at_table(WatchTable, table=code)
    assert await bert.refused(kind, table=code) == "not_seated"


# Leaving and being kicked


async def test_a_player_who_leaves_is_sent_nothing_more_and_may_join_again(
    server: InProcessServer,
) -> None:
    anna, bert = await players(server, "Anna", "Bert")
    code = await gathered(anna, bert)
    command = LeaveTable(id=50, table=code)
    assert isinstance(await bert.send(command), Done)
    assert isinstance(await bert.send(command), Done), "said again"
    assert seated(anna) == ["Anna"]
    told = len(bert.received.events)
    await anna.ready()
    assert bert.received.events[told:] == []
    await bert.at_table(JoinTable, table=code)
    assert seated(anna) == ["Anna", "Bert"]


async def test_a_watcher_who_leaves_the_seat_goes_on_watching(server: InProcessServer) -> None:
    anna, bert = await players(server, "Anna", "Bert")
    code = await gathered(anna)
    await bert.at_table(WatchTable, table=code)
    await bert.at_table(JoinTable, table=code)
    await bert.ask(LeaveTable, table=code)
    told = len(bert.received.events)
    await anna.ready()
    assert len(bert.received.all(TableChanged, told)) == 1


async def test_a_kicked_player_gets_the_reason_and_cannot_join_again(
    server: InProcessServer,
) -> None:
    anna, bert = await players(server, "Anna", "Bert")
    code = await gathered(anna, bert)
    assert await bert.refused(Kick, table=code, player=anna.player) == "host_only"
    assert await anna.refused(Kick, table=code, player="b" * 16) == "no_such_player"
    assert await anna.refused(Kick, table=code, player=anna.player) == "no_such_player"
    assert isinstance(await anna.ask(Kick, table=code, player=bert.player), Done)
    (lost,) = bert.received.all(SeatLost)
    assert lost.table == code
    assert await bert.refused(JoinTable, table=code) == "kicked"
    assert await bert.refused(Resume, table=code) == "not_seated"
    await gathered(bert)  # the player may join another table


async def test_when_the_host_leaves_the_next_seat_is_host(server: InProcessServer) -> None:
    anna, bert, cleo = await players(server, "Anna", "Bert", "Cleo")
    code = await gathered(anna, bert, cleo)
    await anna.ask(LeaveTable, table=code)
    assert cleo.table.host == bert.player
    assert "Bert is host now" in cleo.table.notice
    assert await cleo.refused(ChangeSettings, table=code, cap=3) == "host_only"
    assert isinstance(await bert.ask(ChangeSettings, table=code, cap=3), Done)


async def test_a_seat_is_kept_for_a_minute_after_the_connection_is_lost(
    server: InProcessServer,
) -> None:
    anna, bert = await players(server, "Anna", "Bert")
    await gathered(anna, bert)
    await anna.disconnect()
    assert [seat.connected for seat in bert.table.seats] == [False, True]
    await server.pass_time(ABSENCE_MILLIS - 1)
    assert seated(bert) == ["Anna", "Bert"]
    await server.pass_time(1)
    assert seated(bert) == ["Bert"]
    assert bert.table.host == bert.player


async def test_a_racer_who_leaves_keeps_what_is_banked(server: InProcessServer) -> None:
    anna, bert = await players(server, "Anna", "Bert")
    code = await server.race(anna, bert)
    await bert.moves("draw")
    await bert.ask(LeaveTable, table=code)
    await server.pass_time(250)
    rows = {row.player: row for row in anna.received.all(Standings)[-1].standings}
    assert (rows[bert.player].state, rows[bert.player].banked) == ("left", 1)
    assert rows[anna.player].state == "racing"
    assert await bert.refused(MakeMove, race=f"{code}/1", after=1, move="draw") == "not_seated"
    await anna.cash_out()
    await server.settle()
    assert anna.table.phase == "over"


async def test_a_racer_who_is_disconnected_too_long_has_left(server: InProcessServer) -> None:
    anna, bert = await players(server, "Anna", "Bert")
    await server.race(anna, bert)
    await bert.disconnect()
    await server.pass_time(ABSENCE_MILLIS)
    rows = {row.player: row.state for row in anna.received.all(Standings)[-1].standings}
    assert rows == {anna.player: "racing", bert.player: "left"}


async def test_a_racer_who_leaves_during_the_countdown_voids_it(server: InProcessServer) -> None:
    anna, bert = await players(server, "Anna", "Bert")
    code = await gathered(anna, bert)
    await counted_down(anna, bert)
    commitment = anna.table.commitment
    await bert.ask(LeaveTable, table=code)
    assert (anna.table.phase, anna.table.commitment != commitment) == ("gathering", True)
    await server.pass_time(COUNTDOWN_MILLIS)
    assert anna.received.all(Dealt) == []


# Taking over


async def test_a_connection_that_ended_cannot_take_the_seat_from_a_newer_one(
    server: InProcessServer,
) -> None:
    anna, bert = await server.player("Anna"), await server.player("Bert")
    code = await gathered(anna, bert)
    lost, back = await server.player("Anna"), await server.player("Anna")
    await back.at_table(Resume, table=code)
    lost.connection.is_open = False  # its resume command has waited for the store all the time
    assert await lost.refused(Resume, table=code) == "taken_over"
    assert back.close_codes == []
    assert [seat.connected for seat in back.table.seats] == [True, True]


async def test_a_newer_connection_takes_the_seat_and_the_older_is_closed(
    server: InProcessServer,
) -> None:
    anna, bert = await players(server, "Anna", "Bert")
    code = await server.race(anna, bert)
    await anna.moves("draw")
    newer = await server.player("Anna")
    snapshot = await newer.at_table(Resume, table=code)
    assert snapshot.board == anna.board
    assert anna.close_codes == [TAKEN_OVER.code]
    assert await anna.refused(MakeMove, race=f"{code}/1", after=1, move="draw") == "not_seated"
    await newer.moves("draw")
    await anna.disconnect()
    assert [seat.connected for seat in bert.table.seats] == [True, True]
    assert (newer.close_codes, bert.close_codes) == ([], [])


async def test_joining_the_own_table_again_closes_no_connection(server: InProcessServer) -> None:
    (anna,) = await players(server, "Anna")
    code = await server.race(anna)
    for kind in (JoinTable, Resume, JoinTable):
        await anna.at_table(kind, table=code)
    assert anna.close_codes == []
    await anna.moves("draw")


async def test_a_resumed_seat_is_sent_the_board_the_time_and_the_next_id(
    server: InProcessServer,
) -> None:
    anna, bert = await players(server, "Anna", "Bert")
    code = await server.race(anna, bert)
    await anna.moves("draw", "draw")
    await anna.disconnect()
    server.time.at += 5000
    back = await server.player("Anna")
    snapshot = await back.at_table(Resume, table=code)
    assert snapshot.now == server.time.at
    assert snapshot.board == anna.board
    assert snapshot.next_id == anna.last_id + 1
    assert {row.player for row in snapshot.standings} == {anna.player, bert.player}


async def test_a_snapshot_has_a_move_whose_reply_was_lost(
    server: InProcessServer,
) -> None:
    (anna,) = await players(server, "Anna")
    code = await server.race(anna)
    server.faults.lost_replies = 1
    await anna.move("draw")
    back = await server.player("Anna")
    snapshot = await back.at_table(Resume, table=code)
    assert snapshot.board is not None
    assert (snapshot.board.count, snapshot.next_id) == (1, anna.last_id + 1)


@pytest.mark.parametrize("kind", [JoinTable, Resume])
async def test_a_connection_is_not_taken_over_by_its_own_claim_whose_reply_was_lost(
    server: InProcessServer, monkeypatch: pytest.MonkeyPatch, kind: type
) -> None:
    anna, bert = await players(server, "Anna", "Bert")
    code = await gathered(anna, bert)
    save = server.store.tables.save_table

    async def unanswered(write: TableWrite) -> bool:
        await save(write)
        raise StoreUnavailable("the store does not answer")

    with monkeypatch.context() as patch:
        patch.setattr(server.store.tables, "save_table", unanswered)
        assert await anna.refused(kind, table=code) == "store_unavailable"
    for _ in range(2):
        await server.node.scheduler.sweep()
    assert isinstance(await anna.ready(), Done)
    assert isinstance(await anna.ask(kind, table=code), Snapshot)
    await server.node.scheduler.sweep()
    assert anna.close_codes == []
    await anna.disconnect()
    assert [seat.connected for seat in bert.table.seats] == [False, True]


async def test_a_command_after_a_lost_reply_is_not_taken_for_an_older_connections(
    server: InProcessServer,
) -> None:
    anna, bert = await players(server, "Anna", "Bert")
    code = await gathered(anna, bert)
    server.faults.lost_replies = 1
    assert await anna.refused(Resume, table=code) == "store_unavailable"
    assert isinstance(await anna.ready(), Done)
    assert anna.close_codes == []


async def test_a_move_fenced_by_the_own_resume_whose_reply_was_lost_may_be_repeated(
    server: InProcessServer,
) -> None:
    anna, bert = await players(server, "Anna", "Bert")
    code = await server.race(anna, bert)
    server.faults.lost_replies = 1
    assert await anna.refused(Resume, table=code) == "store_unavailable"
    answer = await anna.move("draw")
    assert isinstance(answer, Refused)
    assert (answer.code, answer.retry) == ("store_unavailable", True)
    await anna.moves("draw")
    assert anna.close_codes == []


async def test_a_connection_whose_reply_was_lost_gives_way_to_a_newer_one(
    server: InProcessServer,
) -> None:
    (anna,) = await players(server, "Anna")
    code = await server.race(anna)
    newer = await server.player("Anna")
    server.faults.lost_replies = 1
    assert await anna.refused(Resume, table=code) == "store_unavailable"
    await newer.at_table(Resume, table=code)
    assert anna.close_codes == [TAKEN_OVER.code]
    assert newer.close_codes == []
