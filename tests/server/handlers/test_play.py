"""Moves and cash-outs: judged, stored before they are answered, and answered again when repeated."""

import pytest

from kit.in_process_server import (
    InProcessServer,
    counted_down,
    gathered,
)
from kit.players import MemoryPlayer
from saratoga_protocol.commands import CashOut, JoinTable, LeaveTable, MakeMove, Resume, WatchTable
from saratoga_protocol.events import Dealt, Done, MoveMade, RaceOver, Refused, Snapshot, Standings
from saratoga_protocol.views import wire_view
from saratoga_rules.dealing.deal import deal_for_key
from saratoga_rules.games import GAMES
from saratoga_rules.judge import legal_moves
from saratoga_rules.views import redact
from saratoga_server.domain.tables.countdown import MINUTE


async def two_racing(server: InProcessServer) -> tuple[MemoryPlayer, MemoryPlayer]:
    anna, bert = await server.player("Anna"), await server.player("Bert")
    await server.race(anna, bert)
    return anna, bert


def refused(answer: object) -> tuple[str, int | None]:
    """Return a refusal's code, and the number of moves on the board that came with it."""
    assert isinstance(answer, Refused), answer
    return answer.code, None if answer.board is None else answer.board.count


# The deal


async def test_every_racer_is_sent_the_same_deal_at_the_same_moment(
    server: InProcessServer,
) -> None:
    anna, bert = await two_racing(server)
    (to_anna,), (to_bert,) = anna.received.all(Dealt), bert.received.all(Dealt)
    assert to_anna == to_bert
    state = server.state(anna.table.code)
    position = deal_for_key(GAMES["canfield"], bytes.fromhex(state.deal_key))
    assert to_anna.board.view == wire_view(redact(position))
    assert (to_anna.start_at, to_anna.deadline) == (state.start_at, state.start_at + 10 * MINUTE)
    assert (to_anna.board.banked, to_anna.board.net, to_anna.board.count) == (1, -45, 0)


async def test_no_deal_is_sent_before_the_start(server: InProcessServer) -> None:
    anna, bert = await server.player("Anna"), await server.player("Bert")
    await gathered(anna, bert)
    await counted_down(anna, bert)
    await server.pass_time_until(anna.table.start_at - 1)
    assert anna.received.all(Dealt) == bert.received.all(Dealt) == []
    await server.pass_time(1)
    assert len(anna.received.all(Dealt)) == len(bert.received.all(Dealt)) == 1


async def test_legal_moves_are_sent_only_to_players_who_asked_for_them(
    server: InProcessServer,
) -> None:
    anna, bert = await server.player("Anna", legal=True), await server.player("Bert")
    await server.race(anna, bert)
    position = deal_for_key(
        GAMES["canfield"], bytes.fromhex(server.state(anna.table.code).deal_key)
    )
    assert anna.board.legal == [str(move) for move in legal_moves(GAMES["canfield"], position)]
    assert bert.board.legal is None


async def test_a_board_that_has_ended_has_no_legal_moves(server: InProcessServer) -> None:
    anna, bert = await server.player("Anna", legal=True), await server.player("Bert")
    await server.race(anna, bert)
    assert (await anna.cash_out()).board.legal == []


# Moves


@pytest.mark.parametrize("phase", ["gathering", "countdown"])
async def test_no_player_can_move_before_the_start(server: InProcessServer, phase: str) -> None:
    anna, bert = await server.player("Anna"), await server.player("Bert")
    code = await gathered(anna, bert)
    if phase == "countdown":
        await counted_down(anna, bert)
    assert await anna.refused(MakeMove, race=f"{code}/1", after=0, move="draw") == "wrong_phase"
    assert await anna.refused(CashOut, race=f"{code}/1") == "wrong_phase"
    assert anna.table.phase == phase


async def test_the_answer_to_a_move_has_the_whole_board(server: InProcessServer) -> None:
    anna, _ = await two_racing(server)
    stock = anna.board.view.stock
    server.time.at += 1234
    answer = await anna.move("draw")
    assert isinstance(answer, MoveMade)
    assert (answer.at, answer.board.count, answer.repeat) == (1234, 1, False)
    assert answer.board.view.stock == stock - 3
    assert len(answer.board.view.waste) == 6


