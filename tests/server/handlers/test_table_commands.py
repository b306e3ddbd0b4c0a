"""Commands of seated players: settings, lock, ready, start, reveal, end race, next race."""

import asyncio
from typing import Any

import pytest

from kit.counted import counted
from kit.in_process_server import InProcessServer, counted_down, gathered
from kit.players import MemoryPlayer
from kit.tables import nonce, nonce_hash
from saratoga_protocol.commands import (
    AllowReady,
    CashOut,
    ChangeSettings,
    CreateChallenge,
    EndRace,
    EnterOpen,
    GetLeaderboard,
    GetOpen,
    GetRecord,
    Kick,
    LockTable,
    NextRace,
    Ready,
    Reveal,
    Start,
)
from saratoga_protocol.events import (
    BoardChanged,
    Done,
    RaceOver,
)
from saratoga_rules.records.record import digest_of, parse_record
from saratoga_rules.records.verify import verify
from saratoga_server.domain.tables.countdown import CALL_MILLIS, COUNTDOWN_MILLIS, REVEAL_MILLIS


async def players(server: InProcessServer, *names: str) -> list[MemoryPlayer]:
    return [await server.player(name) for name in names]


async def test_a_missing_nonce_voids_the_countdown_and_the_notice_names_the_player(
    server: InProcessServer,
) -> None:
    anna, bert, cleo = await players(server, "Anna", "Bert", "Cleo")
    code = await gathered(anna, bert, cleo)
    for player in (anna, bert, cleo):
        await player.ready()
    await anna.ask(Start, table=code)
    await anna.reveal()
    commitment, race = anna.table.commitment, anna.table.race
    await server.pass_time(REVEAL_MILLIS - CALL_MILLIS - 1)
    assert anna.table.phase == "countdown"
    await server.pass_time(1)
    for player in (anna, bert):
        assert player.table.phase == "gathering"
        assert player.table.notice == (
            "The countdown was voided: no nonce came from Bert and Cleo in time. "
            "There is a new deal: get ready again."
        )
        assert player.table.commitment != commitment
        assert not any(seat.ready for seat in player.table.seats)
        assert player.table.race == f"{code}/2"
        voided = player.table.previous
        assert voided is not None
        assert (voided.race, voided.reason) == (race, "nonce-missing")
        assert voided.blamed == sorted([bert.player, cleo.player])
        shown = player.table
        assert (shown.racers, shown.reveal_by, shown.start_at, shown.deadline) == ([], 0, 0, 0)
    assert counted(server.node.metrics, "races_voided_total", reason="nonce-missing") == 1
    assert voided is not None
    record = await bert.ask(GetRecord, race=race)
    assert digest_of(record.text) == voided.digest
    assert verify(record.text).ok
    read = parse_record(record.text)
    assert list(read.blamed) == voided.blamed
    hashes = {racer.player: racer.nonce_hash for racer in read.racers if not racer.nonce}
    assert hashes == {player: nonce_hash(player) for player in voided.blamed}
    for player in (bert, cleo):
        await anna.ask(AllowReady, table=code, player=player.player)
    await server.deal(anna, bert, cleo)
    for player in (anna, bert, cleo):
        await player.cash_out()
    await server.settle()
    finished = parse_record((await bert.ask(GetRecord, race=f"{code}/2")).text)
    assert verify(finished).ok
    assert finished.previous == (race, voided.digest)


async def test_a_nonce_that_came_in_time_counts_if_the_table_was_held_until_later(
    server: InProcessServer,
) -> None:
    anna, bert = await players(server, "Anna", "Bert")
    code = await gathered(anna, bert)
    for player in (anna, bert):
        await player.ready()
    await anna.ask(Start, table=code)
    await anna.reveal()
    table = server.node.tables.known(code)
    assert table is not None
    async with table.lock:
        revealed = asyncio.ensure_future(bert.reveal())
        await asyncio.sleep(0)  # the command arrives, and waits for the table
        server.time.at = table.state.reveal_by + 1
    assert isinstance(await revealed, Done)
    assert table.state.deal_key


