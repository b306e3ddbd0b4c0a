"""A line that the machine's host has disturbed is measured again."""

import pytest

from benchmarks.lines import TRIES, undisturbed
from benchmarks.measuring import Load


def seen(stolen: float) -> Load:
    return Load(messages=1, seconds=2.0, stolen=stolen)


@pytest.mark.parametrize(
    ("stolen", "tries", "told"),
    [
        ([0.0], 1, 0.0),
        ([0.2], 1, 0.2),
        ([0.5, 0.01], 2, 0.01),
        ([0.5, 0.3, 0.4], TRIES, 0.3),
    ],
)
async def test_a_line_is_measured_again_while_it_is_disturbed(
    stolen: list[float], tries: int, told: float
) -> None:
    asked: list[str] = []

    @undisturbed
    async def measure(name: str) -> Load:
        asked.append(name)
        return seen(stolen[len(asked) - 1])

    assert (await measure("echo")).stolen == told
    assert asked == ["echo"] * tries
