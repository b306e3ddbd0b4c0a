"""The parent's care for its workers, with small programs in the place of whole servers."""

import asyncio
import errno
import json
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from kit.processes import is_running
from saratoga_server.cancellation import TaskEnded, cancel_all
from saratoga_server.config import CannotStart
from saratoga_server.process.parent import _kept
from saratoga_server.process.stopping import Stop
from saratoga_server.process.worker import Post
from saratoga_server.process.workers import LONGEST_PAUSE, Workers, pause_after

GOOD = """
import json, os, select, signal, socket, sys
told = json.loads(os.environ["SARATOGA_WORKER"])
line = socket.socket(fileno=told["parent"])
diary = os.open(sys.argv[1], os.O_WRONLY | os.O_APPEND)
def write(what):
    # not by `print`, which a signal that comes while it writes must not enter again
    os.write(diary, (json.dumps([what, told["node"], os.getpid()]) + "\\n").encode())
def end(*_):
    write("stopped")
    raise SystemExit(0)
signal.signal(signal.SIGTERM, end)
woken, wakes = socket.socketpair()
wakes.setblocking(False)
signal.set_wakeup_fd(wakes.fileno())
def wait_for_hangup():
    # a signal just before this sleeps wakes it too
    while line not in select.select([line, woken], [], [])[0]:
        woken.recv(64)
"""
COMES = (
    GOOD
    + """
write("ready")
line.sendall(json.dumps({"ready": "ws://" + told["node"]}).encode() + b"\\n")
"""
)
READY = (
    COMES
    + """
wait_for_hangup()
write("retired")
"""
)
DEAF = READY.replace(
    "signal.signal(signal.SIGTERM, end)", "signal.signal(signal.SIGTERM, lambda *_: 0)"
)
BEGINS = (
    GOOD
    + """
write("began")
"""
)
SLOW = (
    BEGINS
    + """
wait_for_hangup()
write("gave up")
"""
)
ANSWERS_WHEN_TOLD = """
while not os.path.exists("{}"):
    pass
line.sendall(json.dumps({{"ready": "ws://again"}}).encode() + b"\\n")
wait_for_hangup()
"""
BEATS = (
    COMES
    + """
line.settimeout(0.02)
heard = None
while heard != b"":
    line.send(b"\\n")
    try:
        heard = line.recv(1)
    except TimeoutError:
        continue
write("retired")
"""
)
REFUSED = (
    GOOD
    + """
line.sendall(json.dumps({"failed": "The store is not fit."}).encode() + b"\\n")
raise SystemExit(1)
"""
)
CRASHES = "raise SystemExit(3)"


class Programs:
    """What workers run, which can be exchanged, and the diary that they keep."""

    def __init__(self, folder: Path, first: str) -> None:
        self.program, self.diary = folder / "program.py", folder / "diary"
        self.install(first)
        self.diary.touch()

    def install(self, text: str) -> None:
        self.program.write_text(text)

    def entries(self, what: str) -> list[tuple[str, int]]:
        lines = [json.loads(line) for line in self.diary.read_text().splitlines()]
        return [(node, pid) for said, node, pid in lines if said == what]


@asynccontextmanager
async def opened(
    folder: Path, program: str, count: int = 2
) -> AsyncIterator[tuple[Workers, Programs]]:
    programs = Programs(folder, program)
    posts = [
        Post(node=f"east.{number}", metrics_port=None, doors=(), store=None)
        for number in range(1, count + 1)
    ]
    command = (sys.executable, str(programs.program), str(programs.diary))
    workers = Workers(posts, ends_within=10, command=command)
    assert await workers.open() == "ws://east.1"
    try:
        yield workers, programs
    finally:
        await workers.close(Stop())


async def written(programs: Programs, what: str, times: int) -> list[tuple[str, int]]:
    """Wait until the diary has so many such entries."""
    async with asyncio.timeout(20):
        while len(entries := programs.entries(what)) < times:
            await asyncio.to_thread(os.stat, programs.diary)
    return entries


async def test_all_are_ready_before_anybody_is_told(tmp_path: Path) -> None:
    async with opened(tmp_path, READY) as (_, programs):
        ready = programs.entries("ready")
        assert [node for node, _ in sorted(ready)] == ["east.1", "east.2"]
    assert sorted(programs.entries("stopped")) == sorted(ready)
    assert not any(is_running(pid) for _, pid in ready)


