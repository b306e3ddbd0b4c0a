"""After a restore, every open table goes on with higher race numbers."""

from kit.in_process_server import InProcessServer, gathered
from saratoga_protocol.commands import GetRecord
from saratoga_protocol.events import Dealt, MoveMade, Record
from saratoga_rules.records.record import parse_record
from saratoga_rules.records.verify import verify
from saratoga_server.admin.renumber import renumber
from saratoga_server.app import compose_table_cache
from saratoga_server.domain.tables.restored import LEAST_GAP


async def test_tables_race_on_under_higher_numbers_and_their_records_verify(
    server: InProcessServer,
) -> None:
    anna, bert = await server.player("Anna"), await server.player("Bert")
    code, other = await gathered(anna), await server.race(bert)
    cache = await compose_table_cache(server.store)
    assert await renumber(server.store, cache) == 2
    assert cache.all() == []
    await server.settle()
    race = f"{code}/{2 + LEAST_GAP}"
    assert anna.table.race == race
    assert isinstance(await bert.cash_out(), MoveMade), "a running race goes on"
    await server.settle()
    assert bert.table.race == f"{other}/1"
    await server.deal(anna)
    assert [dealt.board.race for dealt in anna.received.all(Dealt)] == [race]
    await anna.cash_out()
    await server.settle()
    answer = await anna.ask(GetRecord, race=race)
    assert isinstance(answer, Record)
    assert verify(answer.text).ok, verify(answer.text).faults
    assert parse_record(answer.text).race == 2 + LEAST_GAP


async def test_a_table_that_cannot_be_read_holds_up_no_other(server: InProcessServer) -> None:
    anna, bert = await server.player("Anna"), await server.player("Bert")
    code, damaged = await gathered(anna), await gathered(bert)
    await server.store.rewrite(damaged, b"\xc1")
    assert await renumber(server.store, await compose_table_cache(server.store)) == 1
    await server.settle()
    assert anna.table.race == f"{code}/{2 + LEAST_GAP}"
