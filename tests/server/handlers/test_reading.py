"""Lists that many look at, and what is read: tables, leaderboards, records, boards of past races."""

import asyncio
import gzip
import json

import pytest

from kit.in_process_server import InProcessServer, always, gathered, listed, open_in_process_server
from kit.players import MemoryPlayer
from kit.session_states import finished_race
from kit.tables import SEED, finish_race, result_of
from saratoga_protocol.commands import (
    ChangeSettings,
    CreateTable,
    GetLeaderboard,
    GetPar,
    GetRecord,
    ListTables,
    NextRace,
)
from saratoga_protocol.events import Leaderboard, Par, Record, Tables
from saratoga_rules.moves import parse_move
from saratoga_rules.play import play
from saratoga_rules.records.record import format_record, parse_record
from saratoga_rules.records.replay import game_of
from saratoga_server.background_tasks import BackgroundTasks
from saratoga_server.domain import replays
from saratoga_server.domain.tables import CommandRejected, close
from saratoga_server.handlers import records as module
from saratoga_server.handlers.records import Replays, TooManyReplays
from saratoga_server.limits import RateLimiter
from saratoga_server.live import pars
from saratoga_server.live.leaderboards import UNCHANGED_EVERY
from saratoga_server.live.public_tables import MOST_PLACES
from saratoga_server.ports import Settlement
from saratoga_server.store.opening import Store

# The list of public tables, which is right also after restarts


async def opened_by(
    server: InProcessServer, name: str, address: str, public: bool = True
) -> MemoryPlayer:
    """Connect a player from this address, who opens a table."""
    player = await server.player(name)
    player.session.address = address
    player.session.quota = RateLimiter(lambda: 0.0).open(address)
    await player.at_table(CreateTable, game="canfield", public=public)
    return player


async def test_one_address_has_eight_places_until_one_of_its_tables_is_private_or_closed(
    server: InProcessServer,
) -> None:
    first, second, *_ = [
        await opened_by(server, f"Crowd {number}", f"2001:db8:0:{number}::1")  # one household
        for number in range(MOST_PLACES)
    ]
    ninth = await opened_by(server, "Nina", "2001:db8::99", public=False)
    public = {"table": ninth.table.code, "public": True}
    assert await ninth.refused(ChangeSettings, **public) == "bad_settings"
    assert await second.refused(CreateTable, game="canfield", public=True) == "bad_settings"
    other = await opened_by(server, "Otto", "2001:db8:0:100::1")
    assert len(await listed(other)) == MOST_PLACES + 1
    await first.ask(ChangeSettings, table=first.table.code, public=False)
    await ninth.ask(ChangeSettings, **public)
    names = [name for name, *_ in await listed(other)]
    assert ("Nina" in names, "Crowd 0" in names) == (True, False)
    assert (
        await first.refused(ChangeSettings, table=first.table.code, public=True) == "bad_settings"
    )
    await server.node.tables.change(
        second.table.code,
        lambda state, now: close(state, "Closing time.", now=now, fresh_seed=SEED),
    )
    await first.ask(ChangeSettings, table=first.table.code, public=True)


# Leaderboards: pages, subscriptions, and results that are not settled yet


BANKS_SOME = (
    "stock=5C6C7C8C9CTC waste=- reserve=- up=1,1,1,1 down=- columns=2D/2H/2C/2S base=1 passes=1"
)


async def raced(server: InProcessServer, *racers: MemoryPlayer, banks: tuple[int, ...]) -> str:
    """Finish a race in which each racer banks that many cards; return the race's id."""
    code = await server.race(*racers)
    for racer, count in zip(racers, banks, strict=True):
        await racer.moves(*["t1>up", "t2>up", "t3>up", "t4>up"][:count], "draw")
    for racer in racers:
        await racer.cash_out()
    await server.settle()
    return f"{code}/1"


def rows(page: Leaderboard) -> list[tuple[int, str, int]]:
    return [(row.rank, row.name, row.value) for row in page.rows]


async def test_a_ranked_race_is_on_the_leaderboards_of_every_period() -> None:
    async with open_in_process_server(always(BANKS_SOME)) as server:
        anna, bert = await server.player("Anna"), await server.player("Bert")
        race = await raced(server, anna, bert, banks=(2, 3))
        for period in ("day", "week", "month", "all"):
            asked = {"game": "canfield", "period": period}
            best = await anna.ask(GetLeaderboard, **asked)
            assert rows(best) == [(1, "Bert", 7), (2, "Anna", 6)]
            assert best.me is not None
            assert (best.me.rank, best.me.player, best.me.race) == (2, anna.player, race)
            assert (best.total, best.offset, best.bots, best.re) == (2, 0, False, anna.last_id)
            bankroll = await bert.ask(GetLeaderboard, ranking="bankroll", **asked)
            assert rows(bankroll) == [(1, "Bert", -15), (2, "Anna", -20)]


