"""Leaderboards: pages, subscriptions, and results on their way there."""

import pytest

from kit.guests import GuestInMemory
from kit.results import add_results
from kit.rooms import HouseInMemory, always, house_in_memory
from saratoga_protocol.commands import (
    GetLeaderboard,
    SubscribeLeaderboard,
)
from saratoga_protocol.events import Leaderboard
from saratoga_server.live.leaderboards import UNCHANGED_EVERY
from saratoga_server.messages.node_events import RaceVoided
from saratoga_server.ports import BoardKey, PlayerRow, RankedRow

BANKS_SOME = (
    "stock=5C6C7C8C9CTC waste=- reserve=- up=1,1,1,1 down=- columns=2D/2H/2C/2S base=1 passes=1"
)
DAY = 86_400_000


async def raced(rooms: HouseInMemory, *racers: GuestInMemory, banks: tuple[int, ...]) -> str:
    """A race in which each banks so many cards more than were dealt; returns its id."""
    code = await rooms.race(*racers)
    for racer, count in zip(racers, banks, strict=True):
        await racer.moves(*["t1>up", "t2>up", "t3>up", "t4>up"][:count], "draw")
    for racer in racers:
        await racer.cash_out()
    await rooms.settle()
    return f"{code}/1"


def rows(page: Leaderboard) -> list[tuple[int, str, int]]:
    return [(row.rank, row.name, row.value) for row in page.rows]


@pytest.fixture
async def after_a_race() -> tuple[HouseInMemory, GuestInMemory, GuestInMemory, str]:
    opened = house_in_memory(always(BANKS_SOME))
    rooms = await opened.__aenter__()
    anna, bert = await rooms.guest("Anna"), await rooms.guest("Bert")
    return rooms, anna, bert, await raced(rooms, anna, bert, banks=(2, 3))


TableState = tuple[HouseInMemory, GuestInMemory, GuestInMemory, str]


@pytest.mark.parametrize("period", ["day", "week", "month", "all"])
async def test_a_ranked_race_is_on_the_leaderboards(after_a_race: TableState, period: str) -> None:
    _, anna, bert, race = after_a_race
    best = await anna.ask(GetLeaderboard, game="canfield", period=period)
    assert rows(best) == [(1, "Bert", 7), (2, "Anna", 6)]
    assert best.me is not None
    assert (best.me.rank, best.me.player, best.me.race) == (2, anna.player, race)
    assert (best.total, best.offset, best.bots, best.re) == (2, 0, False, anna.last_id)
    bankroll = await bert.ask(GetLeaderboard, game="canfield", ranking="bankroll", period=period)
    assert rows(bankroll) == [(1, "Bert", -15), (2, "Anna", -20)]


async def test_other_games_and_bots_have_leaderboards_of_their_own(
    after_a_race: TableState,
) -> None:
    _, anna, _, _ = after_a_race
    for other in ({"game": "caprice"}, {"game": "canfield", "bots": True}):
        page = await anna.ask(GetLeaderboard, **other)
        assert (page.rows, page.total, page.me) == ([], 0, None)


async def test_a_result_counts_in_the_periods_of_its_start(after_a_race: TableState) -> None:
    rooms, anna, _, _ = after_a_race
    rooms.time.at += 31 * DAY
    for period, count in (("day", 0), ("week", 0), ("month", 0), ("all", 2)):
        page = await anna.ask(GetLeaderboard, game="canfield", period=period)
        assert page.total == count


async def test_results_that_could_not_be_read_are_counted_and_shown_once_they_can(
    rooms: HouseInMemory,
) -> None:
    anna = await rooms.guest("Anna")
    await anna.ask(SubscribeLeaderboard, game="canfield", period="all")
    add_results(rooms.fake, 2)
    known = [PlayerRow(player=f"{number:016}", token_hash="") for number in range(2)]
    rooms.fake.players.update({row.player: row for row in known})
    rooms.fake.unread, rooms.fake.outbox = [b"\xc1ruined", *rooms.fake.outbox], []
    await rooms.house.leaderboards.settle_unread()
    assert rooms.house.metrics.unread_results == 1
    await rooms.pass_time(1000)
    assert [page.total for page in anna.heard.all(Leaderboard)] == [0, 2]


async def test_a_leaderboard_is_shown_page_by_page(rooms: HouseInMemory) -> None:
    anna = await rooms.guest("Anna")
    add_results(rooms.fake, 30)
    await rooms.pass_time(1000)
    page = await anna.ask(GetLeaderboard, game="canfield", offset=10, limit=5)
    assert [row.rank for row in page.rows] == [11, 12, 13, 14, 15]
    assert (page.total, page.offset) == (30, 10)
    assert {row.name for row in page.rows} == {"(forgotten)"}
    assert (await anna.ask(GetLeaderboard, game="canfield", offset=100)).rows == []