async def test_an_illegal_move_is_refused_with_a_reason_and_the_board(
    server: InProcessServer,
) -> None:
    anna, _ = await two_racing(server)
    answer = await anna.move("redeal")
    assert refused(answer) == ("illegal_move", 0)
    assert isinstance(answer, Refused)
    assert "must be drawn to its end" in answer.message
    assert (await server.board(anna.table.code, anna.player)).entries == ()
    await anna.moves("draw")


@pytest.mark.parametrize("text", ["sideways", "t1>", "T1>t2", "draw ", "t1>t2:1", "é", "t99>t2"])
async def test_text_that_is_no_move_is_refused(server: InProcessServer, text: str) -> None:
    anna, _ = await two_racing(server)
    code, count = refused(await anna.move(text))
    assert (code in ("bad_move", "illegal_move"), count) == (True, 0)
    assert (await server.board(anna.table.code, anna.player)).entries == ()


@pytest.mark.parametrize("after", [1, 3, 2**53 - 1])
async def test_a_move_meant_for_another_position_is_stale(
    server: InProcessServer, after: int
) -> None:
    anna, _ = await two_racing(server)
    await anna.moves("draw", "draw")
    assert refused(await anna.move("draw", after=after)) == ("stale_move", 2)
    assert anna.board.count == 2


async def test_a_repeated_move_is_answered_but_not_made_again(server: InProcessServer) -> None:
    anna, _ = await two_racing(server)
    command = MakeMove(id=50, race=anna.board.race, after=0, move="draw")
    first = await anna.send(command)
    server.time.at += 77
    again = await anna.send(command)
    assert isinstance(first, MoveMade)
    assert isinstance(again, MoveMade)
    assert (first.repeat, again.repeat) == (False, True)
    assert (first.at, first.board) == (again.at, again.board)
    # after later moves the repeated answer has the present board
    anna.last_id = 50
    await anna.moves("draw")
    late = await anna.send(command)
    assert isinstance(late, MoveMade)
    assert (late.repeat, late.board.count, late.at) == (True, 2, first.at)


async def test_a_repeated_move_is_not_made_again_after_a_restart(
    server: InProcessServer,
) -> None:
    anna, _ = await two_racing(server)
    await anna.moves("draw")
    command = MakeMove(id=60, race=anna.board.race, after=1, move="draw")
    first = await anna.send(command)
    await server.restart()
    back = await server.player("Anna")
    snapshot = await back.at_table(Resume, table=anna.table.code)
    assert snapshot.board is not None
    assert (snapshot.board.count, snapshot.next_id) == (2, 61)
    again = await back.send(command)
    assert isinstance(first, MoveMade)
    assert isinstance(again, MoveMade)
    assert (again.repeat, again.at, again.board) == (True, first.at, first.board)


async def test_an_id_below_the_last_one_that_was_never_used_is_stale(
    server: InProcessServer,
) -> None:
    anna, _ = await two_racing(server)
    await anna.send(MakeMove(id=50, race=anna.board.race, after=0, move="draw"))
    answer = await anna.send(MakeMove(id=49, race=anna.board.race, after=1, move="draw"))
    assert refused(answer)[0] == "stale_id"


async def test_the_id_of_a_refused_move_is_free_again(server: InProcessServer) -> None:
    anna, _ = await two_racing(server)
    race = anna.board.race
    illegal = await anna.send(MakeMove(id=50, race=race, after=0, move="redeal"))
    assert refused(illegal)[0] == "illegal_move"
    made = await anna.send(MakeMove(id=50, race=race, after=0, move="draw"))
    assert isinstance(made, MoveMade)
    assert (made.board.count, made.repeat) == (1, False)


async def test_neither_returning_to_the_seat_nor_watching_uses_up_an_id(
    server: InProcessServer,
) -> None:
    anna, _ = await two_racing(server)
    code = anna.table.code
    for command in (
        Resume(id=70, table=code),
        JoinTable(id=70, table=code),
        WatchTable(id=70, table=code),
    ):
        assert isinstance(await anna.send(command), Snapshot)
    made = await anna.send(
        MakeMove(id=anna.last_id + 1, race=anna.board.race, after=0, move="draw")
    )
    assert isinstance(made, MoveMade)
    done = await anna.send(LeaveTable(id=anna.last_id + 2, table=code))
    assert isinstance(done, Done)


