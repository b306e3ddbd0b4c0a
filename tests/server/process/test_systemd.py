"""Notifications to systemd, by datagram to the socket that it names."""

import asyncio
import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from saratoga_server.process import systemd


@pytest.fixture
def manager(tmp_path: Path) -> Iterator[socket.socket]:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listening:
        listening.bind(str(tmp_path / "notify"))
        listening.setblocking(False)
        yield listening


def at(manager: socket.socket) -> dict[str, str]:
    return {"NOTIFY_SOCKET": manager.getsockname()}


def test_systemd_receives_each_state(manager: socket.socket) -> None:
    for state in (systemd.READY, systemd.STOPPING):
        systemd.notify(state, at(manager))
        assert manager.recv(100).decode() == state


def test_a_socket_in_the_abstract_namespace_is_found_too() -> None:
    name = f"saratoga-test-{os.getpid()}"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(f"\0{name}")
        systemd.notify(systemd.READY, {"NOTIFY_SOCKET": f"@{name}"})
        assert manager.recv(100).decode() == systemd.READY


@pytest.mark.parametrize(
    ("environment", "seconds"),
    [
        ({}, None),
        ({"WATCHDOG_USEC": "30000000"}, 30.0),
        ({"WATCHDOG_USEC": "30000000", "WATCHDOG_PID": str(os.getpid())}, 30.0),
        ({"WATCHDOG_USEC": "30000000", "WATCHDOG_PID": "1"}, None),
        ({"WATCHDOG_USEC": "soon"}, None),
        ({"WATCHDOG_USEC": "0"}, None),
    ],
)
def test_the_watchdog_is_fed_if_it_is_for_this_process(
    environment: dict[str, str], seconds: float | None
) -> None:
    assert systemd.watchdog_seconds(environment) == seconds


async def test_the_watchdog_is_fed_again_and_again(
    manager: socket.socket,
) -> None:
    environment = at(manager) | {"WATCHDOG_USEC": "20000"}
    feeding = asyncio.create_task(systemd.feed_watchdog(environment))
    loop = asyncio.get_running_loop()
    async with asyncio.timeout(10):
        for _ in range(3):
            assert await loop.sock_recv(manager, 100) == systemd.WATCHDOG.encode()
    feeding.cancel()