async def test_who_dies_is_followed_by_another_of_that_name(tmp_path: Path) -> None:
    async with opened(tmp_path, READY) as (workers, programs):
        keeping = asyncio.create_task(workers.keep())
        (_, first), _ = sorted(programs.entries("ready"))
        os.kill(first, signal.SIGKILL)
        ready = await written(programs, "ready", 3)
        assert ready[2][0] == "east.1"
        assert await cancel_all([keeping]) == []


async def test_while_the_system_gives_no_process_it_is_asked_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []
    start = asyncio.create_subprocess_exec

    async def scarce(*command: Any, **options: Any) -> asyncio.subprocess.Process:
        asked.append(1)
        if len(asked) < 3:
            raise OSError(errno.EAGAIN, "Resource temporarily unavailable")
        return await start(*command, **options)

    monkeypatch.setattr("saratoga_server.process.workers.FIRST_PAUSE", 0.01)
    async with opened(tmp_path, READY) as (workers, programs):
        keeping = asyncio.create_task(workers.keep())
        (_, first), _ = sorted(programs.entries("ready"))
        monkeypatch.setattr(asyncio, "create_subprocess_exec", scarce)
        os.kill(first, signal.SIGKILL)
        assert (await written(programs, "ready", 3))[2][0] == "east.1"
        assert len(asked) == 3
        assert await cancel_all([keeping]) == []


async def test_if_no_new_one_can_be_started_the_old_ones_stay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(tmp_path, READY) as (workers, programs):
        old = programs.entries("ready")
        monkeypatch.setattr(workers, "_command", (str(tmp_path / "no program"),))
        assert not await workers.replace_all()
        assert all(is_running(pid) for _, pid in old)


async def test_a_house_that_ends_by_its_own_fault_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fails(workers: Workers) -> None:
        raise RuntimeError("a fault of ours")

    monkeypatch.setattr(Workers, "keep", fails)
    programs = Programs(tmp_path, READY)
    command = (sys.executable, str(programs.program), str(programs.diary))
    workers = Workers(
        [Post(node="east.1", metrics_port=None, doors=(), store=None)],
        ends_within=10,
        command=command,
    )
    with pytest.raises(TaskEnded):
        await _kept(workers, Stop(), asyncio.Event(), lambda: None, lambda where: None)
    ((_, pid),) = programs.entries("ready")
    assert not is_running(pid)


async def test_who_hangs_is_killed_and_followed_by_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # far longer than a worker that lives may have to wait for its turn on a busy machine
    monkeypatch.setattr("saratoga_server.process.workers.HANGS_AFTER", 4.0)
    monkeypatch.setattr("saratoga_server.process.workers.LISTENS_FOR", 0.2)
    async with opened(tmp_path, BEATS) as (workers, programs):
        keeping = asyncio.create_task(workers.keep())
        (_, hangs), (_, lives) = sorted(programs.entries("ready"))
        await heard(workers)
        os.kill(hangs, signal.SIGSTOP)
        ready = await written(programs, "ready", 3)
        assert ready[2][0] == "east.1"
        assert not is_running(hangs)
        assert is_running(lives)
        await cancel_all([keeping])


async def heard(workers: Workers) -> None:
    """Wait until everybody has given a sign of life."""
    async with asyncio.timeout(20):
        while not all(place.worker.silent_for() for place in workers._places):
            await asyncio.to_thread(os.stat, "/")