async def add_results(store: Store, count: int) -> None:
    """Put the results of a race of `count` players on the leaderboards; the first banked most."""
    settlement = Settlement(
        race="odd-emu-11/1",
        game="canfield",
        ended=await store.tables.now(),
        results=tuple(
            result_of(f"{number:016}", banked=52 - number, net=0, reached=5)
            for number in range(count)
        ),
        people=tuple(f"{number:016}" for number in range(count)),
    )
    await finish_race(store, settlement)


async def test_a_page_around_the_player_has_their_row_in_the_middle() -> None:
    async with open_in_process_server(always(BANKS_SOME)) as server:
        anna, bert = await server.player("Anna"), await server.player("Bert")
        await add_results(server.store, 30)
        await raced(server, anna, bert, banks=(4, 1))
        await server.pass_time(1000)
        page = await anna.ask(GetLeaderboard, game="canfield", around_me=True, limit=5)
        ranks = [row.rank for row in page.rows]
        assert page.me is not None
        assert page.me.rank == 31
        assert ranks == [29, 30, 31, 32]
        stranger = await server.player("Cleo")
        first = await stranger.ask(GetLeaderboard, game="canfield", around_me=True, limit=5)
        assert (first.offset, first.me) == (0, None)


# Subscriptions


async def test_a_followed_leaderboard_is_sent_again_after_a_race() -> None:
    async with open_in_process_server(always(BANKS_SOME)) as server:
        anna, bert, wanda = [await server.player(name) for name in ("Anna", "Bert", "Wanda")]
        now = await wanda.ask(GetLeaderboard, follow=True, game="canfield", period="all")
        assert isinstance(now, Leaderboard)
        assert (now.rows, now.re) == ([], wanda.last_id)
        told = len(wanda.received.events)
        await raced(server, anna, bert, banks=(1, 2))
        await server.pass_time(1000)
        (page,) = wanda.received.all(Leaderboard, told)
        assert (rows(page), page.re) == ([(1, "Bert", 6), (2, "Anna", 5)], None)
        await server.pass_time(1000 * UNCHANGED_EVERY)
        assert len(wanda.received.all(Leaderboard, told)) == 1, "nothing has changed since"


# Records of finished races


async def test_record_and_boards_open_when_the_race_is_over(server: InProcessServer) -> None:
    anna, bert = await server.player("Anna"), await server.player("Bert")
    code = await gathered(anna, bert)
    assert await anna.refused(GetRecord, race=f"{code}/1") == "race_running"
    await server.deal(anna, bert)
    await anna.cash_out()
    assert await anna.refused(GetRecord, race=f"{code}/1") == "race_running"
    with pytest.raises(CommandRejected, match="not over"):
        await server.node.replay(f"{code}/1")
    await bert.cash_out()
    await server.settle()
    answer = await anna.ask(GetRecord, race=f"{code}/1")
    assert isinstance(answer, Record)
    assert (answer.race, parse_record(answer.text).race) == (f"{code}/1", 1)
    boards = json.loads(gzip.decompress((await server.node.replay(f"{code}/1")).compressed))
    assert [board["entries"][-1]["entry"] for board in boards["boards"]] == ["cash-out"] * 2
    assert await anna.refused(GetRecord, race=f"{code}/2") == "no_such_race"


# Par


async def test_par_is_searched_for_once_the_race_is_over_and_holds_for_its_deal(
    server: InProcessServer,
) -> None:
    anna = await server.player("Anna")
    race = f"{await server.race(anna, game='lafayette')}/1"
    assert await anna.refused(GetPar, race=race) == "race_running"
    await anna.cash_out()
    await server.settle()
    assert await anna.refused(GetPar, race=race) == "too_fast"
    await server.settle()
    par = await anna.ask(GetPar, race=race)
    assert isinstance(par, Par)
    record = parse_record((await anna.ask(GetRecord, race=race)).text)
    position = record.opening
    for move in par.moves:
        position = play(game_of(record), position, parse_move(move))
    assert position.banked == par.banked > record.opening.banked


async def test_searches_for_par_wait_in_a_short_queue_and_end_with_the_node(
    server: InProcessServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pars, "MOST_WAITING", 1)
    anna = await server.player("Anna")
    code = await server.race(anna)
    for race in (1, 2):
        await anna.cash_out()
        await server.settle()
        if race == 1:
            await anna.ask(NextRace, table=code)
            await server.deal(anna)
    for race in (1, 2, 1):
        assert await anna.refused(GetPar, race=f"{code}/{race}") == "too_fast"
    server.node.pars.stop()
    await server.settle()
    assert await anna.refused(GetPar, race=f"{code}/1") == "no_such_race"
    assert await anna.refused(GetPar, race=f"{code}/2") == "too_fast", "it had no place"


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
