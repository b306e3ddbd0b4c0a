"""Leaderboards: pages, subscriptions, and results that are not settled yet."""

from collections.abc import AsyncIterator

import pytest

from kit.in_process_server import InProcessServer, always, open_in_process_server
from kit.players import MemoryPlayer
from kit.results import add_results
from saratoga_protocol.commands import (
    GetLeaderboard,
    SubscribeLeaderboard,
)
from saratoga_protocol.events import Leaderboard
from saratoga_server.live.leaderboards import UNCHANGED_EVERY
from saratoga_server.messages.node_events import RaceVoided
from saratoga_server.store.leaderboards import BoardKey, RankedRow

BANKS_SOME = (
    "stock=5C6C7C8C9CTC waste=- reserve=- up=1,1,1,1 down=- columns=2D/2H/2C/2S base=1 passes=1"
)
DAY = 86_400_000


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


@pytest.fixture
async def after_a_race() -> AsyncIterator["AfterRace"]:
    async with open_in_process_server(always(BANKS_SOME)) as server:
        anna, bert = await server.player("Anna"), await server.player("Bert")
        yield server, anna, bert, await raced(server, anna, bert, banks=(2, 3))


AfterRace = tuple[InProcessServer, MemoryPlayer, MemoryPlayer, str]


@pytest.mark.parametrize("period", ["day", "week", "month", "all"])
async def test_a_ranked_race_is_on_the_leaderboards(after_a_race: AfterRace, period: str) -> None:
    _, anna, bert, race = after_a_race
    best = await anna.ask(GetLeaderboard, game="canfield", period=period)
    assert rows(best) == [(1, "Bert", 7), (2, "Anna", 6)]
    assert best.me is not None
    assert (best.me.rank, best.me.player, best.me.race) == (2, anna.player, race)
    assert (best.total, best.offset, best.bots, best.re) == (2, 0, False, anna.last_id)
    bankroll = await bert.ask(GetLeaderboard, game="canfield", ranking="bankroll", period=period)
    assert rows(bankroll) == [(1, "Bert", -15), (2, "Anna", -20)]


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
        now = await wanda.ask(SubscribeLeaderboard, game="canfield", period="all")
        assert isinstance(now, Leaderboard)
        assert (now.rows, now.re) == ([], wanda.last_id)
        told = len(wanda.received.events)
        await raced(server, anna, bert, banks=(1, 2))
        await server.pass_time(1000)
        (page,) = wanda.received.all(Leaderboard, told)
        assert (rows(page), page.re) == ([(1, "Bert", 6), (2, "Anna", 5)], None)
        await server.pass_time(1000 * UNCHANGED_EVERY)
        assert len(wanda.received.all(Leaderboard, told)) == 1, "nothing has changed since"


async def test_followers_are_sent_the_leaderboard_without_a_voided_race(
    after_a_race: AfterRace,
) -> None:
    server, anna, _, race = after_a_race
    await anna.ask(SubscribeLeaderboard, game="canfield", period="all")
    await server.pass_time(1000)
    told = len(anna.received.events)
    assert await server.store.leaderboards.void_race("canfield", race)
    await server.node.admin_events.apply(RaceVoided(race, "canfield"))
    await server.pass_time(1000)
    (page,) = anna.received.all(Leaderboard, told)
    assert (page.rows, page.total, page.me) == ([], 0, None)


async def test_results_that_another_node_settled_are_found_within_a_few_sends(
    server: InProcessServer,
) -> None:
    anna = await server.player("Anna")
    await anna.ask(SubscribeLeaderboard, game="canfield", period="all")
    await add_results(server.store, 3)
    await server.store.leaderboards.settle_outbox(10)
    told = len(anna.received.events)
    for _ in range(UNCHANGED_EVERY):
        await server.pass_time(1000)
    (page,) = anna.received.all(Leaderboard, told)
    assert page.total == 3


async def test_a_page_with_many_followers_is_read_once(
    server: InProcessServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    players = [await server.player(name) for name in ("Anna", "Bert", "Cleo", "Dan")]
    for player in players[:3]:
        await player.ask(SubscribeLeaderboard, game="canfield", period="all")
    await players[3].ask(SubscribeLeaderboard, game="canfield", period="week")
    await add_results(server.store, 3)
    told = [len(player.received.events) for player in players]
    pages: list[BoardKey] = []
    names: list[list[str]] = []
    read, load_names = server.store.leaderboards.page, server.store.players.load_names

    async def page(key: BoardKey, offset: int, limit: int) -> tuple[int, list[RankedRow]]:
        pages.append(key)
        return await read(key, offset, limit)

    async def noted_names(players: list[str]) -> dict[str, str]:
        names.append(players)
        return await load_names(players)

    monkeypatch.setattr(server.store.leaderboards, "page", page)
    monkeypatch.setattr(server.store.players, "load_names", noted_names)
    await server.store.leaderboards.settle_outbox(10)
    server.node.leaderboards.changed("canfield")
    await server.node.leaderboards.send_changes()
    shown = [
        player.received.all(Leaderboard, before)
        for player, before in zip(players, told, strict=True)
    ]
    assert [len(each) for each in shown] == [1] * 4
    assert [len(page.rows) for (page,) in shown] == [3] * 4
    assert len(pages) == len(set(pages)) == 2
    assert len(names) == 1
