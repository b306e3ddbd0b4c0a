"""A race whose stored data are damaged is voided: it never hangs, and never makes moves server faults."""

import logging
from collections.abc import AsyncIterator, Awaitable, Callable

import msgpack
import pytest
from redis.asyncio import Redis

from kit.in_process_server import InProcessServer, counted_down, gathered
from kit.players import MemoryPlayer
from kit.two_nodes import beside
from saratoga_protocol.commands import (
    CashOut,
    GetRecord,
    Hello,
    JoinTable,
    MakeMove,
    NextRace,
    Resume,
)
from saratoga_protocol.events import Record, Refused, Snapshot, TableChanged, VoidedRace
from saratoga_rules.dealing.fairness import commitment
from saratoga_rules.records.record import parse_record
from saratoga_rules.records.verify import verify
from saratoga_rules.records.void_record import parse_void_record
from saratoga_server.domain.tables import unpack
from saratoga_server.domain.tables.countdown import COUNTDOWN_MILLIS
from saratoga_server.domain.tables.timers import LOOK_MILLIS
from saratoga_server.leaderboard_port import BoardKey
from saratoga_server.live.scheduler import MOST_DUE
from saratoga_server.ports import LiveStanding
from saratoga_server.store.keys import player_key, race_key, table_key

Harm = Callable[[Redis, str, str], Awaitable[object]]
"""A function that damages a race in the store, given the key of the race and a player."""


@pytest.fixture
async def raw(server: InProcessServer) -> AsyncIterator[Redis]:
    async with Redis.from_url(server.store.server.url) as client:
        yield client


async def rewrite_entry(raw: Redis, log: str, place: int, text: bytes) -> None:
    """Replace the move of a log's entry."""
    line: bytes = await raw.execute_command("LINDEX", log, place)
    await raw.execute_command("LSET", log, place, line.rpartition(b" ")[0] + b" " + text)


async def entry_missing(raw: Redis, race: str, player: str) -> None:
    await raw.lset(f"{race}:log:{player}", 1, "gone")
    await raw.lrem(f"{race}:log:{player}", 1, "gone")


async def entry_unreadable(raw: Redis, race: str, player: str) -> None:
    await rewrite_entry(raw, f"{race}:log:{player}", 1, b"\xff\x00")


async def entry_illegal(raw: Redis, race: str, player: str) -> None:
    await rewrite_entry(raw, f"{race}:log:{player}", 1, b"r>t9")


async def log_gone(raw: Redis, race: str, player: str) -> None:
    await raw.delete(f"{race}:log:{player}")


async def board_gone(raw: Redis, race: str, player: str) -> None:
    await raw.delete(race)


async def racers_unreadable(raw: Redis, race: str, player: str) -> None:
    await raw.hset(race, "racers", b"\xc1")
    await entry_unreadable(raw, race, player)


async def standing_unreadable(raw: Redis, race: str, player: str) -> None:
    await raw.hset(race, f"{player}:banked", "many")


async def state_changed(raw: Redis, race: str, player: str) -> None:
    await raw.hset(race, f"{player}:state", "won")


async def deal_changed(raw: Redis, race: str, player: str) -> None:
    table = race.rpartition(":race:")[0]
    body = msgpack.unpackb(await raw.hget(table, "body"))
    body["deal_key"] = "0" + body["deal_key"][1:] if body["deal_key"][0] != "0" else "x"
    await raw.hset(table, "body", msgpack.packb(body, use_bin_type=False))


HARMS = [
    entry_missing,
    entry_unreadable,
    entry_illegal,
    log_gone,
    board_gone,
    racers_unreadable,
    standing_unreadable,
    state_changed,
    deal_changed,
]


async def come_back(server: InProcessServer, old: MemoryPlayer) -> MemoryPlayer:
    """Connect the player to the new server process; take the seat as soon as the server lets the player."""
    player = await server.player(old.name)
    for _ in range(3):
        answer = await player.ask(Resume, table=old.table.code)
        if isinstance(answer, Snapshot):
            player.last_id = max(player.last_id, answer.next_id - 1)
            return player
        assert isinstance(answer, Refused)
        assert (answer.code, answer.retry) == ("store_unavailable", True), answer
        assert "voids" in answer.message
        await server.settle()
    raise AssertionError("the race was not voided")


async def two_racing(server: InProcessServer) -> tuple[MemoryPlayer, MemoryPlayer, str]:
    anna, bert = await server.player("Anna"), await server.player("Bert")
    code = await server.race(anna, bert)
    await anna.moves("draw", "draw", "draw")
    await bert.moves("draw")
    return anna, bert, code


