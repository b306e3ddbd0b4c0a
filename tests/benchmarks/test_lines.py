"""Tests that a row is measured again if other work on the machine disturbed it."""

import pytest

from benchmarks.lines import TRIES, undisturbed
from benchmarks.machine import Others
from benchmarks.measuring import Load, NotQuiet


def seen(stolen: float) -> Load:
    return Load(messages=1, seconds=2.0, stolen=stolen)


@pytest.mark.parametrize(
    ("stolen", "tries", "counted"),
    [
        ([0.0], 1, 0.0),
        ([0.2], 1, 0.2),
        ([0.5, 0.01], 2, 0.01),
        ([0.5, 0.3, 0.4], TRIES, 0.3),
    ],
)
async def test_a_line_is_measured_again_while_it_is_disturbed(
    stolen: list[float], tries: int, counted: float
) -> None:
    asked: list[str] = []

    @undisturbed
    async def measure(name: str) -> Load:
        asked.append(name)
        return seen(stolen[len(asked) - 1])

    assert (await measure("echo")).stolen == counted
    assert asked == ["echo"] * tries


@pytest.mark.parametrize(
    ("share", "raised", "tries"), [(0.5, NotQuiet, TRIES), (0.0, ConnectionError, 1)]
)
async def test_only_a_busy_machine_excuses_a_failure(
    monkeypatch: pytest.MonkeyPatch, share: float, raised: type[Exception], tries: int
) -> None:
    monkeypatch.setattr(Others, "share", lambda others: share)
    asked: list[int] = []

    @undisturbed
    async def measure() -> Load:
        asked.append(1)
        raise ConnectionError("a connection was closed")

    with pytest.raises(raised, match="a connection was closed"):
        await measure()
    assert len(asked) == tries


async def test_a_try_that_a_busy_machine_spoils_is_made_good_by_the_next(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Others, "share", lambda others: 0.5)
    asked: list[int] = []

    @undisturbed
    async def measure() -> Load:
        asked.append(1)
        if len(asked) == 1:
            raise TimeoutError
        return seen(0.0)

    assert (await measure()).stolen == 0.0
