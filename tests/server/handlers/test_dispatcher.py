"""The dispatcher: every command gets one answer, and a failure is an answer too."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any, get_args

import msgpack
import msgspec
import pytest

from kit.fake_store import FakeStore, fake_store
from kit.guests import RecordingLine, token_of
from kit.messages import COMMANDS
from kit.rooms import (
    HouseInMemory,
    always,
    counted_down,
    gathered,
    house_in_memory,
    open_in_memory,
)
from kit.tables import nonce_hash
from saratoga_protocol.commands import (
    AnyCommand,
    CreateTable,
    GetRecord,
    Heartbeat,
    Hello,
    JoinTable,
    MakeMove,
    NextRace,
    Ready,
    Reveal,
    Start,
    WatchTable,
)
from saratoga_protocol.events import (
    Alive,
    Dealt,
    Done,
    MoveMade,
    RaceOver,
    Record,
    Refused,
    Standings,
    TableChanged,
)
from saratoga_protocol.refusals import RESTARTING
from saratoga_rules.records.record import parse_record
from saratoga_rules.records.verify import verify
from saratoga_server.app import compose
from saratoga_server.cancellation import cancel_all
from saratoga_server.domain.tables import Change, TableState, resume, unpack
from saratoga_server.domain.tables.state import FORMAT
from saratoga_server.metrics.counters import Metrics
from saratoga_server.ports import Millis
from saratoga_server.store.opening import Store

ONE_CARD_TO_BANK = (
    "stock=2C3C4C5C6C7C waste=- reserve=- up=1,1,1,1 down=- columns=2D/9H/TH/KC base=1 passes=1"
)


async def test_nothing_is_answered_before_the_hello(rooms: HouseInMemory) -> None:
    for command in COMMANDS.values():
        stranger = rooms.stranger("Anna")
        answer = await stranger.say(command)
        if isinstance(command, Heartbeat):
            assert isinstance(answer, Alive)
        elif not isinstance(command, Hello):
            assert isinstance(answer, Refused)
            assert (answer.code, answer.re) == ("hello_first", command.id)
    assert rooms.fake.tables == {}


async def test_every_command_has_exactly_one_answer_with_its_id(rooms: HouseInMemory) -> None:
    anna = await rooms.guest("Anna")
    for number, command in enumerate(COMMANDS.values(), 100):
        told = len(anna.heard.events)
        await anna.say(msgspec.structs.replace(command, id=number))
        answers = [event for event in anna.heard.events[told:] if event.re is not None]
        assert [answer.re for answer in answers] == [number], command


async def test_a_heartbeat_is_answered_with_the_time(rooms: HouseInMemory) -> None:
    anna = await rooms.guest("Anna")
    answer = await anna.ask(Heartbeat)
    assert (answer.now, answer.re) == (rooms.time.at, anna.last_id)


# A race from start to finish


async def test_a_race_is_over_when_the_last_board_has_ended(rooms: HouseInMemory) -> None:
    anna, bert = await rooms.guest("Anna"), await rooms.guest("Bert")
    wanda = await rooms.guest("Wanda")
    code = await rooms.race(anna, bert)
    await wanda.at_table(WatchTable, table=code)
    secret = rooms.state(code)
    await anna.moves("draw")
    await anna.cash_out()
    await rooms.settle()
    assert anna.heard.all(RaceOver) == []
    await bert.moves("draw")
    await bert.cash_out()
    await rooms.settle()
    for guest in (anna, bert, wanda):
        (over,) = guest.heard.all(RaceOver)
        assert over.outcome.seed == secret.seed
        assert over.outcome.nonces == secret.nonces
        assert guest.table.phase == "over"
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
    rooms: HouseInMemory,
) -> None:
    anna, bert = await rooms.guest("Anna"), await rooms.guest("Bert")
    await rooms.race(anna, bert)
    await anna.cash_out()
    await bert.cash_out()
    await rooms.pass_time(1000)
    kinds = [
        type(event)
        for event in anna.heard.events
        if isinstance(event, Standings | TableChanged | RaceOver)
    ]
    assert kinds[-3:] == [Standings, TableChanged, RaceOver]
    last = anna.heard.all(Standings)[-1]
    assert {row.state for row in last.standings} == {"cashed out"}


async def test_a_ready_racer_who_is_not_connected_is_left_out(rooms: HouseInMemory) -> None:
    anna, bert = await rooms.guest("Anna"), await rooms.guest("Bert")
    await gathered(anna, bert)
    await bert.ready()
    await bert.hang_up()
    await counted_down(anna)
    assert anna.table.racers == [anna.player]
    assert "Bert" in anna.table.notice


async def test_results_add_up_over_the_races_of_a_table() -> None:
    async with house_in_memory(always(ONE_CARD_TO_BANK)) as opened:
        anna, bert = await opened.guest("Anna"), await opened.guest("Bert")
        code = await opened.race(anna, bert)
        for number in (1, 2):
            assert anna.table.race == f"{code}/{number}"
            await (anna if number == 1 else bert).moves("t1>up")
            await anna.cash_out()
            await bert.cash_out()
            await opened.settle()
            assert await bert.refused(NextRace, table=code) == "host_only"
            assert isinstance(await anna.ask(NextRace, table=code), Done)
            if number == 1:
                await opened.deal(anna, bert)
        assert [(seat.races, seat.wins, seat.net) for seat in bert.table.seats] == [
            (2, 1, 2 * -50 + 45),
            (2, 1, 2 * -50 + 45),
        ]
        first, second = bert.heard.all(RaceOver)
        assert [row.player for row in first.outcome.results] == [anna.player, bert.player]
        assert [row.player for row in second.outcome.results] == [bert.player, anna.player]
        assert first.outcome.seed != second.outcome.seed


async def test_racers_who_banked_nothing_more_share_a_place() -> None:
    async with house_in_memory(always(ONE_CARD_TO_BANK)) as opened:
        anna, bert, cleo = [await opened.guest(name) for name in ("Anna", "Bert", "Cleo")]
        await opened.race(anna, bert, cleo)
        await cleo.moves("t1>up")
        await opened.pass_time(250)
        rows = anna.heard.all(Standings)[-1].standings
        assert [(row.place, row.banked) for row in rows] == [(1, 5), (2, 4), (2, 4)]
        assert rows[0].player == cleo.player


async def test_of_two_racers_with_the_same_count_the_one_who_reached_it_first_is_ahead() -> None:
    async with house_in_memory(always(ONE_CARD_TO_BANK)) as opened:
        anna, bert = await opened.guest("Anna"), await opened.guest("Bert")
        await opened.race(anna, bert)
        await bert.moves("t1>up")
        opened.time.at += 1500
        await anna.moves("t1>up")
        for guest in (anna, bert):
            await guest.cash_out()
        await opened.settle()
        results = anna.heard.all(RaceOver)[0].outcome.results
        assert [(row.name, row.place) for row in results] == [("Bert", 1), ("Anna", 2)]
        assert results[1].tie == "reached 5 cards 1.5 s later"


async def test_standings_are_coalesced_and_sent_once_a_tick() -> None:
    async with house_in_memory(always(ONE_CARD_TO_BANK)) as opened:
        anna, bert = await opened.guest("Anna"), await opened.guest("Bert")
        await opened.race(anna, bert)
        told = len(bert.heard.events)
        await anna.moves("t1>up", "draw")
        await bert.moves("t1>up")
        await anna.cash_out()
        assert bert.heard.all(Standings, told) == []
        list(opened.house.broadcaster.send_standings())
        (standings,) = bert.heard.all(Standings, told)
        assert [(row.place, row.banked, row.state) for row in standings.standings] == [
            (1, 5, "cashed out"),
            (2, 5, "racing"),
        ]
        list(opened.house.broadcaster.send_standings())
        assert len(bert.heard.all(Standings, told)) == 1


async def test_a_move_that_banks_nothing_sends_no_standings(rooms: HouseInMemory) -> None:
    anna, bert = await rooms.guest("Anna"), await rooms.guest("Bert")
    await rooms.race(anna, bert)
    told = len(bert.heard.events)
    await anna.moves("draw", "draw")
    list(rooms.house.broadcaster.send_standings())
    assert bert.heard.events[told:] == []


# Faults of the server's own


class Broken(RuntimeError):
    """A fault with a secret in its text."""


def refused_with_board(answer: object) -> tuple[str, int | None]:
    """Return a refusal's code and the length of the board that came with it."""
    assert isinstance(answer, Refused), answer
    return answer.code, None if answer.board is None else answer.board.count