def voided_at(player: MemoryPlayer) -> VoidedRace:
    (voided,) = player.table.voided
    return voided


@pytest.mark.parametrize("harm", HARMS, ids=lambda harm: harm.__name__)
async def test_a_race_with_damaged_data_is_voided_and_the_table_goes_on(
    server: InProcessServer, raw: Redis, harm: Harm, caplog: pytest.LogCaptureFixture
) -> None:
    anna, bert, code = await two_racing(server)
    await harm(raw, race_key(code, 1), anna.player)
    await server.restart()
    with caplog.at_level(logging.ERROR):
        anna = await come_back(server, anna)
        bert = await come_back(server, bert)
        await server.pass_time(LOOK_MILLIS)
    assert (server.state(code).phase, server.state(code).race) == ("gathering", 2)
    assert "voided by the server" in anna.table.notice
    assert [line.getMessage() for line in caplog.records].count("race_voided") == 1
    assert server.node.metrics.races_voided["damaged"] == 1
    assert "server_fault" not in caplog.text
    # everything that was secret is open
    voided = voided_at(bert)
    assert (voided.race, voided.reason) == (f"{code}/1", "damaged")
    assert set(voided.nonces) == {anna.player, bert.player}
    assert voided.commitment == commitment(
        bytes.fromhex(voided.seed),
        voided.game,
        voided.rules,
        code,
        1,
        cap=voided.cap,
        public=voided.public,
    )
    record = await anna.ask(GetRecord, race=voided.race)
    assert isinstance(record, Record)
    assert verify(record.text).ok
    assert len(parse_void_record(record.text).racers) == 2
    # nothing of it counts
    assert [(seat.races, seat.net) for seat in anna.table.seats] == [(0, 0), (0, 0)]
    # a late comer sees it
    cleo = await server.player("Cleo")
    late = await cleo.at_table(JoinTable, table=code)
    assert late.table.voided == [voided]
    # the next race's record has it, and the race after that does not
    await server.deal(anna, bert)
    for player in (anna, bert):
        await player.moves("draw")
        await player.ask(CashOut, race=f"{code}/2")
    await server.settle()
    after = await anna.ask(GetRecord, race=f"{code}/2")
    assert isinstance(after, Record)
    assert verify(after.text).ok, verify(after.text).faults
    assert [each.race for each in parse_record(after.text).voided] == [1]
    board = BoardKey(game="canfield", ranking="bankroll", period="all", bots=False)
    _, rows = await server.real.leaderboards.page(board, 0, 10)
    assert [row.races for row in rows] == [1, 1]
    await anna.ask(NextRace, table=code)
    assert anna.table.voided == []


async def test_a_board_damaged_while_its_racer_plays_is_voided_at_the_next_look(
    server: InProcessServer, raw: Redis
) -> None:
    anna, bert, code = await two_racing(server)
    await rewrite_entry(raw, f"{race_key(code, 1)}:log:{anna.player}", -1, b"r>t9")
    # the store refuses the move, so the node reads the board again
    await raw.hincrby(race_key(code, 1), f"{anna.player}:last_id", 10**6)
    answer = await anna.move("draw")
    assert isinstance(answer, Refused)
    assert (answer.code, answer.retry) == ("store_unavailable", True)
    await server.settle()
    changed = bert.received.all(TableChanged)[-1]
    assert (changed.table.phase, changed.table.race) == ("gathering", f"{code}/2")
    again = await anna.send(MakeMove(id=anna.last_id, race=f"{code}/1", after=3, move="draw"))
    assert isinstance(again, Refused)
    assert (again.code, again.retry) == ("no_such_race", False)


