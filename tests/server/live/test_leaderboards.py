"""Leaderboards and records, as players ask for them."""

import pytest

from kit.guests import GuestInMemory
from kit.results import result_of
from kit.rooms import HouseInMemory, always, gathered, house_in_memory
from saratoga_protocol.commands import (
    GetLeaderboard,
    GetRecord,
    NextRace,
    SubscribeLeaderboard,
    UnsubscribeLeaderboard,
)
from saratoga_protocol.events import Done, Leaderboard, Record
from saratoga_rules.record import parse_record
from saratoga_server.handlers.leaderboards import UNCHANGED_EVERY
from saratoga_server.messages.node_events import RaceVoided
from saratoga_server.messages.settlements import pack_settlement
from saratoga_server.ports import BoardKey, Millis, PlayerRow, RankedRow, Settlement

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


Evening = tuple[HouseInMemory, GuestInMemory, GuestInMemory, str]


@pytest.mark.parametrize("period", ["day", "week", "month", "all"])
async def test_a_ranked_race_enters_the_leaderboards(after_a_race: Evening, period: str) -> None:
    _, anna, bert, race = after_a_race
    best = await anna.ask(GetLeaderboard, game="canfield", period=period)
    assert rows(best) == [(1, "Bert", 7), (2, "Anna", 6)]
    assert best.me is not None
    assert (best.me.rank, best.me.player, best.me.race) == (2, anna.player, race)
    assert (best.total, best.offset, best.bots, best.re) == (2, 0, False, anna.last_id)
    bankroll = await bert.ask(GetLeaderboard, game="canfield", ranking="bankroll", period=period)
    assert rows(bankroll) == [(1, "Bert", -15), (2, "Anna", -20)]


async def test_other_games_and_the_bots_have_leaderboards_of_their_own(
    after_a_race: Evening,
) -> None:
    _, anna, _, _ = after_a_race
    for other in ({"game": "caprice"}, {"game": "canfield", "bots": True}):
        page = await anna.ask(GetLeaderboard, **other)
        assert (page.rows, page.total, page.me) == ([], 0, None)


async def test_there_is_no_leaderboard_of_a_game_that_is_not_there(
    rooms: HouseInMemory,
) -> None:
    anna = await rooms.guest("Anna")
    assert await anna.refused(GetLeaderboard, game="klondike") == "no_such_leaderboard"
    assert await anna.refused(SubscribeLeaderboard, game="klondike") == "no_such_leaderboard"


async def test_yesterdays_results_are_not_todays(after_a_race: Evening) -> None:
    rooms, anna, _, _ = after_a_race
    rooms.time.at += 31 * DAY
    for period, count in (("day", 0), ("week", 0), ("month", 0), ("all", 2)):
        page = await anna.ask(GetLeaderboard, game="canfield", period=period)
        assert page.total == count


def many(rooms: HouseInMemory, count: int) -> None:
    """So many results of others, the first with the most cards."""
    rooms.fake.outbox.append(
        pack_settlement(
            Settlement(
                race="odd-emu-11/1",
                game="canfield",
                start_at=Millis(rooms.time.at),
                results=tuple(
                    result_of(f"{number:016}", bot=False, banked=52 - number, net=0, reached=5)
                    for number in range(count)
                ),
            )
        )
    )


async def test_results_put_by_are_counted_and_shown_once_they_can_be_read(
    rooms: HouseInMemory,
) -> None:
    anna = await rooms.guest("Anna")
    await anna.ask(SubscribeLeaderboard, game="canfield", period="all")
    many(rooms, 2)
    known = [PlayerRow(player=f"{number:016}", token_hash="") for number in range(2)]
    rooms.fake.players.update({row.player: row for row in known})
    rooms.fake.unread, rooms.fake.outbox = [b"\xc1ruined", *rooms.fake.outbox], []
    await rooms.house.leaderboards.settle_unread()
    assert rooms.house.metrics.unread_results == 1
    await rooms.pass_time(1000)
    assert [page.total for page in anna.heard.all(Leaderboard)] == [0, 2]


async def test_a_leaderboard_is_shown_page_by_page(rooms: HouseInMemory) -> None:
    anna = await rooms.guest("Anna")
    many(rooms, 30)
    await rooms.pass_time(1000)
    page = await anna.ask(GetLeaderboard, game="canfield", offset=10, limit=5)
    assert [row.rank for row in page.rows] == [11, 12, 13, 14, 15]
    assert (page.total, page.offset) == (30, 10)
    assert {row.name for row in page.rows} == {"(forgotten)"}
    assert (await anna.ask(GetLeaderboard, game="canfield", offset=100)).rows == []


async def test_the_page_around_me_has_my_row_in_the_middle() -> None:
    async with house_in_memory(always(BANKS_SOME)) as rooms:
        anna, bert = await rooms.guest("Anna"), await rooms.guest("Bert")
        many(rooms, 30)
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


async def test_a_followed_leaderboard_is_shown_again_after_a_race() -> None:
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


