"""Effects of changes of a table, its looks at boards, its last racer, and what a race counts for."""

from collections.abc import Awaitable, Callable

import pytest

from kit.in_process_server import (
    InProcessServer,
    always,
    gathered,
    open_in_process_server,
)
from kit.players import MemoryPlayer
from saratoga_protocol.commands import (
    ChangeSettings,
    GetLeaderboard,
    JoinTable,
    Kick,
    LeaveTable,
    NextRace,
)
from saratoga_protocol.events import MatchChanged, RaceOver
from saratoga_server.domain.tables.timers import ABSENCE_MILLIS
from saratoga_server.live.scheduler import LOOK_EVERY

# The effects of a change of a table


NEARLY_STUCK = "stock=- waste=7C reserve=- up=1,1,1,1 down=- columns=5C/5S/9C/9S base=1 passes=2"


async def two_racing(server: InProcessServer) -> tuple[MemoryPlayer, MemoryPlayer, str]:
    anna, bert = await server.player("Anna"), await server.player("Bert")
    return anna, bert, await server.race(anna, bert)


# Effects of a change by this node


async def test_a_match_is_sent_when_it_has_changed_and_in_every_snapshot(
    server: InProcessServer,
) -> None:
    anna, bert, carl = [await server.player(name) for name in ("Anna", "Bert", "Carl")]
    code = await gathered(anna, bert, races=3)
    await server.deal(anna, bert)
    for player in (anna, bert):
        await player.cash_out()
    await server.settle()
    (changed,) = anna.received.all(MatchChanged)
    assert changed.match is not None
    assert changed.match.finished == [f"{code}/1"]
    await anna.ask(NextRace, table=code)
    await bert.ready()
    assert anna.received.all(MatchChanged) == [changed]
    assert (await carl.at_table(JoinTable, table=code)).match == changed.match
    await anna.ask(ChangeSettings, table=code, races=1)
    assert anna.received.all(MatchChanged)[1:] == [MatchChanged(table=code, match=None)]


async def test_a_board_played_on_another_node_is_not_searched_here() -> None:
    async with open_in_process_server(always(NEARLY_STUCK)) as server:
        anna, bert, code = await two_racing(server)
        await server.restart(always(NEARLY_STUCK))
        newer = await server.player("Anna")
        await newer.at_table(JoinTable, table=code)
        server.time.at += int(LOOK_EVERY * 1000)
        await server.node.scheduler.look_over_boards()
        await server.settle()
        states = [(await server.board(code, each.player)).state for each in (anna, bert)]
        assert states == ["stuck", "racing"]


# Which races count for the leaderboards: this is fixed when the race starts, and no racer can change it


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
    """Wait for the end of the race; return whether it was ranked."""
    await server.settle()
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
