"""The sweeper: how much it deletes at once, and what it reports."""

import pytest
from msgspec.structs import replace

from kit.tables import NOON
from saratoga_server.live import sweeper
from saratoga_server.live.sweeper import SLICE, SLICES, Sweeper
from saratoga_server.ports import Millis
from saratoga_server.store.retention import RetentionStore, Swept


class Retention(RetentionStore):
    """A store with many entries that are due."""

    def __init__(self, due: int) -> None:
        self.due = due
        self.calls: list[tuple[Millis, int]] = []
        self.ahead = 0
        self.held_until = Millis(0)

    async def sweep(self, node_time: Millis, limit: int) -> Swept:
        self.calls.append((node_time, limit))
        differ = abs(self.ahead) > 60_000
        done = 0 if differ or self.held_until else min(limit, self.due)
        self.due -= done
        return Swept(done=done, held_until=self.held_until, ahead=self.ahead, clocks_differ=differ)


@pytest.fixture(autouse=True)
def prompt(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sweeper, "PAUSE", 0.0)


async def test_it_deletes_in_slices_until_nothing_is_due() -> None:
    store = Retention(due=2 * SLICE + 1)
    await Sweeper(store, lambda: NOON / 1000).sweep()
    assert store.due == 0
    assert store.calls == [(NOON, SLICE)] * 3


async def test_one_round_is_bounded() -> None:
    store = Retention(due=SLICES * SLICE + 1)
    await Sweeper(store, lambda: NOON / 1000).sweep()
    assert store.due == 1


async def test_it_logs_once_why_nothing_is_deleted_and_once_that_it_goes_on(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level("INFO", "saratoga")
    store = Retention(due=1)
    swept = Sweeper(store, lambda: NOON / 1000)
    store.ahead = 90_000
    for _ in range(2):
        await swept.sweep()
    store.ahead, store.held_until = 0, Millis(NOON)
    for _ in range(2):
        await swept.sweep()
    store.held_until = Millis(0)
    for _ in range(2):
        await swept.sweep()
    assert store.due == 0
    fields = [(each.message, vars(each)["fields"]) for each in caplog.records]
    assert [event for event, _ in fields] == [
        "sweep_postponed",
        "sweep_postponed",
        "sweep_resumed",
    ]
    assert fields[0][1] == {"reason": "clocks_differ", "ahead_seconds": 90}
    assert fields[1][1]["reason"] == "clock_jumped"


SWEPT = Swept(done=3, held_until=Millis(0), ahead=12, clocks_differ=False)


def test_a_step_that_kept_nothing_back_has_no_reason() -> None:
    assert SWEPT.why_postponed is None


def test_different_clocks_are_named_before_a_jump() -> None:
    held = replace(SWEPT, held_until=Millis(9))
    assert held.why_postponed == "clock_jumped"
    assert replace(held, clocks_differ=True).why_postponed == "clocks_differ"