async def test_a_server_fault_is_an_answer_without_a_trace_of_the_code(
    rooms: HouseInMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    anna = await rooms.guest("Anna")
    await rooms.race(anna)

    def break_down(*_: object) -> Any:
        raise Broken("a secret inside")

    monkeypatch.setattr("saratoga_server.domain.board.played", break_down)
    answer = await anna.move("draw")
    assert isinstance(answer, Refused)
    assert (answer.code, answer.retry, answer.board) == ("server_fault", True, None)
    assert not any(
        word in frame
        for frame in anna.heard.frames
        for word in (b"secret", b"Broken", b"Traceback", b".py")
    )
    monkeypatch.undo()
    assert isinstance(await anna.move("draw"), MoveMade)


async def test_a_fault_in_making_the_answer_is_an_answer_too(
    rooms: HouseInMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    anna = await rooms.guest("Anna")
    await rooms.race(anna)

    def break_down(*_: object) -> Any:
        raise Broken

    monkeypatch.setattr("saratoga_server.live.live_race.wire_view", break_down)
    for move in ("redeal", "draw"):
        answer = await anna.move(move)
        assert isinstance(answer, Refused)
        assert answer.code == "server_fault"
    monkeypatch.undo()
    # the draw was durable before its answer failed
    assert refused_with_board(await anna.move("draw")) == ("stale_move", 1)
    await anna.moves("draw")


# Draining


async def test_a_draining_node_starts_nothing_and_finishes_everything(
    rooms: HouseInMemory,
) -> None:
    anna, bert = await rooms.guest("Anna"), await rooms.guest("Bert")
    code = await rooms.race(anna, bert)
    waiting = await rooms.guest("Cleo")
    other = await gathered(waiting)
    await waiting.ready()
    rooms.house.readiness.is_draining = True
    assert await rooms.house.why_not_ready() is not None
    late = await rooms.guest("Dan")
    assert await late.refused(CreateTable, game="canfield") == "draining"
    assert await waiting.refused(Start, table=other) == "draining"
    await late.at_table(JoinTable, table=code)
    await anna.moves("draw")
    await anna.cash_out()
    await bert.cash_out()
    await rooms.settle()
    assert len(anna.heard.all(RaceOver)) == 1


async def test_a_table_of_a_newer_format_is_refused_and_the_connection_closed(
    rooms: HouseInMemory,
) -> None:
    anna, bert = await rooms.guest("Anna"), await rooms.guest("Bert")
    code = await gathered(anna)
    version, body = rooms.fake.tables[code]
    newer = msgpack.packb(msgpack.unpackb(body) | {"format": FORMAT + 1})
    rooms.fake.tables[code] = (version + 1, newer)
    rooms.house.table_cache.forget(code)
    assert await bert.refused(JoinTable, table=code) == "draining"
    (session,) = (each for each in rooms.house.broadcaster.sessions if each.name == "Bert")
    assert isinstance(session.connection, RecordingLine)
    assert session.connection.closed == [RESTARTING]
    assert rooms.fake.tables[code] == (version + 1, newer)


async def test_a_node_about_to_stop_is_not_ready_but_goes_on(rooms: HouseInMemory) -> None:
    rooms.house.readiness.is_stopping = True
    assert await rooms.house.why_not_ready() == "This server is about to stop."
    anna, bert = await rooms.guest("Anna"), await rooms.guest("Bert")
    code = await rooms.race(anna, bert)
    live_table = await rooms.house.table_cache.get(code)
    (session,) = rooms.house.broadcaster.sessions_of(live_table.state.seats[0].player)
    assert rooms.house.dispatcher.is_racing(session)
    outside = await rooms.guest("Cleo")
    (session,) = (each for each in rooms.house.broadcaster.sessions if each.seat is None)
    assert outside.name == session.name
    assert not rooms.house.dispatcher.is_racing(session)


async def test_players_of_a_draining_node_are_disconnected_only_if_not_back_when_it_stops(
    rooms: HouseInMemory,
) -> None:
    anna, bert = await rooms.guest("Anna"), await rooms.guest("Bert")
    code = await rooms.race(anna, bert)
    elsewhere = await open_in_memory(fake_store(rooms.fake), rooms.time, node="other")
    rooms.house.readiness.is_draining = True
    version, _ = rooms.fake.tables[code]
    for session in list(rooms.house.broadcaster.sessions):
        await rooms.house.dispatcher.disconnected(session)
    # nobody hears of it, for who was sent on is about to be back
    assert rooms.fake.tables[code][0] == version

    def back(table: TableState, now: Millis) -> Change | None:
        return resume(
            table, anna.player, node=elsewhere.name, hello=anna.session.hello + 1, now=now
        )

    await elsewhere.table_cache.change(code, back)
    await rooms.house.stop()
    seats = {seat.name: seat.node for seat in unpack(rooms.fake.tables[code][1]).seats}
    assert seats == {"Anna": elsewhere.name, "Bert": ""}
    await elsewhere.stop()


async def test_a_node_is_ready_when_its_store_answers(rooms: HouseInMemory) -> None:
    assert await rooms.house.why_not_ready() is None
    rooms.fake.unavailable = True
    rooms.time.at += 1000
    assert await rooms.house.why_not_ready() == "The store does not answer."


async def test_a_stopped_node_is_not_listed_as_alive(rooms: HouseInMemory) -> None:
    assert rooms.house.name in rooms.fake.nodes
    await rooms.house.stop()
    assert rooms.house.name not in rooms.fake.nodes


async def test_a_node_stops_without_its_store(rooms: HouseInMemory) -> None:
    anna, bert = await rooms.guest("Anna"), await rooms.guest("Bert")
    await rooms.race(anna, bert)
    rooms.house.readiness.is_draining = rooms.fake.unavailable = True
    await rooms.house.stop()
    rooms.fake.unavailable = False
    assert rooms.house.name in rooms.fake.nodes


# The same on every store, by the node's own clock


@pytest.fixture
async def timed(
    store: Store | FakeStore, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[HouseInMemory]:
    """A node that keeps its own time on a store of any kind; its countdowns are over at once."""
    monkeypatch.setattr("saratoga_server.domain.tables.countdown.COUNTDOWN_MILLIS", 1)
    house = await compose(store, "node", "test", Metrics())
    opened = HouseInMemory(None, None, house, store)  # type: ignore[arg-type]
    running = asyncio.create_task(opened.house.scheduler.run())
    try:
        yield opened
    finally:
        await house.stop()
        await cancel_all([running])


async def test_a_race_is_the_same_on_every_store(timed: HouseInMemory) -> None:
    anna, bert = await timed.guest("Anna", legal=True), await timed.guest("Bert")
    code = await gathered(anna, bert)
    await counted_down(anna, bert)
    for guest in (anna, bert):
        await guest.heard.next(Dealt, 0)
    command = MakeMove(id=anna.last_id + 1, race=f"{code}/1", after=0, move="draw")
    first, again = await anna.say(command), await anna.say(command)
    assert isinstance(first, MoveMade)
    assert isinstance(again, MoveMade)
    assert (first.repeat, again.repeat, again.board) == (False, True, first.board)
    await bert.moves("draw", "draw")
    for guest in (anna, bert):
        await guest.cash_out()
    over = await anna.heard.next(RaceOver, 0)
    record = await bert.ask(GetRecord, race=f"{code}/1")
    assert verify(parse_record(record.text)).ok
    assert over.outcome.ranked
    assert {row.state for row in over.outcome.results} == {"cashed out"}


async def test_a_countdown_is_voided_by_the_nodes_own_clock(
    timed: HouseInMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("saratoga_server.domain.tables.countdown.REVEAL_MILLIS", 1)
    anna = await timed.guest("Anna")
    code = await gathered(anna)
    commitment = anna.table.commitment
    await anna.ask(Ready, table=code, commitment=commitment, nonce_hash=nonce_hash(anna.player))
    told = len(anna.heard.events)
    await anna.ask(Start, table=code)
    while anna.table.phase != "gathering" or anna.table.commitment == commitment:
        await anna.heard.next(TableChanged, len(anna.heard.events))
    assert anna.heard.all(Dealt, told) == []
    assert await anna.refused(Reveal, table=code, nonce="0" * 32) == "wrong_phase"


async def test_tokens_are_neither_sent_nor_stored(rooms: HouseInMemory) -> None:
    anna = await rooms.guest("Anna")
    await rooms.race(anna)
    secret = token_of("Anna")
    for frame in anna.heard.frames:
        assert secret.encode() not in frame if isinstance(frame, bytes) else secret not in frame
    assert secret not in repr(rooms.fake)


def test_every_command_is_tested() -> None:
    assert {type(command) for command in COMMANDS.values()} == set(get_args(AnyCommand))
