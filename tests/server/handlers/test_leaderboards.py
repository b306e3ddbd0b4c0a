"""Commands about leaderboards."""

import pytest

from kit.in_process_server import InProcessServer
from kit.results import add_results
from saratoga_protocol.commands import (
    GetLeaderboard,
    SubscribeLeaderboard,
    UnsubscribeLeaderboard,
)
from saratoga_protocol.events import Done, Leaderboard
from saratoga_server.live.leaderboards import UNCHANGED_EVERY


async def test_a_page_answers_the_command_with_the_players_own_row(server: InProcessServer) -> None:
    anna, bert = await server.player("Anna"), await server.player("Bert")
    await server.race(anna, bert)
    for racer in (anna, bert):
        await racer.moves("draw")
        await racer.cash_out()
    await server.pass_time(1000)
    page = await anna.ask(GetLeaderboard, game="canfield", period="all")
    assert isinstance(page, Leaderboard)
    assert (page.re, page.total) == (anna.last_id, 2)
    assert page.me is not None
    assert page.me.player == anna.player


async def test_an_unknown_game_has_no_leaderboard(
    server: InProcessServer,
) -> None:
    anna = await server.player("Anna")
    assert await anna.refused(GetLeaderboard, game="freecell") == "no_such_leaderboard"
    assert await anna.refused(SubscribeLeaderboard, game="freecell") == "no_such_leaderboard"


async def test_a_new_subscription_replaces_the_old_one(server: InProcessServer) -> None:
    anna = await server.player("Anna")
    await anna.ask(SubscribeLeaderboard, game="canfield", period="all")
    await anna.ask(SubscribeLeaderboard, game="caprice", period="all")
    told = len(anna.received.events)
    await add_results(server.store, 3)
    for _ in range(UNCHANGED_EVERY):
        await server.pass_time(1000)
    assert anna.received.all(Leaderboard, told) == []


@pytest.mark.parametrize("ending", ["unsubscribe", "hang up"])
async def test_after_the_subscription_ends_nothing_more_is_sent(
    server: InProcessServer, ending: str
) -> None:
    anna = await server.player("Anna")
    await anna.ask(SubscribeLeaderboard, game="canfield", period="all")
    if ending == "unsubscribe":
        assert isinstance(await anna.ask(UnsubscribeLeaderboard), Done)
    else:
        await anna.disconnect()
    told = len(anna.received.events)
    await add_results(server.store, 3)
    for _ in range(UNCHANGED_EVERY):
        await server.pass_time(1000)
    assert anna.received.events[told:] == []


async def test_a_subscription_survives_a_store_failure(server: InProcessServer) -> None:
    anna = await server.player("Anna")
    await anna.ask(SubscribeLeaderboard, game="canfield", period="all")
    await add_results(server.store, 3)
    await server.store.leaderboards.settle_outbox(10)
    told = len(anna.received.events)
    server.faults.unavailable = True
    assert await anna.refused(GetLeaderboard, game="canfield") == "store_unavailable"
    server.faults.unavailable = False
    for _ in range(UNCHANGED_EVERY):
        await server.pass_time(1000)
    assert len(anna.received.all(Leaderboard, told)) == 1
