"""A house of several processes on one port, as anybody starts it."""

import asyncio
import os
import signal
import socket
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from kit.house import House, open_house
from kit.sockets import guest
from kit.stores import SCRATCH
from saratoga_protocol.commands import Heartbeat
from saratoga_protocol.events import Alive
from saratoga_protocol.refusals import RESTARTING

WITHIN = 30.0
"""Seconds: a bound for what is awaited, never a measure."""


def workers(house: House) -> dict[str, int]:
    """The process ids of those who came up last, by name."""
    ready = [event for event in house.events() if event["event"] == "worker_ready"]
    return {event["worker"]: event["pid"] for event in ready}


async def logged(house: House, event: str, times: int = 1) -> None:
    """Wait until the log has an event so often."""
    async with asyncio.timeout(WITHIN):
        while sum(each["event"] == event for each in house.events()) < times:
            await asyncio.to_thread(os.stat, house.log)


async def gone(pid: int) -> None:
    """Wait until there is no such process."""
    async with asyncio.timeout(WITHIN):
        while await asyncio.to_thread(Path(f"/proc/{pid}").exists):
            pass


@pytest.fixture
def manager(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[socket.socket]:
    """Where a service manager would listen to what it has started."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listening:
        listening.bind(str(tmp_path / "notify"))
        listening.setblocking(False)
        monkeypatch.setenv("NOTIFY_SOCKET", str(tmp_path / "notify"))
        yield listening


def heard(manager: socket.socket) -> list[str]:
    """The first line of everything that was said."""
    said = []
    with suppress(BlockingIOError):
        while True:
            said.append(manager.recv(200).decode().partition("\n")[0])
    return said


async def refused(*flags: str) -> tuple[int, str]:
    """The exit code of a house that does not open, and all that it says."""
    with TemporaryDirectory(prefix="saratoga-", dir=SCRATCH) as folder:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "saratoga_server", "--data", folder, "--metrics-port", "off"),
            *flags,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        async with asyncio.timeout(WITHIN):
            out, err = await process.communicate()
    assert out == b""
    return process.returncode or 0, err.decode()


async def test_all_workers_are_one_house_and_leave_nothing_behind() -> None:
    async with open_house("--workers", "2", "--node", "east") as house:
        everybody = workers(house)
        assert sorted(everybody) == ["east.1", "east.2"]
        async with guest(house.url, "Anna") as anna, guest(house.url, "Bert") as bert:
            assert await house.stop() == 0
            for each in (anna, bert):
                assert await each.sent_away() == (RESTARTING.code, RESTARTING.reason)
        for pid in everybody.values():
            await gone(pid)
        assert not house.store_socket.exists()


async def test_a_killed_worker_is_followed_by_another_and_the_door_stays_open() -> None:
    async with open_house("--workers", "2", "--node", "east") as house:
        first = workers(house)
        os.kill(first["east.1"], signal.SIGKILL)
        # nobody is turned away meanwhile
        for name in ("Anna", "Bert", "Cleo"):
            async with guest(house.url, name) as came:
                assert isinstance(await came.ask(Heartbeat), Alive)
        await logged(house, "worker_ready", times=3)
        second = workers(house)
        assert second["east.1"] != first["east.1"]
        assert second["east.2"] == first["east.2"]


async def test_hanging_up_replaces_the_workers_and_keeps_the_store_and_the_port(
    manager: socket.socket,
) -> None:
    async with open_house("--workers", "2", "--node", "east") as house:
        first, store = workers(house), house.store_pid()
        async with guest(house.url, "Anna") as anna:
            assert house.process is not None
            house.process.send_signal(signal.SIGHUP)
            assert await anna.sent_away() == (RESTARTING.code, RESTARTING.reason)
            async with guest(house.url, "Bert") as bert:
                assert isinstance(await bert.ask(Heartbeat), Alive)
        await logged(house, "workers_replaced")
        assert set(workers(house).values()).isdisjoint(first.values())
        assert house.store_pid() == store
    # only the parent speaks to who manages it
    assert heard(manager) == ["READY=1", "RELOADING=1", "READY=1", "STOPPING=1"]


async def test_the_workers_of_a_killed_parent_end_in_order_and_the_next_house_has_their_port() -> (
    None
):
    async with open_house("--workers", "2") as house:
        first = workers(house)
        async with guest(house.url, "Anna") as anna:
            await house.kill()
            assert await anna.sent_away() == (RESTARTING.code, RESTARTING.reason)
        for pid in first.values():
            await gone(pid)
        await house.start()


async def test_a_port_that_is_taken_is_said_once() -> None:
    async with open_house() as house:
        code, said = await refused("--workers", "3", "--port", str(house.port))
    assert code == 1
    assert said.count("cannot be opened") == 1
    assert "Choose another with --host and --port." in said


async def test_a_store_that_is_not_fit_is_said_once_and_nobody_tries_again() -> None:
    code, said = await refused("--workers", "3", "--port", "0", "--redis", "unix:///nowhere/at/all")
    assert code == 1
    assert said.count("Error: ") == 1
    assert "/nowhere/at/all" in said.partition("Error: ")[2]
    assert "Traceback" not in said
