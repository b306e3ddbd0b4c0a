"""The dispatcher: every command gets exactly one response, even if it fails."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any, get_args

import msgspec
import pytest

from kit.in_process_server import (
    InProcessServer,
    gathered,
)
from kit.messages import COMMANDS
from kit.players import token_of
from kit.tables import nonce_hash
from saratoga_protocol.commands import (
    AnyCommand,
    GetRecord,
    Heartbeat,
    Hello,
    Ready,
    Reveal,
    Start,
    WatchTable,
)
from saratoga_protocol.events import (
    Dealt,
    MoveMade,
    RaceOver,
    Record,
    Refused,
    Standings,
    TableChanged,
)
from saratoga_rules.records.record import parse_record
from saratoga_rules.records.verify import verify
from saratoga_server.app import compose
from saratoga_server.cancellation import cancel_all
from saratoga_server.metrics.counters import Metrics
from saratoga_server.store.opening import Store


async def test_nothing_is_answered_before_the_hello(server: InProcessServer) -> None:
    for command in COMMANDS.values():
        stranger = server.connect("Anna")
        answer = await stranger.send(command)
        if not isinstance(command, Hello):
            assert isinstance(answer, Refused)
            assert (answer.code, answer.re) == ("hello_first", command.id)
    assert await server.codes() == []


async def test_every_command_has_exactly_one_answer_with_its_id(server: InProcessServer) -> None:
    anna = await server.player("Anna")
    for number, command in enumerate(COMMANDS.values(), 100):
        told = len(anna.received.events)
        await anna.send(msgspec.structs.replace(command, id=number))
        answers = [event for event in anna.received.events[told:] if event.re is not None]
        assert [answer.re for answer in answers] == [number], command


async def test_a_heartbeat_is_answered_with_the_time(server: InProcessServer) -> None:
    anna = await server.player("Anna")
    answer = await anna.ask(Heartbeat)
    assert (answer.now, answer.re) == (server.time.at, anna.last_id)


# A race from start to finish


async def test_a_race_is_over_when_the_last_board_has_ended(server: InProcessServer) -> None:
    anna, bert = await server.player("Anna"), await server.player("Bert")
    wanda = await server.player("Wanda")
    code = await server.race(anna, bert)
    await wanda.at_table(WatchTable, table=code)
    secret = server.state(code)
    await anna.moves("draw")
    await anna.cash_out()
    await server.settle()
    assert anna.received.all(RaceOver) == []
    await bert.moves("draw")
    await bert.cash_out()
    await server.settle()
    for player in (anna, bert, wanda):
        (over,) = player.received.all(RaceOver)
        assert over.outcome.seed == secret.seed
        assert over.outcome.nonces == secret.nonces
        assert player.table.phase == "over"
    assert (over.outcome.race, over.outcome.game, over.outcome.ranked) == (
        f"{code}/1",
        "canfield",
        True,
    )
    record = await anna.ask(GetRecord, race=f"{code}/1")
    assert isinstance(record, Record)
    assert record.text.endswith(f"digest {over.outcome.digest}\n")
    assert verify(parse_record(record.text)).ok


async def test_standings_are_sent_before_the_result_and_not_after_it(
    server: InProcessServer,
) -> None:
    anna, bert = await server.player("Anna"), await server.player("Bert")
    await server.race(anna, bert)
    await anna.cash_out()
    await bert.cash_out()
    await server.pass_time(1000)
    kinds = [
        type(event)
        for event in anna.received.events
        if isinstance(event, Standings | TableChanged | RaceOver)
    ]
    assert kinds[-3:] == [Standings, TableChanged, RaceOver]
    last = anna.received.all(Standings)[-1]
    assert {row.state for row in last.standings} == {"cashed out"}


async def test_a_move_that_banks_nothing_sends_no_standings(server: InProcessServer) -> None:
    anna, bert = await server.player("Anna"), await server.player("Bert")
    await server.race(anna, bert)
    told = len(bert.received.events)
    await anna.moves("draw", "draw")
    list(server.node.broadcaster.send_standings())
    assert bert.received.events[told:] == []


# Faults of the server's own


class Broken(RuntimeError):
    """An error with a secret in its text."""


def refused_with_board(answer: object) -> tuple[str, int | None]:
    """Return a refusal's code, and the number of moves on the board that came with it."""
    assert isinstance(answer, Refused), answer
    return answer.code, None if answer.board is None else answer.board.count


