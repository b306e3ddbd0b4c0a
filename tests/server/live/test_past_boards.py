"""Answers to repeated moves of a race that their player can no longer play."""

import asyncio

import pytest

from kit.in_process_server import InProcessServer
from kit.players import MemoryPlayer
from kit.tables import record_of_unknown_game
from saratoga_protocol.commands import CashOut, LeaveTable, MakeMove, NextRace
from saratoga_protocol.events import AnyEvent, BoardView, Done, MoveMade, Refused
from saratoga_server.admin.acts import Administration
from saratoga_server.app import compose_table_cache
from saratoga_server.live.stored_logs import FOLDED_AT_ONCE
from saratoga_server.ports import StoredBoard
from saratoga_server.rate_limits.limiter import NO_CONNECTION, RateLimiter
from saratoga_server.store.keys import records_key


async def sent(player: MemoryPlayer) -> tuple[MakeMove, AnyEvent]:
    """Send a first move; return the command and its answer."""
    player.last_id += 1
    command = MakeMove(id=player.last_id, race=player.board.race, after=0, move="draw")
    return command, await player.send(command)


def shown(answer: AnyEvent) -> tuple[BoardView, int, bool]:
    assert isinstance(answer, MoveMade), answer
    return answer.board, answer.at, answer.repeat


async def test_a_move_of_the_last_race_is_answered_by_its_record(server: InProcessServer) -> None:
    anna = await server.player("Anna", legal=True)
    code = await server.race(anna)
    move, answer = await sent(anna)
    await anna.cash_out()
    await server.settle()
    assert isinstance(await anna.ask(NextRace, table=code), Done)
    await server.pass_time(1000)
    board, at, is_repeat = shown(await anna.send(move))
    assert (at, is_repeat) == (shown(answer)[1], True)
    assert (board.race, board.count, board.state) == (f"{code}/1", 2, "cashed out")
    assert board.view == shown(answer)[0].view
    assert board.legal == []


async def test_a_repeat_of_a_race_that_only_newer_nodes_know_is_sent_on(
    server: InProcessServer,
) -> None:
    anna = await server.player("Anna")
    code = await server.race(anna)
    move, _ = await sent(anna)
    await anna.cash_out()
    await server.settle()
    assert isinstance(await anna.ask(NextRace, table=code), Done)
    text = await server.record(code)
    assert text is not None
    record = record_of_unknown_game(text)
    await asyncio.to_thread(server.store.server.ask, "HSET", records_key(code), "1", record)
    await server.pass_time(1000)
    answer = await anna.send(move)
    assert isinstance(answer, Refused)
    assert (answer.code, answer.retry) == ("draining", True)


async def test_a_move_at_a_table_that_was_closed_in_the_race_is_answered_by_its_record(
    server: InProcessServer,
) -> None:
    anna = await server.player("Anna")
    code = await server.race(anna)
    move, answer = await sent(anna)
    cache = await compose_table_cache(server.store)
    await Administration(server.store, cache, "zoe@laptop").close(code, "It is late.")
    await server.pass_time(1000)
    assert shown(await anna.send(move)) == (shown(answer)[0], shown(answer)[1], True)


@pytest.mark.parametrize("race", ["nonsense", "odd-emu-11/1", "{code}/2", "{code}/1"])
async def test_what_was_not_carried_out_stays_refused(server: InProcessServer, race: str) -> None:
    anna = await server.player("Anna")
    code = await server.race(anna)
    await sent(anna)
    assert isinstance(await anna.ask(LeaveTable, table=code), Done)
    refusal = await anna.refused(MakeMove, race=race.format(code=code), after=1, move="draw")
    assert refusal == "not_seated"
    bert = await server.player("Bert")
    assert await bert.refused(CashOut, race=f"{code}/1") == "not_seated"


async def test_repeats_of_an_earlier_race_cost_as_much_as_a_record(server: InProcessServer) -> None:
    anna = await server.player("Anna")
    code = await server.race(anna)
    move, _ = await sent(anna)
    await anna.cash_out()
    await server.settle()
    await anna.ask(NextRace, table=code)
    await server.pass_time(1000)
    limiter = RateLimiter(lambda: 0.0, factor=None, rate=1, burst=20)
    quota = limiter.open("192.0.2.1", NO_CONNECTION)
    quota.authenticated(anna.player)
    anna.session.quota = quota
    for _ in range(2):
        assert shown(await anna.send(move))[2]
    refused = await anna.send(move)
    assert isinstance(refused, Refused)
    assert (refused.code, refused.retry) == ("too_fast", True)


async def test_few_answers_are_read_from_the_store_at_once(
    server: InProcessServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    players = [await server.player(name) for name in ("Anna", "Bert", "Cleo", "Dora")]
    code = await server.race(*players)
    moves = [(await sent(player))[0] for player in players]
    for player in players:
        await player.cash_out()
    await server.settle()
    await players[0].ask(NextRace, table=code)
    await server.pass_time(1000)
    load_board = server.store.boards.load_board
    reading, most = 0, 0

    async def counted(table: str, race: int, player: str) -> StoredBoard | None:
        nonlocal reading, most
        reading += 1
        most = max(most, reading)
        stored = await load_board(table, race, player)
        reading -= 1
        return stored

    monkeypatch.setattr(server.store.boards, "load_board", counted)
    answers = await asyncio.gather(*map(MemoryPlayer.send, players, moves))
    assert all(shown(answer)[2] for answer in answers)
    assert most == FOLDED_AT_ONCE
