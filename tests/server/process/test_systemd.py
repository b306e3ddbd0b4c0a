"""What a service manager is told, by a datagram to the socket that it names."""

import asyncio
import os
import re
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


def test_the_manager_hears_what_it_is_told(manager: socket.socket) -> None:
    for word in (systemd.READY, systemd.STOPPING):
        assert systemd.tell(word, at(manager))
        assert manager.recv(100).decode() == word


def test_a_reload_comes_with_the_time_at_which_it_began(manager: socket.socket) -> None:
    systemd.tell(systemd.reloading(), at(manager))
    assert re.fullmatch(r"RELOADING=1\nMONOTONIC_USEC=\d+", manager.recv(100).decode())


def test_a_socket_without_a_file_is_found_too() -> None:
    name = f"saratoga-test-{os.getpid()}"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(f"\0{name}")
        assert systemd.tell(systemd.READY, {"NOTIFY_SOCKET": f"@{name}"})
        assert manager.recv(100).decode() == systemd.READY


@pytest.mark.parametrize("address", ["", "somewhere", "vsock:2:1", "/nowhere/at/all"])
def test_where_there_is_no_manager_nothing_is_told(address: str) -> None:
    assert not systemd.tell(systemd.READY, {"NOTIFY_SOCKET": address})
    assert not systemd.tell(systemd.READY, {})


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
def test_the_watchdog_is_minded_where_it_is_meant_for_us(
    environment: dict[str, str], seconds: float | None
) -> None:
    assert systemd.watchdog_seconds(environment) == seconds


async def test_signs_of_life_come_twice_as_often_as_they_are_wanted(
    manager: socket.socket,
) -> None:
    environment = at(manager) | {"WATCHDOG_USEC": "20000"}
    living = asyncio.create_task(systemd.stay_alive(environment))
    loop = asyncio.get_running_loop()
    async with asyncio.timeout(10):
        for _ in range(3):
            assert await loop.sock_recv(manager, 100) == systemd.ALIVE.encode()
    living.cancel()