async def test_several_moves_may_be_sent_in_a_row(server: InProcessServer) -> None:
    anna, _ = await two_racing(server)
    race = anna.board.race
    for number in range(5):
        answer = await anna.ask(MakeMove, race=race, after=number, move="draw")
        assert answer.board.count == number + 1


@pytest.mark.parametrize("kind", [MakeMove, CashOut])
async def test_only_racers_have_a_board(server: InProcessServer, kind: type) -> None:
    anna, bert, cleo = [await server.player(name) for name in ("Anna", "Bert", "Cleo")]
    code = await server.race(anna, bert)
    await cleo.at_table(WatchTable, table=code)
    said = {"race": f"{code}/1"} | ({"after": 0, "move": "draw"} if kind is MakeMove else {})
    assert await cleo.refused(kind, **said) == "not_seated"
    await cleo.at_table(JoinTable, table=code)
    assert await cleo.refused(kind, **said) == "not_racing"
    assert await anna.refused(kind, **said | {"race": f"{code}/2"}) == "no_such_race"
    assert await anna.refused(kind, **said | {"race": "odd-emu-11/1"}) == "no_such_race"


@pytest.mark.parametrize("odd", ["", "../../../etc", "\0" * 35])
async def test_text_that_is_no_race_id_is_no_race(server: InProcessServer, odd: str) -> None:
    anna = await server.player("Anna")
    await server.race(anna)
    assert await anna.refused(MakeMove, race=odd, after=0, move="draw") == "no_such_race"


async def test_a_racer_of_one_table_cannot_move_at_another(server: InProcessServer) -> None:
    anna, bert = await server.player("Anna"), await server.player("Bert")
    await server.race(anna)
    await server.race(bert)
    refused = await anna.refused(MakeMove, race=bert.board.race, after=0, move="draw")
    assert refused == "not_racing"


# A store that fails


async def test_without_a_store_a_move_changes_nothing_and_can_be_repeated(
    server: InProcessServer,
) -> None:
    anna, _ = await two_racing(server)
    command = MakeMove(id=50, race=anna.board.race, after=0, move="draw")
    server.faults.unavailable = True
    answer = await anna.send(command)
    assert isinstance(answer, Refused)
    assert (answer.code, answer.retry, answer.re) == ("store_unavailable", True, 50)
    server.faults.unavailable = False
    done = await anna.send(command)
    assert isinstance(done, MoveMade)
    assert (done.repeat, done.board.count) == (False, 1)


async def test_a_move_whose_reply_was_lost_is_not_made_twice(
    server: InProcessServer,
) -> None:
    anna, bert = await two_racing(server)
    command = MakeMove(id=50, race=anna.board.race, after=0, move="draw")
    server.faults.lost_replies = 1
    assert refused(await anna.send(command)) == ("store_unavailable", None)
    done = await anna.send(command)
    assert isinstance(done, MoveMade)
    assert (done.repeat, done.board.count) == (True, 1)
    await anna.moves("draw")
    assert bert.board.count == 0


async def test_an_ending_whose_reply_was_lost_ends_the_race(
    server: InProcessServer,
) -> None:
    anna, bert = await two_racing(server)
    await bert.cash_out()
    await server.pass_time(0)
    told = len(bert.received.events)
    command = CashOut(id=50, race=anna.board.race)
    server.faults.lost_replies = 1
    assert refused(await anna.send(command)) == ("store_unavailable", None)
    assert isinstance(await anna.send(command), MoveMade)
    await server.settle()
    assert len(bert.received.all(RaceOver, told)) == 1


async def test_a_standing_whose_reply_was_lost_is_sent_to_the_table(
    server: InProcessServer,
) -> None:
    anna, bert = await two_racing(server)
    told = len(bert.received.events)
    server.faults.lost_replies = 1
    command = CashOut(id=50, race=anna.board.race)
    await anna.send(command)
    await anna.send(command)
    await server.pass_time(250)
    states = {row.player: row.state for row in bert.received.all(Standings, told)[-1].standings}
    assert states == {anna.player: "cashed out", bert.player: "racing"}