async def test_a_move_made_while_the_race_is_voided_is_in_the_record(
    server: InProcessServer, raw: Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    anna, bert, code = await two_racing(server)
    await rewrite_entry(raw, f"{race_key(code, 1)}:log:{anna.player}", -1, b"r>t9")
    await raw.hincrby(race_key(code, 1), f"{anna.player}:last_id", 10**6)
    boards = server.store.boards
    load_standings = boards.load_standings

    async def load_after_a_move(table: str, race: int) -> dict[str, LiveStanding]:
        """Let Bert move after his log was read for the void."""
        monkeypatch.undo()
        await bert.moves("draw")
        return await load_standings(table, race)

    assert (
        await anna.refused(MakeMove, race=f"{code}/1", after=3, move="draw") == "store_unavailable"
    )
    monkeypatch.setattr(boards, "load_standings", load_after_a_move)
    await server.settle()
    await server.pass_time(LOOK_MILLIS)
    record = await anna.ask(GetRecord, race=f"{code}/1")
    assert isinstance(record, Record)
    logs = {racer.player: racer for racer in parse_void_record(record.text).racers}
    assert [line.text for line in logs[bert.player].log] == ["draw", "draw"]
    assert (logs[bert.player].complete, logs[anna.player].complete) == (True, False)


async def test_a_countdown_with_a_damaged_deal_is_called_off(
    server: InProcessServer, raw: Redis
) -> None:
    anna = await server.player("Anna")
    code = await gathered(anna)
    await counted_down(anna)
    await deal_changed(raw, race_key(code, 1), anna.player)
    await server.restart()
    await server.pass_time(COUNTDOWN_MILLIS)
    table = unpack((await server.stored(code))[1])
    assert table.phase == "gathering"
    assert "damaged" in table.notice


async def test_a_table_whose_body_is_damaged_is_refused_and_logged_once(
    server: InProcessServer, raw: Redis, caplog: pytest.LogCaptureFixture
) -> None:
    anna, _, code = await two_racing(server)
    await raw.hset(table_key(code), "body", b"\xc1")
    await server.restart()
    player = await server.player(anna.name)
    assert await player.refused(JoinTable, table=code) == "no_such_table"
    with caplog.at_level(logging.WARNING):
        for _ in range(3):
            await server.pass_time(LOOK_MILLIS)
    assert "server_fault" not in caplog.text
    assert "task_postponed" not in caplog.text


async def test_many_damaged_tables_do_not_stop_the_timers_of_the_others(
    server: InProcessServer, raw: Redis
) -> None:
    async with raw.pipeline(transaction=False) as writes:
        for number in range(MOST_DUE + 1):
            key = table_key(f"mint-otter-{number}")
            writes.hset(key, mapping={"version": 1, "body": b"\xc1"})
            writes.zadd(key.partition(":")[0] + ":due", {f"mint-otter-{number}": 1})
        await writes.execute()
    anna = await server.player("Anna")
    code = await gathered(anna)
    await counted_down(anna)
    await server.restart()
    server.time.at += COUNTDOWN_MILLIS
    for _ in range(3):
        await server.node.scheduler.sweep()
    assert server.state(code).phase == "running"
    # the checks begin again with the first timer
    server.time.at += LOOK_MILLIS
    for _ in range(3):
        await server.node.scheduler.sweep()
    assert server.state(code).looked == server.time.at


@pytest.mark.parametrize("field", ["last_id", "created", "name"])
async def test_a_player_whose_row_is_damaged_is_refused_for_good(
    server: InProcessServer, raw: Redis, caplog: pytest.LogCaptureFixture, field: str
) -> None:
    anna = await server.player("Anna")
    await raw.hset(player_key(anna.player), field, b"\xff\xfe")
    await server.restart()
    again = server.connect("Anna")
    answer = await again.ask(Hello, token=again.token, name="Anna")
    assert isinstance(answer, Refused)
    assert (answer.code, answer.retry) == ("damaged", False)
    assert "data_damaged" in caplog.text
    assert "server_fault" not in caplog.text
    bert = await server.player("Bert")
    assert bert.player, "the others play on"


async def test_a_void_by_one_node_reaches_the_players_of_the_other(
    server: InProcessServer, raw: Redis, caplog: pytest.LogCaptureFixture
) -> None:
    async with beside(server) as nodes:
        anna, bert = await nodes.two()
        code = await nodes.race(anna, bert)
        await anna.moves("draw")
        await bert.moves("draw")
        await rewrite_entry(raw, f"{race_key(code, 1)}:log:{anna.player}", -1, b"r>t9")
        await raw.hincrby(race_key(code, 1), f"{anna.player}:last_id", 10**6)
        assert (
            await anna.refused(MakeMove, race=f"{code}/1", after=1, move="draw")
            == "store_unavailable"
        )
        await nodes.settle()
        await nodes.pass_time(0)
        assert voided_at(bert).race == f"{code}/1"
        assert nodes.west.node.races.known(f"{code}/1") is None
        assert (
            await bert.refused(MakeMove, race=f"{code}/1", after=1, move="draw") == "no_such_race"
        )
        assert [line.getMessage() for line in caplog.records].count("race_voided") == 1
        assert "server_fault" not in caplog.text