async def test_a_page_around_the_player_has_their_row_in_the_middle() -> None:
    async with house_in_memory(always(BANKS_SOME)) as rooms:
        anna, bert = await rooms.guest("Anna"), await rooms.guest("Bert")
        add_results(rooms.fake, 30)
        await raced(rooms, anna, bert, banks=(4, 1))
        await rooms.pass_time(1000)
        page = await anna.ask(GetLeaderboard, game="canfield", around_me=True, limit=5)
        ranks = [row.rank for row in page.rows]
        assert page.me is not None
        assert page.me.rank == 31
        assert ranks == [29, 30, 31, 32]
        stranger = await rooms.guest("Cleo")
        first = await stranger.ask(GetLeaderboard, game="canfield", around_me=True, limit=5)
        assert (first.offset, first.me) == (0, None)


# Subscriptions


async def test_a_followed_leaderboard_is_sent_again_after_a_race() -> None:
    async with house_in_memory(always(BANKS_SOME)) as rooms:
        anna, bert, wanda = [await rooms.guest(name) for name in ("Anna", "Bert", "Wanda")]
        now = await wanda.ask(SubscribeLeaderboard, game="canfield", period="all")
        assert isinstance(now, Leaderboard)
        assert (now.rows, now.re) == ([], wanda.last_id)
        told = len(wanda.heard.events)
        await raced(rooms, anna, bert, banks=(1, 2))
        await rooms.pass_time(1000)
        (page,) = wanda.heard.all(Leaderboard, told)
        assert (rows(page), page.re) == ([(1, "Bert", 6), (2, "Anna", 5)], None)
        await rooms.pass_time(1000 * UNCHANGED_EVERY)
        assert len(wanda.heard.all(Leaderboard, told)) == 1, "nothing has changed since"


async def test_followers_are_sent_the_leaderboard_without_a_voided_race(
    after_a_race: TableState,
) -> None:
    rooms, anna, _, race = after_a_race
    await anna.ask(SubscribeLeaderboard, game="canfield", period="all")
    await rooms.pass_time(1000)
    told = len(anna.heard.events)
    assert await rooms.store.leaderboards.void_race("canfield", race)
    await rooms.house.admin_events.apply(RaceVoided(race, "canfield"))
    await rooms.pass_time(1000)
    (page,) = anna.heard.all(Leaderboard, told)
    assert (page.rows, page.total, page.me) == ([], 0, None)


async def test_results_that_another_node_settled_are_found_within_a_few_sends(
    rooms: HouseInMemory,
) -> None:
    anna = await rooms.guest("Anna")
    await anna.ask(SubscribeLeaderboard, game="canfield", period="all")
    add_results(rooms.fake, 3)
    await rooms.store.leaderboards.settle_outbox(10)
    told = len(anna.heard.events)
    for _ in range(UNCHANGED_EVERY):
        await rooms.pass_time(1000)
    (page,) = anna.heard.all(Leaderboard, told)
    assert page.total == 3


async def test_a_page_with_many_followers_is_read_once(
    rooms: HouseInMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    guests = [await rooms.guest(name) for name in ("Anna", "Bert", "Cleo", "Dan")]
    for guest in guests[:3]:
        await guest.ask(SubscribeLeaderboard, game="canfield", period="all")
    await guests[3].ask(SubscribeLeaderboard, game="canfield", period="week")
    add_results(rooms.fake, 3)
    told = [len(guest.heard.events) for guest in guests]
    pages: list[BoardKey] = []
    names: list[list[str]] = []
    read, load_names = rooms.store.leaderboards.page, rooms.store.players.load_names

    async def page(key: BoardKey, offset: int, limit: int) -> tuple[int, list[RankedRow]]:
        pages.append(key)
        return await read(key, offset, limit)

    async def noted_names(players: list[str]) -> dict[str, str]:
        names.append(players)
        return await load_names(players)

    monkeypatch.setattr(rooms.store.leaderboards, "page", page)
    monkeypatch.setattr(rooms.store.players, "load_names", noted_names)
    await rooms.store.leaderboards.settle_outbox(10)
    rooms.house.leaderboards.changed("canfield")
    await rooms.house.leaderboards.send_changes()
    shown = [
        guest.heard.all(Leaderboard, before) for guest, before in zip(guests, told, strict=True)
    ]
    assert [len(each) for each in shown] == [1] * 4
    assert [len(page.rows) for (page,) in shown] == [3] * 4
    assert len(pages) == len(set(pages)) == 2
    assert len(names) == 1