async def test_a_server_fault_is_an_answer_without_a_trace_of_the_code(
    server: InProcessServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    anna = await server.player("Anna")
    await server.race(anna)

    def break_down(*_: object) -> Any:
        raise Broken("a secret inside")

    monkeypatch.setattr("saratoga_server.domain.board.played", break_down)
    answer = await anna.move("draw")
    assert isinstance(answer, Refused)
    assert (answer.code, answer.retry, answer.board) == ("server_fault", True, None)
    assert not any(
        word in frame
        for frame in anna.received.frames
        for word in (b"secret", b"Broken", b"Traceback", b".py")
    )
    monkeypatch.undo()
    assert isinstance(await anna.move("draw"), MoveMade)


async def test_a_fault_in_making_the_answer_is_an_answer_too(
    server: InProcessServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    anna = await server.player("Anna")
    await server.race(anna)

    def break_down(*_: object) -> Any:
        raise Broken

    monkeypatch.setattr("saratoga_server.live.live_race.wire_view", break_down)
    for move in ("redeal", "draw"):
        answer = await anna.move(move)
        assert isinstance(answer, Refused)
        assert answer.code == "server_fault"
    monkeypatch.undo()
    # the draw was durable before its response failed
    assert refused_with_board(await anna.move("draw")) == ("stale_move", 1)
    await anna.moves("draw")


# Tests on every store, by the node's own clock


@pytest.fixture
async def timed(store: Store, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[InProcessServer]:
    """A node with the real time on a store of any kind; its countdowns end at once."""
    monkeypatch.setattr("saratoga_server.domain.tables.countdown.CALL_MILLIS", 1)
    monkeypatch.setattr("saratoga_server.domain.tables.countdown.COUNTDOWN_MILLIS", 1)
    node = await compose(store, "node", "test", Metrics())
    opened = InProcessServer(None, None, node, None)  # type: ignore[arg-type]
    running = asyncio.create_task(opened.node.scheduler.run())
    try:
        yield opened
    finally:
        await node.stop()
        await cancel_all([running])


async def test_a_countdown_is_voided_by_the_nodes_own_clock(
    timed: InProcessServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("saratoga_server.domain.tables.countdown.REVEAL_MILLIS", 1)
    anna = await timed.player("Anna")
    code = await gathered(anna)
    commitment = anna.table.commitment
    await anna.ask(Ready, table=code, commitment=commitment, nonce_hash=nonce_hash(anna.player))
    told = len(anna.received.events)
    await anna.ask(Start, table=code)
    while anna.table.phase != "gathering" or anna.table.commitment == commitment:
        await anna.received.next(TableChanged, len(anna.received.events))
    assert anna.received.all(Dealt, told) == []
    assert await anna.refused(Reveal, table=code, nonce="0" * 32) == "wrong_phase"


async def test_tokens_are_neither_sent_nor_stored(server: InProcessServer) -> None:
    anna = await server.player("Anna")
    await server.race(anna)
    secret = token_of("Anna")
    for frame in anna.received.frames:
        assert secret.encode() not in frame if isinstance(frame, bytes) else secret not in frame
    stored = b"".join(
        path.read_bytes() for path in server.store.server.folder.glob("appendonlydir/*")
    )
    assert anna.player.encode() in stored
    assert secret.encode() not in stored


def test_every_command_is_tested() -> None:
    assert {type(command) for command in COMMANDS.values()} == set(get_args(AnyCommand))
