"""Commands about leaderboards."""

import pytest

from kit.results import add_results
from kit.rooms import HouseInMemory
from saratoga_protocol.commands import (
    GetLeaderboard,
    SubscribeLeaderboard,
    UnsubscribeLeaderboard,
)
from saratoga_protocol.events import Done, Leaderboard
from saratoga_server.live.leaderboards import UNCHANGED_EVERY


async def test_a_page_answers_the_command_with_the_players_own_row(rooms: HouseInMemory) -> None:
    anna, bert = await rooms.guest("Anna"), await rooms.guest("Bert")
    await rooms.race(anna, bert)
    for racer in (anna, bert):
        await racer.moves("draw")
        await racer.cash_out()
    await rooms.pass_time(1000)
    page = await anna.ask(GetLeaderboard, game="canfield", period="all")
    assert isinstance(page, Leaderboard)
    assert (page.re, page.total) == (anna.last_id, 2)
    assert page.me is not None
    assert page.me.player == anna.player


async def test_an_unknown_game_has_no_leaderboard(
    rooms: HouseInMemory,
) -> None:
    anna = await rooms.guest("Anna")
    assert await anna.refused(GetLeaderboard, game="klondike") == "no_such_leaderboard"
    assert await anna.refused(SubscribeLeaderboard, game="klondike") == "no_such_leaderboard"


async def test_a_new_subscription_replaces_the_old_one(rooms: HouseInMemory) -> None:
    anna = await rooms.guest("Anna")
    await anna.ask(SubscribeLeaderboard, game="canfield", period="all")
    await anna.ask(SubscribeLeaderboard, game="caprice", period="all")
    told = len(anna.heard.events)
    add_results(rooms.fake, 3)
    for _ in range(UNCHANGED_EVERY):
        await rooms.pass_time(1000)
    assert anna.heard.all(Leaderboard, told) == []


@pytest.mark.parametrize("ending", ["unsubscribe", "hang up"])
async def test_after_the_subscription_ends_nothing_more_is_sent(
    rooms: HouseInMemory, ending: str
) -> None:
    anna = await rooms.guest("Anna")
    await anna.ask(SubscribeLeaderboard, game="canfield", period="all")
    if ending == "unsubscribe":
        assert isinstance(await anna.ask(UnsubscribeLeaderboard), Done)
    else:
        await anna.hang_up()
    told = len(anna.heard.events)
    add_results(rooms.fake, 3)
    for _ in range(UNCHANGED_EVERY):
        await rooms.pass_time(1000)
    assert anna.heard.events[told:] == []


async def test_a_subscription_survives_a_store_failure(rooms: HouseInMemory) -> None:
    anna = await rooms.guest("Anna")
    await anna.ask(SubscribeLeaderboard, game="canfield", period="all")
    add_results(rooms.fake, 3)
    await rooms.store.leaderboards.settle_outbox(10)
    told = len(anna.heard.events)
    rooms.fake.unavailable = True
    assert await anna.refused(GetLeaderboard, game="canfield") == "store_unavailable"
    rooms.fake.unavailable = False
    for _ in range(UNCHANGED_EVERY):
        await rooms.pass_time(1000)
    assert len(anna.heard.all(Leaderboard, told)) == 1
