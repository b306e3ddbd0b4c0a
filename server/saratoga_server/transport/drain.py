"""Seeing everybody out: in slices, so that they do not all knock at the next door at once.

Who races goes first, table by table. They are the ones to whom a pause matters: the other nodes have
not been found by anybody else yet, and should something here take too long, it is those who only look on
who are cut off without a goodbye.
"""

import asyncio
import random
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Final

from saratoga_server.live.session import Session

SLICE: Final = 10
"""Connections that are closed together."""

PAUSE: Final = 0.08
"""Seconds between two slices, on average: 125 connections a second are what a node takes in well
beside its own players (a hello, a seat and a picture of the table each)."""

LONGEST: Final = 8.0
"""Seconds for all slices together, however many they are."""


def slices(
    sessions: Iterable[Session], is_racing: Callable[[Session], bool]
) -> list[list[Session]]:
    """Who goes with whom, in the order in which they go."""
    order = sorted(
        sessions, key=lambda each: (not is_racing(each), each.seat is None, each.seat or "")
    )
    return [order[start : start + SLICE] for start in range(0, len(order), SLICE)]


def pauses(count: int, chance: Callable[[], float] = random.random) -> list[float]:
    """Seconds to wait after each of so many slices; none after the last. `chance` draws from 0 to 1."""
    mean = min(PAUSE, LONGEST / max(count, 1))
    # between half and one and a half: nodes that drain together do not stay in step
    return [mean * (0.5 + chance()) for _ in range(count - 1)] + [0.0] * (count > 0)


async def see_out(
    parties: Sequence[Sequence[Session]], leave: Callable[[Session], Awaitable[None]]
) -> None:
    """Have everybody leave, slice by slice; returns when all are gone."""
    leaving: list[asyncio.Future[None]] = []
    for party, pause in zip(parties, pauses(len(parties)), strict=True):
        leaving.extend(asyncio.ensure_future(leave(session)) for session in party)
        await asyncio.sleep(pause)
    await asyncio.gather(*leaving)