async def test_a_voided_race_is_taken_off_before_the_followers_eyes(
    after_a_race: Evening,
) -> None:
    rooms, anna, _, race = after_a_race
    await anna.ask(SubscribeLeaderboard, game="canfield", period="all")
    await rooms.pass_time(1000)
    told = len(anna.heard.events)
    assert await rooms.store.leaderboards.void_race("canfield", race)
    await rooms.orders.apply(RaceVoided(race, "canfield"))
    await rooms.pass_time(1000)
    (page,) = anna.heard.all(Leaderboard, told)
    assert (page.rows, page.total, page.me) == ([], 0, None)


async def test_what_other_nodes_settle_is_seen_after_a_few_looks(
    rooms: HouseInMemory,
) -> None:
    anna = await rooms.guest("Anna")
    await anna.ask(SubscribeLeaderboard, game="canfield", period="all")
    many(rooms, 3)
    await rooms.store.leaderboards.settle_outbox(10)
    told = len(anna.heard.events)
    for _ in range(UNCHANGED_EVERY):
        await rooms.pass_time(1000)
    (page,) = anna.heard.all(Leaderboard, told)
    assert page.total == 3


async def test_what_many_follow_is_read_once_for_all_of_them(
    rooms: HouseInMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    guests = [await rooms.guest(name) for name in ("Anna", "Bert", "Cleo", "Dan")]
    for guest in guests[:3]:
        await guest.ask(SubscribeLeaderboard, game="canfield", period="all")
    await guests[3].ask(SubscribeLeaderboard, game="canfield", period="week")
    many(rooms, 3)
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


async def test_a_new_subscription_takes_the_place_of_the_old(rooms: HouseInMemory) -> None:
    anna = await rooms.guest("Anna")
    await anna.ask(SubscribeLeaderboard, game="canfield", period="all")
    await anna.ask(SubscribeLeaderboard, game="caprice", period="all")
    told = len(anna.heard.events)
    many(rooms, 3)
    for _ in range(UNCHANGED_EVERY):
        await rooms.pass_time(1000)
    assert anna.heard.all(Leaderboard, told) == []


@pytest.mark.parametrize("ending", ["unsubscribe", "hang up"])
async def test_who_stops_following_hears_no_more(rooms: HouseInMemory, ending: str) -> None:
    anna = await rooms.guest("Anna")
    await anna.ask(SubscribeLeaderboard, game="canfield", period="all")
    if ending == "unsubscribe":
        assert isinstance(await anna.ask(UnsubscribeLeaderboard), Done)
    else:
        await anna.hang_up()
    told = len(anna.heard.events)
    many(rooms, 3)
    for _ in range(UNCHANGED_EVERY):
        await rooms.pass_time(1000)
    assert anna.heard.events[told:] == []


async def test_a_store_that_is_away_breaks_no_subscription(rooms: HouseInMemory) -> None:
    anna = await rooms.guest("Anna")
    await anna.ask(SubscribeLeaderboard, game="canfield", period="all")
    many(rooms, 3)
    await rooms.store.leaderboards.settle_outbox(10)
    told = len(anna.heard.events)
    rooms.fake.unavailable = True
    assert await anna.refused(GetLeaderboard, game="canfield") == "store_unavailable"
    rooms.fake.unavailable = False
    for _ in range(UNCHANGED_EVERY):
        await rooms.pass_time(1000)
    assert len(anna.heard.all(Leaderboard, told)) == 1


# Records


async def test_a_record_opens_when_the_race_is_over(rooms: HouseInMemory) -> None:
    anna, bert = await rooms.guest("Anna"), await rooms.guest("Bert")
    code = await gathered(anna, bert)
    assert await anna.refused(GetRecord, race=f"{code}/1") == "race_running"
    await rooms.deal(anna, bert)
    await anna.cash_out()
    assert await anna.refused(GetRecord, race=f"{code}/1") == "race_running"
    await bert.cash_out()
    await rooms.settle()
    answer = await anna.ask(GetRecord, race=f"{code}/1")
    assert isinstance(answer, Record)
    assert (answer.race, parse_record(answer.text).race) == (f"{code}/1", 1)
    assert await anna.refused(GetRecord, race=f"{code}/2") == "no_such_race"


async def test_records_stay_open_while_the_next_race_is_gathered(
    rooms: HouseInMemory,
) -> None:
    anna = await rooms.guest("Anna")
    code = await rooms.race(anna)
    await anna.cash_out()
    await rooms.settle()
    await anna.ask(NextRace, table=code)
    assert isinstance(await anna.ask(GetRecord, race=f"{code}/1"), Record)
    assert await anna.refused(GetRecord, race=f"{code}/2") == "race_running"


async def test_there_is_no_record_of_a_race_that_never_was(rooms: HouseInMemory) -> None:
    anna = await rooms.guest("Anna")
    assert await anna.refused(GetRecord, race="odd-emu-11/1") in ("no_such_table", "no_such_race")