async def test_the_host_ends_the_last_racing_board_after_a_minute(server: InProcessServer) -> None:
    anna, bert, cleo = await players(server, "Anna", "Bert", "Cleo")
    code = await server.race(anna, bert, cleo)
    race = f"{code}/1"
    await anna.cash_out()
    await cleo.cash_out()
    await server.settle()
    assert bert.table.last_racer == bert.player
    assert bert.table.notice.startswith("Only Bert is still racing. Anna may end the race")
    assert isinstance(await anna.ask(EndRace, race=race), Done), "Bert may agree"
    wait = bert.table.end_from - server.time.at
    await bert.moves("draw")
    await server.pass_time(wait)
    assert isinstance(await cleo.ask(EndRace, race=race), Done), "not the host: a vote"
    await server.settle()
    assert (await server.board(code, bert.player)).state == "racing"
    command = EndRace(id=50, race=race)
    assert isinstance(await anna.send(command), Done)
    assert isinstance(await anna.send(command), Done), "said again"
    await server.settle()
    (ended,) = bert.received.endings()
    assert (ended.board.state, ended.board.count) == ("ended-by-host", 2)
    assert len(bert.received.all(RaceOver)) == 1
    assert (bert.table.notice, bert.table.end_from) == ("Anna has ended the race.", 0)
    record = await server.record(code)
    assert record is not None
    assert " ended-by-host\n" in record
    assert verify(record).ok


# Commands that say what they act on, and commands that are not built yet


async def test_a_command_that_was_meant_for_something_else_is_refused(
    server: InProcessServer,
) -> None:
    anna, bert = await players(server, "Anna", "Bert")
    code = await gathered(anna, bert)
    epoch = next(seat.epoch for seat in anna.table.seats if seat.player == bert.player)
    for kind, given, code_of in (
        (ChangeSettings, {"commitment": "0" * 64, "game": "caprice"}, "wrong_commitment"),
        (Ready, {"commitment": "0" * 64, "nonce_hash": "0" * 64}, "wrong_commitment"),
        (Kick, {"player": bert.player, "epoch": epoch + 1}, "no_such_player"),
        (LockTable, {"race": f"{code}/2"}, "no_such_race"),
        (Start, {"race": f"{code}/2"}, "no_such_race"),
        (NextRace, {"race": f"{code}/2"}, "no_such_race"),
    ):
        assert await anna.refused(kind, table=code, **given) == code_of, kind
    right = {"table": code, "race": anna.table.race}
    assert isinstance(await anna.ask(LockTable, **right), Done)
    commitment = anna.table.commitment
    changed = {"table": code, "commitment": commitment, "game": "caprice"}
    assert isinstance(await anna.ask(ChangeSettings, **changed), Done)
    await counted_down(anna, bert)
    wrong = {"table": code, "commitment": commitment, "nonce": nonce(bert.player)}
    assert await bert.refused(Reveal, **wrong) == "wrong_commitment"
    await server.pass_time(COUNTDOWN_MILLIS)
    race = anna.table.race
    assert await anna.refused(CashOut, race=race, after=1) == "stale_move"
    assert isinstance(await anna.ask(CashOut, race=race, after=0), BoardChanged)
    kicked = {"player": bert.player, "epoch": epoch}
    await bert.cash_out()
    await server.settle()
    assert isinstance(await anna.ask(Kick, table=code, **kicked), Done)


@pytest.mark.parametrize(
    ("kind", "given"),
    [
        (EnterOpen, {"open": "day/canfield/2026-09-01"}),
        (CreateChallenge, {"game": "canfield"}),
        (GetOpen, {"open": "a" * 16}),
        (GetLeaderboard, {"game": "canfield", "ranking": "rating"}),
    ],
)
async def test_what_is_not_built_yet_is_refused(
    server: InProcessServer, kind: type[Any], given: dict[str, Any]
) -> None:
    anna = await server.player("Anna")
    assert await anna.refused(kind, **given) == "not_built"
