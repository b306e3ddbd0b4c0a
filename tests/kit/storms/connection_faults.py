"""Faults of players' connections: cut, half-open, stalled; moves duplicated, reordered, repeated."""

import asyncio
import time
from collections.abc import Callable
from functools import partial
from random import Random

from kit.storms.fault import ActiveFault, Fault
from kit.storms.installation import Installation, StormPlayer
from saratoga_client.net.errors import CommandRefused, RequestTimedOut
from saratoga_protocol.commands import MakeMove

PIPELINED = 3
"""Moves that are sent at once."""

CUTS_IN_A_STORM = 3
"""The number of times that one fault cuts all connections."""

TRIED_FOR = 30.0
"""Longest time in seconds for a fault that waits for a move to take effect."""


async def _on_some_link(
    installation: Installation,
    random: Random,
    arm: Callable[[StormPlayer, Callable[[], None]], None],
    what: str,
) -> StormPlayer:
    """Set a fault on a racer's link and wait until the fault has taken effect.

    If the racer's board ends first, set the fault on another link.
    """
    loop = asyncio.get_running_loop()
    until = loop.time() + TRIED_FOR
    while loop.time() < until:
        await installation.mid_race()
        player = random.choice(installation.racing())
        happened = asyncio.Event()

        def has_happened(happened: asyncio.Event = happened) -> None:
            happened.set()
            installation.changed.set()

        arm(player, has_happened)
        await installation.until(
            what,
            lambda player=player, happened=happened: (
                happened.is_set() or not player.notes.is_racing
            ),  # type: ignore[misc]
        )
        if happened.is_set():
            return player
        player.link.stop_faults()
    raise AssertionError(f"no move was made in time for: {what}")


async def cut(installation: Installation, random: Random) -> ActiveFault:
    player = random.choice(installation.players)
    player.link.cut()
    return ActiveFault([player])


async def lose_answer(installation: Installation, random: Random) -> ActiveFault:
    player = await _on_some_link(
        installation,
        random,
        lambda player, then: player.link.cut_before_answer(then),
        "an answer lost",
    )
    return ActiveFault([player])


async def make_half_open(installation: Installation, random: Random) -> ActiveFault:
    """Make some connections half-open until their players have noticed it."""
    affected = random.sample(installation.players, 3)
    since = time.monotonic()
    for player in affected:
        player.link.go_half_open()

    unnoticed = list(affected)

    def all_have_noticed() -> bool:
        for player in list(unnoticed):
            notes = player.notes
            if not notes.is_connected or (notes.connected and notes.connected[-1] > since):
                unnoticed.remove(player)
        return not unnoticed

    await installation.until("players notice half-open connections", all_have_noticed)
    return ActiveFault(affected, partial(_cut_half_open, affected))


async def _cut_half_open(players: list[StormPlayer]) -> None:
    for player in players:
        player.link.cut_half_open()


async def stall(installation: Installation, random: Random) -> ActiveFault:
    affected = random.sample(installation.players, 2)
    for player in affected:
        player.link.stall()
    return ActiveFault(affected, partial(_stop_faults, affected))


async def _stop_faults(players: list[StormPlayer]) -> None:
    for player in players:
        player.link.stop_faults()


async def duplicate(installation: Installation, random: Random) -> ActiveFault:
    player = await _on_some_link(
        installation,
        random,
        lambda player, then: player.link.duplicate_move(then),
        "a move sent twice",
    )
    return ActiveFault([player])


async def reorder(installation: Installation, random: Random) -> ActiveFault:
    """Send several moves of a player without waiting; deliver them in another order."""
    pipelines: list[asyncio.Task[None]] = []

    def arm(player: StormPlayer, then: Callable[[], None]) -> None:
        player.link.reorder_moves(PIPELINED, random.shuffle, then)
        pipelines.append(asyncio.create_task(_pipeline(player)))

    player = await _on_some_link(installation, random, arm, "moves in another order")

    async def heal() -> None:
        await asyncio.gather(*pipelines)

    return ActiveFault([player], heal)


async def _pipeline(player: StormPlayer) -> None:
    board = player.notes.board
    assert board is not None
    player.notes.pipelined[board.race] += PIPELINED
    await asyncio.gather(
        *(_try_draw(player, board.race, board.count + ahead) for ahead in range(PIPELINED))
    )


async def _try_draw(player: StormPlayer, race: str, after: int) -> None:
    try:
        await player.bot.connection.request(partial(MakeMove, race=race, after=after, move="draw"))
    except (CommandRefused, RequestTimedOut):
        # The notes have what was accepted.
        return


async def replay(installation: Installation, random: Random) -> ActiveFault:
    """Cut a connection, and send its latest moves again over the next one."""
    player = random.choice(installation.players)
    since = time.monotonic()
    player.link.cut()
    await installation.until(
        "a new connection",
        lambda: bool(player.notes.connected) and player.notes.connected[-1] > since,
    )
    player.link.repeat_old_moves()
    return ActiveFault([player])


async def cut_all(installation: Installation, random: Random) -> ActiveFault:
    """Cut all connections at once, and again before all players have reconnected."""
    for _ in range(CUTS_IN_A_STORM):
        for player in installation.players:
            player.link.cut()
        await asyncio.sleep(random.uniform(0.05, 0.4))
    return ActiveFault(installation.players)


CONNECTION_FAULTS = (
    Fault(name="connection cut", part="connection", inject=cut, by_reconnect=True),
    Fault(name="answer lost", part="connection", inject=lose_answer, needs_play=True),
    Fault(
        name="connection half-open",
        part="connection",
        inject=make_half_open,
        needs_play=True,
        from_heal=True,
    ),
    Fault(name="reader stalled", part="connection", inject=stall, hold=(0.5, 3.0), from_heal=True),
    Fault(name="moves sent twice", part="connection", inject=duplicate, needs_play=True),
    Fault(name="moves reordered", part="connection", inject=reorder, needs_play=True),
    Fault(name="moves repeated later", part="connection", inject=replay, needs_play=True),
    Fault(name="reconnect storm", part="connection", inject=cut_all, from_heal=True),
)
