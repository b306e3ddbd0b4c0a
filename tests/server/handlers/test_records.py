"""What is read: leaderboards, records, and the boards of past races."""

import asyncio
import gzip
import json

import pytest

from kit.finished_races import finished_race
from kit.in_process_server import InProcessServer, gathered
from kit.results import add_results
from saratoga_protocol.commands import (
    CreateTable,
    GetLeaderboard,
    GetRecord,
    ListTables,
)
from saratoga_protocol.events import Leaderboard, Record, Tables
from saratoga_rules.records.record import format_record, parse_record
from saratoga_server.background_tasks import BackgroundTasks
from saratoga_server.domain import replays
from saratoga_server.domain.replays import CannotReplay
from saratoga_server.domain.tables import CommandRejected
from saratoga_server.handlers import replays as module
from saratoga_server.handlers.replays import Replays, TooManyReplays
from saratoga_server.live.leaderboards import UNCHANGED_EVERY

# Records of finished races


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


# The boards of finished races: replayed once for all who ask, and kept


RECORDS = {f"mint-otter-42/{seed}": format_record(finished_race(seed=seed)) for seed in (1, 2)}


async def load(race: str) -> str:
    return RECORDS.get(race, "nothing like a record")


@pytest.fixture
def replayed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The texts that were replayed."""
    texts: list[str] = []
    really = replays.replay_json

    def note(text: str) -> bytes:
        texts.append(text)
        return really(text)

    monkeypatch.setattr(replays, "replay_json", note)
    return texts


async def test_boards_are_replayed_once_for_all_who_ask(replayed: list[str]) -> None:
    boards = Replays(load, BackgroundTasks())
    race = "mint-otter-42/1"
    told = await asyncio.gather(*(boards.boards(race) for _ in range(16)))
    assert {each.tag for each in [*told, await boards.boards(race)]} == {told[0].tag}
    assert replayed == [RECORDS[race]]
    assert len(json.loads(gzip.decompress(told[0].compressed))["boards"]) == 3


async def test_only_so_many_replays_wait_and_none_begins_while_the_node_stops(
    replayed: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MOST_WAITING", 2)
    tasks = BackgroundTasks()
    boards = Replays(load, tasks)
    waiting = [asyncio.create_task(boards.boards(race)) for race in RECORDS]
    await asyncio.sleep(0)
    with pytest.raises(TooManyReplays):
        await boards.boards("mint-otter-42/3")
    boards.stop()
    await tasks.finish()
    ended = await asyncio.gather(*waiting, return_exceptions=True)
    assert sum(isinstance(each, TooManyReplays) for each in ended) == 2 - len(replayed)
    assert len(replayed) < 2


async def test_the_boards_asked_for_longest_ago_are_dropped_first(
    replayed: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    boards = Replays(load, BackgroundTasks())
    first = await boards.boards("mint-otter-42/1")
    second = await boards.boards("mint-otter-42/2")
    largest = max(len(first.compressed), len(second.compressed))
    monkeypatch.setattr(module, "MOST_KEPT", largest)
    boards = Replays(load, BackgroundTasks())
    for number in (1, 2, 2, 1):
        await boards.boards(f"mint-otter-42/{number}")
    assert len(replayed) == 2 + 3


async def test_whoever_asks_for_boards_that_do_not_exist_is_told_why(replayed: list[str]) -> None:
    tasks = BackgroundTasks()
    boards = Replays(load, tasks)
    for _ in range(2):
        with pytest.raises(CannotReplay):
            await boards.boards("mint-otter-42/3")
    await tasks.finish()
    assert len(replayed) == 2


def test_the_boards_of_a_game_that_this_release_does_not_know_are_refused() -> None:
    newer = RECORDS["mint-otter-42/1"].replace("\nrules 1\n", "\nrules 99\n")
    with pytest.raises(CannotReplay, match="made by a newer release"):
        replays.replay_json(newer)


async def test_the_boards_of_a_race_open_when_it_is_over(server: InProcessServer) -> None:
    anna = await server.player("Anna")
    code = await server.race(anna)
    with pytest.raises(CommandRejected, match="not over"):
        await server.node.replay(f"{code}/1")
    await anna.cash_out()
    await server.settle()
    boards = json.loads(gzip.decompress((await server.node.replay(f"{code}/1")).compressed))
    (board,) = boards["boards"]
    assert (board["name"], [each["entry"] for each in board["entries"]]) == ("Anna", ["cash-out"])


# Commands about leaderboards


@pytest.mark.parametrize("ending", ["another query", "hang up"])
async def test_after_the_subscription_ends_nothing_more_is_sent(
    server: InProcessServer, ending: str
) -> None:
    anna = await server.player("Anna")
    await anna.ask(GetLeaderboard, follow=True, game="canfield", period="all")
    if ending == "another query":
        await anna.ask(GetLeaderboard, game="canfield")
    else:
        await anna.disconnect()
    told = len(anna.received.events)
    await add_results(server.store, 3)
    for _ in range(UNCHANGED_EVERY):
        await server.pass_time(1000)
    assert anna.received.events[told:] == []


async def test_a_subscription_survives_a_store_failure(server: InProcessServer) -> None:
    anna = await server.player("Anna")
    await anna.ask(GetLeaderboard, follow=True, game="canfield", period="all")
    await add_results(server.store, 3)
    told = len(anna.received.events)
    server.faults.unavailable = True
    assert await anna.refused(ListTables) == "store_unavailable"
    server.faults.unavailable = False
    for _ in range(UNCHANGED_EVERY):
        await server.pass_time(1000)
    assert len(anna.received.all(Leaderboard, told)) == 1


# The followed list of public tables


async def test_a_followed_list_of_tables_is_sent_again_when_it_has_changed(
    server: InProcessServer,
) -> None:
    anna, bert = [await server.player(name) for name in ("Anna", "Bert")]
    assert (await anna.ask(ListTables, follow=True)).tables == []
    await bert.at_table(CreateTable, game="canfield", public=True)
    for _ in range(3):
        await server.pass_time(1000)
    (told,) = [event for event in anna.received.all(Tables) if event.re is None]
    assert [(row.game, row.host) for row in told.tables] == [("canfield", "Bert")]
    assert await anna.ask(ListTables) == Tables(re=anna.last_id, tables=told.tables)
    carl = await server.player("Carl")
    await carl.at_table(CreateTable, game="caprice", public=True)
    for _ in range(3):
        await server.pass_time(1000)
    assert len([event for event in anna.received.all(Tables) if event.re is None]) == 1
