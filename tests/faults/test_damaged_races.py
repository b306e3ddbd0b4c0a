"""Commands for a race whose stored data are damaged are refused, until an administrator closes the table."""

from collections.abc import AsyncIterator, Awaitable, Callable

import msgpack
import pytest
from redis.asyncio import Redis

from kit.in_process_server import InProcessServer, counted_down, gathered
from kit.players import MemoryPlayer
from saratoga_protocol.commands import CreateTable, GetRecord, Hello, JoinTable, LeaveTable
from saratoga_protocol.events import BoardChanged, Done, Record, Refused, Snapshot
from saratoga_rules.records.verify import verify
from saratoga_server.admin.acts import Administration
from saratoga_server.domain.tables import unpack
from saratoga_server.domain.tables.countdown import COUNTDOWN_MILLIS
from saratoga_server.live.scheduler import LOOK_EVERY, MOST_DUE
from saratoga_server.node import Node
from saratoga_server.ports import Damage, StoredBoard
from saratoga_server.store.keys import DUE, player_key, race_key, table_key

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


async def entry_illegal(raw: Redis, race: str, player: str) -> None:
    await rewrite_entry(raw, f"{race}:log:{player}", 1, b"r>t9")


async def board_gone(raw: Redis, race: str, player: str) -> None:
    await raw.delete(race)


async def racers_unreadable(raw: Redis, race: str, player: str) -> None:
    await raw.hset(race, "racers", b"\xc1")
    await rewrite_entry(raw, f"{race}:log:{player}", 1, b"\xff\x00")


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
    entry_illegal,
    board_gone,
    racers_unreadable,
    standing_unreadable,
    state_changed,
    deal_changed,
]


async def after_moves(server: InProcessServer) -> tuple[MemoryPlayer, MemoryPlayer, str]:
    anna, bert, code = await server.two_racing()
    await anna.moves("draw", "draw", "draw")
    await bert.moves("draw")
    return anna, bert, code


@pytest.mark.parametrize("harm", HARMS, ids=lambda harm: harm.__name__)
async def test_a_damaged_race_is_refused_and_logged_and_its_table_can_be_closed(
    server: InProcessServer, raw: Redis, harm: Harm, caplog: pytest.LogCaptureFixture
) -> None:
    anna, _, code = await after_moves(server)
    await harm(raw, race_key(code, 1), anna.player)
    await server.restart()
    caplog.clear()
    anna = await server.player("Anna")
    for _ in range(2):
        answer = await anna.ask(JoinTable, table=code)
        assert isinstance(answer, Refused)
        assert (answer.code, answer.retry) == ("damaged", False), answer
        await server.pass_time(int(LOOK_EVERY * 1000))
    lines = [line.getMessage() for line in caplog.records]
    assert lines.count("race_damaged") == 1
    assert "server_fault" not in lines
    cache = (await Node.for_administration(server.store)).tables
    office = Administration(stores=server.store, table_cache=cache, who="admin")
    await office.close(code, "The race is damaged.")
    await server.settle()
    assert server.state(code).phase == "closed"
    voided = server.state(code).previous
    assert voided is not None
    assert (voided.race, voided.reason) == (f"{code}/1", "closed")
    record = await anna.ask(GetRecord, race=voided.race)
    assert isinstance(record, Record)
    verdict = verify(record.text)
    assert not verdict.is_contradicted, verdict.faults
    assert isinstance(await anna.ask(CreateTable, game="canfield"), Snapshot)


async def test_the_other_racers_of_a_damaged_board_play_on_and_its_player_can_leave(
    server: InProcessServer, raw: Redis, caplog: pytest.LogCaptureFixture
) -> None:
    anna, bert, code = await after_moves(server)
    await entry_illegal(raw, race_key(code, 1), anna.player)
    await server.restart()
    bert, anna = await server.player("Bert"), await server.player("Anna")
    await bert.at_table(JoinTable, table=code)
    await bert.moves("draw")
    assert await anna.refused(JoinTable, table=code) == "damaged"
    assert isinstance(await anna.ask(LeaveTable, table=code), Done)
    assert isinstance(await bert.cash_out(), BoardChanged)
    caplog.clear()
    await server.pass_time(int(LOOK_EVERY * 1000))
    await server.pass_time(int(LOOK_EVERY * 1000))
    assert server.state(code).phase == "running"
    assert [line.getMessage() for line in caplog.records] == []


async def test_one_bad_read_is_refused_and_the_race_goes_on(
    server: InProcessServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    anna, _, code = await after_moves(server)
    await server.restart()
    load_board = server.store.boards.load_board
    bad = [Damage("the reply was cut short")]

    async def once(table: str, race: int, player: str) -> StoredBoard | None:
        if bad:
            raise bad.pop()
        return await load_board(table, race, player)

    monkeypatch.setattr(server.store.boards, "load_board", once)
    anna = await server.player("Anna")
    assert await anna.refused(JoinTable, table=code) == "damaged"
    await anna.at_table(JoinTable, table=code)
    assert (anna.board.race, anna.board.count) == (f"{code}/1", 3)


async def test_many_damaged_tables_do_not_stop_the_timers_of_the_others(
    server: InProcessServer, raw: Redis
) -> None:
    async with raw.pipeline(transaction=False) as writes:
        for number in range(MOST_DUE + 1):
            key = table_key(f"mint-otter-{number}")
            writes.hset(key, mapping={"version": 1, "body": b"\xc1"})
            writes.zadd(DUE, {f"mint-otter-{number}": 1})
        await writes.execute()
    anna = await server.player("Anna")
    code = await gathered(anna)
    await counted_down(anna)
    await server.restart()
    server.time.at += COUNTDOWN_MILLIS
    for _ in range(3):
        await server.node.scheduler.sweep()
    assert unpack((await server.stored(code))[1]).phase == "running"


@pytest.mark.parametrize("field", ["created", "name"])
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