async def test_who_never_gives_signs_of_life_is_an_older_one_and_does_not_hang(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("saratoga_server.process.workers.HANGS_AFTER", 0.01)
    async with opened(tmp_path, READY) as (workers, programs):
        keeping = asyncio.create_task(workers.keep())
        # meanwhile there were many looks
        assert await workers.replace_all()
        assert len(programs.entries("retired")) == 2
        await cancel_all([keeping])


async def test_all_are_replaced_one_after_the_other(tmp_path: Path) -> None:
    async with opened(tmp_path, READY) as (workers, programs):
        old = programs.entries("ready")
        programs.install(READY.replace('write("ready")', 'write("upgraded")'))
        assert await workers.replace_all()
        diary = [json.loads(line) for line in programs.diary.read_text().splitlines()]
        # the new one is ready before the old one goes
        assert [(what, node) for what, node, _ in diary[2:]] == [
            ("upgraded", "east.1"),
            ("retired", "east.1"),
            ("upgraded", "east.2"),
            ("retired", "east.2"),
        ]
        assert sorted(programs.entries("retired")) == sorted(old)


@pytest.mark.parametrize("broken", [REFUSED, CRASHES])
async def test_if_the_new_ones_do_not_come_up_the_old_ones_stay(
    tmp_path: Path, broken: str
) -> None:
    async with opened(tmp_path, READY) as (workers, programs):
        old = programs.entries("ready")
        programs.install(broken)
        assert not await workers.replace_all()
        assert programs.entries("retired") == []
        assert all(is_running(pid) for _, pid in old)


@pytest.mark.parametrize(
    ("program", "says"),
    [(REFUSED, "The store is not fit."), (CRASHES, r"east.\d ended \(exit code 3\)")],
)
async def test_if_one_cannot_come_up_at_first_nobody_does(
    tmp_path: Path, program: str, says: str
) -> None:
    with pytest.raises(CannotStart, match=says):
        async with opened(tmp_path, program):
            pass


async def test_who_does_not_end_is_killed_when_it_is_asked_for_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("saratoga_server.process.workers.AT_ONCE", 0.01)
    async with opened(tmp_path, DEAF) as (workers, programs):
        ready = programs.entries("ready")
        stop = Stop()
        stop.ask()
        stop.ask()
        await workers.close(stop)
        assert not any(is_running(pid) for _, pid in ready)


async def test_whoever_is_coming_when_all_are_to_end_ends_too(tmp_path: Path) -> None:
    async with opened(tmp_path, READY) as (workers, programs):
        programs.install(SLOW)
        replacing = asyncio.create_task(workers.replace_all())
        ((_, coming),) = await written(programs, "began", 1)
        assert await cancel_all([replacing]) == []
        assert is_running(coming)
    everybody = programs.entries("ready") + programs.entries("began")
    assert not any(is_running(pid) for _, pid in everybody)
    assert len(programs.entries("stopped")) == 3


async def test_whoever_is_only_half_started_when_all_are_to_end_ends_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spawned, spawn = asyncio.Event(), asyncio.create_subprocess_exec

    async def slowly(*command: Any, **how: Any) -> asyncio.subprocess.Process:
        process = await spawn(*command, **how)
        spawned.set()
        await asyncio.sleep(0)  # where the parent may be told to end
        return process

    async with opened(tmp_path, READY) as (workers, _):
        monkeypatch.setattr(asyncio, "create_subprocess_exec", slowly)
        replacing = asyncio.create_task(workers.replace_all())
        await spawned.wait()
        assert await cancel_all([replacing]) == []
        (coming,) = workers._leaving
    assert not is_running(coming.pid)


async def test_told_to_end_before_all_are_ready_none_is_left(tmp_path: Path) -> None:
    programs = Programs(tmp_path, SLOW)
    command = (sys.executable, str(programs.program), str(programs.diary))
    posts = [Post(node="east.1", metrics_port=None, doors=(), store=None)]
    workers = Workers(posts, ends_within=10, command=command)
    opening = asyncio.create_task(workers.open())
    ((_, coming),) = await written(programs, "began", 1)
    assert await cancel_all([opening]) == []
    # which may have been told more than once, and has waited for nobody then
    await workers.close(Stop())
    assert not is_running(coming)


async def test_who_dies_while_another_is_coming_leaves_the_place_to_that_one(
    tmp_path: Path,
) -> None:
    async with opened(tmp_path, READY, count=1) as (workers, programs):
        keeping = asyncio.create_task(workers.keep())
        ((_, old),) = programs.entries("ready")
        programs.install(BEGINS + ANSWERS_WHEN_TOLD.format(tmp_path / "go"))
        replacing = asyncio.create_task(workers.replace_all())
        ((_, coming),) = await written(programs, "began", 1)
        os.kill(old, signal.SIGKILL)
        (tmp_path / "go").touch()
        assert await replacing
        assert workers.pids() == [coming]
        assert len(programs.entries("began")) == 1
        await cancel_all([keeping])


async def test_a_line_is_closed_when_nobody_listens_to_it_any_more(tmp_path: Path) -> None:
    async with opened(tmp_path, READY, count=1) as (workers, _):
        worker = workers._places[0].worker
        assert worker._listening is not None
        worker.retire()
        # the loop still watches the file of that number: no other may have it yet
        assert worker._line.fileno() >= 0
        await asyncio.wait([worker._listening])
        await worker.gone(10)
        assert worker._line.fileno() == -1


async def test_workers_notice_that_their_parent_is_gone(tmp_path: Path) -> None:
    async with opened(tmp_path, READY) as (workers, programs):
        for place in workers._places:
            place.worker.retire()
        await written(programs, "retired", 2)


def test_whoever_dies_again_and_again_is_started_less_and_less_often() -> None:
    assert [pause_after(failures) for failures in range(1, 6)] == [0.0, 0.5, 1.0, 2.0, 4.0]
    assert pause_after(1000) == LONGEST_PAUSE
