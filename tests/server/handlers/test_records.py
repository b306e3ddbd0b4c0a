"""Records of finished races."""

from kit.in_process_server import InProcessServer, gathered
from saratoga_protocol.commands import GetRecord, NextRace
from saratoga_protocol.events import Record
from saratoga_rules.records.record import parse_record


async def test_a_record_opens_when_the_race_is_over(server: InProcessServer) -> None:
    anna, bert = await server.player("Anna"), await server.player("Bert")
    code = await gathered(anna, bert)
    assert await anna.refused(GetRecord, race=f"{code}/1") == "race_running"
    await server.deal(anna, bert)
    await anna.cash_out()
    assert await anna.refused(GetRecord, race=f"{code}/1") == "race_running"
    await bert.cash_out()
    await server.settle()
    answer = await anna.ask(GetRecord, race=f"{code}/1")
    assert isinstance(answer, Record)
    assert (answer.race, parse_record(answer.text).race) == (f"{code}/1", 1)
    assert await anna.refused(GetRecord, race=f"{code}/2") == "no_such_race"


async def test_records_stay_open_while_players_gather_for_the_next_race(
    server: InProcessServer,
) -> None:
    anna = await server.player("Anna")
    code = await server.race(anna)
    await anna.cash_out()
    await server.settle()
    await anna.ask(NextRace, table=code)
    assert isinstance(await anna.ask(GetRecord, race=f"{code}/1"), Record)
    assert await anna.refused(GetRecord, race=f"{code}/2") == "race_running"


async def test_a_race_that_never_ran_has_no_record(server: InProcessServer) -> None:
    anna = await server.player("Anna")
    assert await anna.refused(GetRecord, race="odd-emu-11/1") in ("no_such_table", "no_such_race")
