"""`kill -9` in mid-race: nothing acknowledged is lost, nothing is played twice, everybody comes back.

Every bot writes down what is acknowledged to it. When the races are over, each note is looked for
in the record and in the store's own log.
"""

import asyncio
from random import Random

import pytest

from kit.catastrophes import Party, Victim, party, store_of
from kit.figures import note
from kit.stores import StoreServer

PACE = 120.0
"""Moves a second of each player in the short tests."""

LONGEST_PAUSE = 0.3
"""Seconds at most that all players race before the next kill."""


async def strike_in_mid_race(guests: Party, victim: Victim, times: int, chance: Random) -> None:
    for _ in range(times):
        await guests.mid_race()
        await asyncio.sleep(chance.uniform(0, LONGEST_PAUSE))
        await guests.strike(victim)


async def audited(guests: Party) -> tuple[int, int]:
    await guests.finish()
    async with store_of(guests) as store:
        return await guests.audit(store)


async def test_races_go_on_after_kills() -> None:
    chance = Random(1)
    async with party(("lady-palk",), pace=PACE) as guests:
        for victim in Victim:
            await strike_in_mid_race(guests, victim, 2, chance)
        races, moves = await audited(guests)
    assert races
    assert moves


async def test_races_go_on_after_kills_on_a_store_of_the_hosts(mortal_store: StoreServer) -> None:
    chance = Random(mortal_store.binary)
    async with party(("lady-palk",), PACE, mortal_store) as guests:
        for victim in Victim:
            await strike_in_mid_race(guests, victim, 1, chance)
        await guests.mid_race()
        await guests.lose_store()
        races, moves = await audited(guests)
    assert races
    assert moves


KILLS = 50


@pytest.mark.long
@pytest.mark.parametrize("victim", Victim)
async def test_races_go_on_however_often_they_are_killed(victim: Victim) -> None:
    games = ("lady-palk", "canfield-aisleriot", "canfield")
    async with party(games, pace=20) as guests:
        await strike_in_mid_race(guests, victim, KILLS, Random(f"long {victim.value}"))
        races, moves = await audited(guests)
    note(
        f"{victim.value}: {guests.figures()}; {races} races, {moves} acknowledged moves, "
        "0 lost, 0 played twice"
    )


@pytest.mark.long
async def test_races_go_on_however_often_a_store_of_the_hosts_is_killed(
    mortal_store: StoreServer,
) -> None:
    chance = Random(f"long {mortal_store.binary}")
    async with party(("lady-palk", "canfield"), 20, mortal_store) as guests:
        for victim in (Victim.STORE, Victim.BOTH):
            await strike_in_mid_race(guests, victim, KILLS // 2, chance)
        races, moves = await audited(guests)
    note(
        f"{mortal_store.binary.rpartition('/')[2]}: {guests.figures()}; {races} races, {moves} "
        "acknowledged moves, 0 lost, 0 played twice"
    )
