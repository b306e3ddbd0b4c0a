"""Which races count for the leaderboards: this is fixed when the race starts, and no racer can change it."""

from collections.abc import Awaitable, Callable

import pytest

from kit.in_process_server import InProcessServer, always, gathered, open_in_process_server
from kit.players import MemoryPlayer
from saratoga_protocol.commands import GetLeaderboard, Kick, LeaveTable, NextRace
from saratoga_protocol.events import RaceOver
from saratoga_server.domain.tables import RankedTables
from saratoga_server.domain.tables.timers import ABSENCE_MILLIS

BANKS_SOME = (
    "stock=5C6C7C8C9CTC waste=- reserve=- up=1,1,1,1 down=- columns=2D/2H/2C/2S base=1 passes=1"
)
"""A deal with four cards banked: a board without a move nets -$30."""

TEN_MINUTES = 600_000

Goes = Callable[[InProcessServer, MemoryPlayer, MemoryPlayer], Awaitable[object]]
"""A way in which a player's puppet ends its board without a move."""


async def cashes_out(server: InProcessServer, host: MemoryPlayer, puppet: MemoryPlayer) -> None:
    await puppet.cash_out()


async def leaves_and_is_kicked(
    server: InProcessServer, host: MemoryPlayer, puppet: MemoryPlayer
) -> None:
    code = host.table.code
    assert await host.refused(Kick, table=code, player=puppet.player) == "wrong_phase"
    await puppet.ask(LeaveTable, table=code)
    assert await host.refused(Kick, table=code, player=puppet.player) == "no_such_player"


async def disconnects(server: InProcessServer, host: MemoryPlayer, puppet: MemoryPlayer) -> None:
    await puppet.disconnect()
    await server.pass_time(ABSENCE_MILLIS)


async def stays_idle(server: InProcessServer, host: MemoryPlayer, puppet: MemoryPlayer) -> None:
    await server.pass_time(TEN_MINUTES)


async def is_over(server: InProcessServer, player: MemoryPlayer) -> bool:
    """Wait for the end of the race and for the leaderboards; return whether the race was ranked."""
    await server.settle()
    await server.node.leaderboards.settle()
    (race,) = [
        each.outcome
        for each in player.received.all(RaceOver)
        if each.outcome.race == player.table.race
    ]
    return race.ranked


async def bankrolls(player: MemoryPlayer, *, bots: bool = False) -> dict[str, tuple[int, int]]:
    """Return everyone's net and number of races on today's leaderboard, by name."""
    page = await player.ask(GetLeaderboard, game="canfield", ranking="bankroll", bots=bots)
    return {row.name: (row.value, row.races) for row in page.rows}


@pytest.mark.parametrize("goes", [cashes_out, leaves_and_is_kicked, disconnects, stays_idle])
async def test_a_puppet_that_never_moves_cannot_unrank_a_race(goes: Goes) -> None:
    async with open_in_process_server(always(BANKS_SOME)) as server:
        anna, puppet = await server.player("Anna"), await server.player("Puppet")
        await server.race(anna, puppet)
        assert anna.table.ranked
        await anna.moves("t1>up", "t2>up")
        await anna.cash_out()
        await goes(server, anna, puppet)
        assert await is_over(server, anna)
        assert await bankrolls(anna) == {"Anna": (-20, 1), "Puppet": (-30, 1)}


async def test_a_puppet_cannot_choose_by_its_moves_which_races_count() -> None:
    async with open_in_process_server(always(BANKS_SOME)) as server:
        anna, puppet = await server.player("Anna"), await server.player("Puppet")
        code = await server.race(anna, puppet)
        for banked in (0, 4):
            if banked:
                await anna.moves(*["t1>up", "t2>up", "t3>up", "t4>up"][:banked])
                await puppet.moves("draw")
            for player in (anna, puppet):
                await player.cash_out()
            assert await is_over(server, anna)
            if not banked:
                await anna.ask(NextRace, table=code)
                assert not anna.table.ranked, "the next race has not started"
                await server.deal(anna, puppet)
        assert await bankrolls(anna) == {"Anna": (-40, 2), "Puppet": (-60, 2)}


async def test_rows_show_against_how_many_different_people() -> None:
    async with open_in_process_server(always(BANKS_SOME)) as server:
        anna, bert, otto = [
            await server.player(name, bot=name == "Otto") for name in ("Anna", "Bert", "Otto")
        ]
        for racers in ((anna, bert), (anna, otto), (anna, bert, otto)):
            await server.race(*racers)
            for racer in racers:
                await racer.cash_out()
            await is_over(server, anna)
            for racer in racers:
                await racer.ask(LeaveTable, table=racer.table.code)
        for ranking in ("best", "bankroll"):
            shown: dict[str, int] = {}
            for bots in (False, True):
                page = await anna.ask(
                    GetLeaderboard, game="canfield", ranking=ranking, period="week", bots=bots
                )
                shown |= {row.name: row.rivals for row in page.rows}
            assert shown == {"Anna": 1, "Bert": 1, "Otto": 2}


async def test_a_race_without_a_time_limit_counts_for_nobody() -> None:
    async with open_in_process_server(always(BANKS_SOME)) as server:
        racers = [
            await server.player(name, bot=name == "Otto") for name in ("Anna", "Bert", "Otto")
        ]
        await server.race(*racers, cap=0)
        assert not racers[0].table.ranked
        for racer in racers:
            await racer.cash_out()
        assert not await is_over(server, racers[0])
        assert await bankrolls(racers[0]) == await bankrolls(racers[0], bots=True) == {}


async def test_a_person_among_bots_does_not_count_and_the_bot_does() -> None:
    async with open_in_process_server(always(BANKS_SOME)) as server:
        anna, otto = await server.player("Anna"), await server.player("Otto", bot=True)
        await server.race(anna, otto)
        assert not anna.table.ranked
        await anna.moves("t1>up")
        for racer in (anna, otto):
            await racer.cash_out()
        assert not await is_over(server, anna)
        assert await bankrolls(anna) == {}
        assert await bankrolls(anna, bots=True) == {"Otto": (-30, 1)}


@pytest.mark.parametrize("public", [True, False])
async def test_a_server_may_count_only_the_races_of_public_tables(public: bool) -> None:
    async with open_in_process_server(always(BANKS_SOME), RankedTables.PUBLIC) as server:
        racers = [
            await server.player(name, bot=name == "Otto") for name in ("Anna", "Bert", "Otto")
        ]
        await gathered(*racers, public=public)
        await server.deal(*racers)
        assert racers[0].table.ranked is public
        for racer in racers:
            await racer.cash_out()
        assert await is_over(server, racers[0]) is public
        assert len(await bankrolls(racers[0])) == 2 * public
        assert len(await bankrolls(racers[0], bots=True)) == public
