"""Background tasks: awaited at the end, and their errors logged."""

import asyncio
from itertools import pairwise

import pytest

from saratoga_server import background_tasks
from saratoga_server.background_tasks import SLICE, BackgroundTasks, run_each_logged, run_logged
from saratoga_server.domain.tables import CommandRejected
from saratoga_server.ports import StoreUnavailable


class Log:
    """A logger that records its messages and their fields."""

    def __init__(self) -> None:
        self.lines: list[tuple[str, str]] = []
        self.fields: list[dict[str, object]] = []

    def warning(self, event: str, **fields: object) -> None:
        self.lines.append(("warning", event))
        self.fields.append(fields)

    def error(self, event: str, **fields: object) -> None:
        self.lines.append(("error", event))


@pytest.fixture
def log(monkeypatch: pytest.MonkeyPatch) -> Log:
    kept = Log()
    monkeypatch.setattr(background_tasks, "log", kept)
    return kept


async def work(fault: Exception | None = None) -> None:
    await asyncio.sleep(0)
    if fault is not None:
        raise fault


async def test_a_successful_task_returns_true_and_logs_nothing(log: Log) -> None:
    assert await run_logged(work())
    assert log.lines == []


@pytest.mark.parametrize(
    ("fault", "line"),
    [
        (CommandRejected("no_such_table"), ("warning", "task_postponed")),
        (StoreUnavailable("away"), ("warning", "task_postponed")),
        (ValueError("broken"), ("error", "server_fault")),
    ],
)
async def test_a_failed_task_is_logged_and_its_exception_is_not_raised(
    log: Log, fault: Exception, line: tuple[str, str]
) -> None:
    assert not await run_logged(work(fault))
    assert log.lines == [line]


async def test_all_tasks_are_finished_before_the_end(log: Log) -> None:
    under_way = BackgroundTasks()
    done: list[int] = []
    go = asyncio.Event()

    async def numbered(number: int) -> None:
        await go.wait()
        done.append(number)

    for number in range(3):
        under_way.spawn(numbered(number))
    under_way.spawn(work(ValueError()))
    go.set()
    await under_way.finish()
    assert (sorted(done), log.lines) == ([0, 1, 2], [("error", "server_fault")])
    await under_way.finish()


async def test_work_done_side_by_side_does_not_wait_for_each_other(log: Log) -> None:
    go = asyncio.Event()

    async def goes() -> None:
        go.set()

    await run_each_logged([go.wait(), work(ValueError()), goes()])
    assert log.lines == [("error", "server_fault")]


async def test_what_goes_wrong_in_the_same_way_is_one_line(log: Log) -> None:
    faults = [StoreUnavailable("away") for _ in range(3 * SLICE)]
    assert not await run_each_logged([work(fault) for fault in (*faults, ValueError("broken"))])
    assert log.lines == [("warning", "task_postponed"), ("error", "server_fault")]
    assert log.fields[0]["times"] == 3 * SLICE


async def test_behind_any_number_that_have_to_wait_another_is_done(log: Log) -> None:
    """Many tables are at an unavailable primary; the last table is at another one."""
    go = asyncio.Event()

    async def goes() -> None:
        go.set()

    async with asyncio.timeout(5):
        assert await run_each_logged([*(go.wait() for _ in range(5 * SLICE)), goes()])
    assert log.lines == []


async def test_others_have_their_turn_while_much_is_begun() -> None:
    begun = 0
    seen = [0]

    async def begins() -> None:
        nonlocal begun
        begun += 1

    async def looks_on() -> None:
        while begun < 4 * SLICE:
            await asyncio.sleep(0)
            seen.append(begun)

    await asyncio.gather(run_each_logged([begins() for _ in range(4 * SLICE)]), looks_on())
    turns = [later - earlier for earlier, later in pairwise(seen)]
    assert (sum(turns), max(turns)) == (4 * SLICE, SLICE)


async def test_work_that_is_called_off_does_not_begin(log: Log) -> None:
    begun: list[int] = []

    async def begins(number: int) -> None:
        begun.append(number)
        if len(begun) == SLICE:
            step.cancel()
        await asyncio.Event().wait()

    step = asyncio.create_task(run_each_logged([begins(number) for number in range(2 * SLICE)]))
    await asyncio.wait([step])
    assert (step.cancelled(), len(begun)) == (True, SLICE)
