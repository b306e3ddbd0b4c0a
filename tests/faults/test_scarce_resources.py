"""Without file descriptors, or without its folder, a server waits and goes on by itself afterwards."""

import asyncio
import os
import resource
import signal
from collections.abc import Iterator
from contextlib import contextmanager

from kit.player_sockets import SocketPlayer, player_at
from kit.processes import wait_until_gone
from kit.server_process import ServerProcess, running_server
from saratoga_protocol.commands import CreateTable, Heartbeat, LeaveTable
from saratoga_protocol.events import Alive, Done, Snapshot

WITHIN = 30.0
"""Longest time in seconds for anything awaited; a bound that no test should reach."""

AS_ANY_USER = ("setpriv", "--bounding-set=-dac_override,-dac_read_search")
"""A command prefix without the capability of root to open any file."""


@contextmanager
def no_more_files(server_process: ServerProcess) -> Iterator[None]:
    """Let the server open no file; those that are open stay open."""
    before = resource.prlimit(server_process.pid, resource.RLIMIT_NOFILE)
    resource.prlimit(server_process.pid, resource.RLIMIT_NOFILE, (0, before[1]))
    yield
    resource.prlimit(server_process.pid, resource.RLIMIT_NOFILE, before)


@contextmanager
def closed_folder(server_process: ServerProcess) -> Iterator[None]:
    """Take the permission to open the store's files from the server."""
    folder = server_process.data / "store"
    folder.chmod(0)
    yield
    folder.chmod(0o700)


async def lose_store(server_process: ServerProcess) -> None:
    store = server_process.store_pid()
    os.kill(store, signal.SIGKILL)
    await asyncio.to_thread(wait_until_gone, store)


async def logged(server_process: ServerProcess, event: str, times: int = 1) -> None:
    """Wait until the log has an event so many times."""
    async with asyncio.timeout(WITHIN):
        while sum(each["event"] == event for each in server_process.events()) < times:  # noqa: ASYNC110
            await asyncio.sleep(0.01)


async def ready(server_process: ServerProcess) -> None:
    async with asyncio.timeout(WITHIN):
        while (await server_process.get("/readyz"))[0] != 200:  # noqa: ASYNC110
            await asyncio.sleep(0.05)


async def sits_down(player: SocketPlayer) -> None:
    answer = await player.ask(CreateTable, game="canfield")
    assert isinstance(answer, Snapshot), answer
    assert isinstance(await player.ask(LeaveTable, table=answer.table.code), Done)


async def test_a_server_without_descriptors_serves_its_players_and_accepts_others_later() -> None:
    async with running_server() as server_process, player_at(server_process.url, "Anna") as anna:
        with no_more_files(server_process):
            came = asyncio.create_task(ready(server_process))
            await logged(server_process, "accept_failed")
            await sits_down(anna)
            assert not came.done()
        # the connection that could not be accepted was kept waiting
        await came
        async with player_at(server_process.url, "Bert") as bert:
            assert isinstance(await bert.ask(Heartbeat), Alive)


async def test_a_store_that_ends_without_descriptors_is_started_when_there_are_some() -> None:
    async with running_server() as server_process, player_at(server_process.url, "Anna") as anna:
        await sits_down(anna)
        with no_more_files(server_process):
            await lose_store(server_process)
            await logged(server_process, "store_start_failed", times=2)
        await ready(server_process)
        await sits_down(anna)


async def test_a_store_that_ends_without_its_folder_is_started_when_it_is_back() -> None:
    before = AS_ANY_USER if os.getuid() == 0 else ()
    async with (
        running_server(before=before) as server_process,
        player_at(server_process.url, "Anna") as anna,
    ):
        await sits_down(anna)
        # found first, because the store's socket is in the folder
        store = server_process.store_pid()
        with closed_folder(server_process):
            os.kill(store, signal.SIGKILL)
            await logged(server_process, "store_start_failed", times=2)
        await ready(server_process)
        await sits_down(anna)
