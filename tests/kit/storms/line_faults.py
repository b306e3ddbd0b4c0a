"""What befalls the lines of players: cut, dead, unread, doubled, reordered, all at once."""

import asyncio
import time
from collections.abc import Callable
from functools import partial
from random import Random

from kit.storms.fault import Blow, Fault
from kit.storms.town import Guest, Town
from saratoga_client.net.errors import CommandRefused, RequestTimedOut
from saratoga_protocol.commands import MakeMove

HURRIED = 3
"""Moves that are sent at once."""

CUTS_IN_A_STORM = 3


async def _somewhere(
    town: Town, chance: Random, arm: Callable[[Guest, Callable[[], None]], None], what: str
) -> Guest:
    """Lie in wait on a line until it has happened; if that player's board ends first, on another."""
    loop = asyncio.get_running_loop()
    until = loop.time() + 30.0
    while loop.time() < until:
        await town.mid_race()
        guest = chance.choice(town.racing())
        happened = asyncio.Event()

        def has_happened(happened: asyncio.Event = happened) -> None:
            happened.set()
            town.news.set()

        arm(guest, has_happened)
        await town.until(
            what,
            lambda guest=guest, happened=happened: happened.is_set() or not guest.notes.is_racing,  # type: ignore[misc]
        )
        if happened.is_set():
            return guest
        guest.link.stop_faults()
    raise AssertionError(f"never came to it: {what}")


async def cut(town: Town, chance: Random) -> Blow:
    guest = chance.choice(town.guests)
    guest.link.cut()
    return Blow([guest])


async def lose_answer(town: Town, chance: Random) -> Blow:
    guest = await _somewhere(
        town, chance, lambda guest, then: guest.link.cut_before_answer(then), "an answer lost"
    )
    return Blow([guest])


async def go_dead(town: Town, chance: Random) -> Blow:
    """Some lines at once, until their players have noticed."""
    struck = chance.sample(town.guests, 3)
    since = time.monotonic()
    for guest in struck:
        guest.link.go_half_open()

    unaware = list(struck)

    def all_have_noticed() -> bool:
        for guest in list(unaware):
            notes = guest.notes
            if not notes.is_connected or (notes.connected and notes.connected[-1] > since):
                unaware.remove(guest)
        return not unaware

    await town.until("players notice dead lines", all_have_noticed)
    return Blow(struck, partial(_hang_up, struck))


async def _hang_up(guests: list[Guest]) -> None:
    for guest in guests:
        guest.link.cut_half_open()


async def stall(town: Town, chance: Random) -> Blow:
    struck = chance.sample(town.guests, 2)
    for guest in struck:
        guest.link.stall()
    return Blow(struck, partial(_read_on, struck))


async def _read_on(guests: list[Guest]) -> None:
    for guest in guests:
        guest.link.stop_faults()


async def double(town: Town, chance: Random) -> Blow:
    guest = await _somewhere(
        town, chance, lambda guest, then: guest.link.duplicate_move(then), "a move sent twice"
    )
    return Blow([guest])


async def reorder(town: Town, chance: Random) -> Blow:
    """Several moves are sent in one go, each meant to follow the one before, and arrive shuffled."""
    hurries: list[asyncio.Task[None]] = []

    def arm(guest: Guest, then: Callable[[], None]) -> None:
        guest.link.reorder_moves(HURRIED, chance.shuffle, then)
        hurries.append(asyncio.create_task(_hurry(guest)))

    guest = await _somewhere(town, chance, arm, "moves in another order")

    async def heal() -> None:
        await asyncio.gather(*hurries)

    return Blow([guest], heal)


async def _hurry(guest: Guest) -> None:
    board = guest.notes.board
    assert board is not None
    guest.notes.hurried[board.race] += HURRIED
    await asyncio.gather(
        *(_try_draw(guest, board.race, board.count + ahead) for ahead in range(HURRIED))
    )


async def _try_draw(guest: Guest, race: str, after: int) -> None:
    try:
        await guest.player.house.request(partial(MakeMove, race=race, after=after, move="draw"))
    except (CommandRefused, RequestTimedOut):
        # whatever was accepted is in the notes
        return


async def replay(town: Town, chance: Random) -> Blow:
    """A line breaks, and what was sent over it before is heard again over the next one."""
    guest = chance.choice(town.guests)
    since = time.monotonic()
    guest.link.cut()
    await town.until(
        "a new connection",
        lambda: bool(guest.notes.connected) and guest.notes.connected[-1] > since,
    )
    guest.link.repeat_old_moves()
    return Blow([guest])


async def cut_everybody(town: Town, chance: Random) -> Blow:
    """All lines break at once, and again before everybody is back."""
    for _ in range(CUTS_IN_A_STORM):
        for guest in town.guests:
            guest.link.cut()
        await asyncio.sleep(chance.uniform(0.05, 0.4))
    return Blow(town.guests)


LINE_FAULTS = (
    Fault(name="line cut", part="line", strike=cut, by_connection=True),
    Fault(name="answer lost", part="line", strike=lose_answer, is_patient=True),
    Fault(name="line half-open", part="line", strike=go_dead, is_patient=True, from_heal=True),
    Fault(name="reader stalled", part="line", strike=stall, hold=(0.5, 3.0), from_heal=True),
    Fault(name="moves sent twice", part="line", strike=double, is_patient=True),
    Fault(name="moves reordered", part="line", strike=reorder, is_patient=True),
    Fault(name="moves repeated later", part="line", strike=replay, is_patient=True),
    Fault(name="reconnect storm", part="line", strike=cut_everybody, from_heal=True),
)
