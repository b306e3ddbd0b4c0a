"""Random evenings raise an alarm if and only if the server has lied (`kit.evening_walks` tells thousands)."""

import asyncio

import pytest

from kit.evening_walks import Evening, tell
from kit.evenings import played_evening

HONEST = 40
WITH_A_LIE = 40


@pytest.fixture(scope="module")
def evenings() -> list[Evening]:
    return [asyncio.run(played_evening(2))]


async def test_honest_evenings_raise_no_alarm(evenings: list[Evening]) -> None:
    said = await tell(evenings, HONEST, lie=False, seed="few")
    assert said == {"not alarmed": HONEST}


async def test_evenings_with_one_lie_raise_the_alarm(evenings: list[Evening]) -> None:
    said = await tell(evenings, WITH_A_LIE, lie=True, seed="few")
    assert said["alarmed"] > WITH_A_LIE * 0.8
    assert said["not alarmed"] == 0, said
