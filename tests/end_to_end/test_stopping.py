"""A server stops: first it is not ready, then it drains; a second signal stops it at once."""

import asyncio
import os
import signal
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest

from kit.altered_server import FAILING_AT_SIGUSR1, QUICK_STOP, STOP_WITHIN
from kit.player_sockets import player_at
from kit.players import Disconnected
from kit.processes import wait_until_gone
from kit.pseudo_terminal import PseudoTerminal
from kit.server_process import ServerProcess, running_server
from saratoga_protocol.commands import CreateTable, Heartbeat
from saratoga_protocol.events import Alive
from saratoga_protocol.refusals import RESTARTING
from saratoga_server.cancellation import TaskEnded
from saratoga_server.embedded_store.ledger_file import NAME
from saratoga_server.embedded_store.store_folder import SOCKET

WITHIN = 30.0
"""Longest time in seconds for the server to stop; a bound that no test should reach."""

SLACK = 2.0
"""Seconds by which a busy machine may delay the end of a process."""


def tell(server_process: ServerProcess, sign: signal.Signals = signal.SIGTERM) -> None:
    assert server_process.process is not None
    server_process.process.send_signal(sign)


async def not_ready(server_process: ServerProcess) -> None:
    async with asyncio.timeout(WITHIN):
        while (await server_process.get("/readyz"))[0] != 503:
            pass


async def closing(server_process: ServerProcess) -> None:
    """Wait until the server has noticed that it should stop."""
    async with asyncio.timeout(WITHIN):
        while b"server_closing" not in await asyncio.to_thread(server_process.log.read_bytes):
            pass


async def ended(server_process: ServerProcess) -> int:
    assert server_process.process is not None
    async with asyncio.timeout(WITHIN):
        return await server_process.process.wait()


async def test_during_the_drain_delay_it_is_not_ready_and_serves_players() -> None:
    async with (
        running_server("--drain-delay", "2") as server_process,
        player_at(server_process.url, "Anna") as anna,
    ):
        tell(server_process)
        await not_ready(server_process)
        assert isinstance(await anna.ask(Heartbeat), Alive)
        async with player_at(server_process.url, "Bert") as bert:
            assert isinstance(await bert.ask(Heartbeat), Alive)
        assert await anna.closed() == (RESTARTING.code, RESTARTING.reason)
        assert await ended(server_process) == 0


async def test_a_second_signal_stops_it_at_once() -> None:
    async with running_server("--drain-delay", "600") as server_process:
        async with player_at(server_process.url, "Anna") as anna:
            tell(server_process)
            await not_ready(server_process)
            tell(server_process, signal.SIGINT)
            # a reset, without a close frame
            assert (await anna.closed())[0] == 1006
        assert await ended(server_process) == 0
        assert not server_process.store_socket.exists()
        assert any(event["event"] == "server_aborted" for event in server_process.events())


async def test_a_hangup_stops_it_in_order() -> None:
    async with running_server() as server_process, player_at(server_process.url, "Anna") as anna:
        tell(server_process, signal.SIGHUP)
        assert await anna.closed() == (RESTARTING.code, RESTARTING.reason)
        assert await ended(server_process) == 0


async def test_a_server_whose_terminal_is_closed_stops_in_order(tmp_path: Path) -> None:
    terminal = PseudoTerminal(columns=200)
    async with terminal.running(
        *(sys.executable, "-m", "saratoga_server", "--port", "0"),
        *("--data", str(tmp_path), "--metrics-port", "off"),
    ) as process:
        await terminal.shows("saratoga-server ready ")
        terminal.close()
        async with asyncio.timeout(WITHIN):
            assert await process.wait() == 0
    assert not (tmp_path / "store" / SOCKET).exists()


async def test_a_server_that_cannot_print_its_ready_line_serves_all_the_same(
    tmp_path: Path,
) -> None:
    full = os.open("/dev/full", os.O_WRONLY)
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "saratoga_server", "--port", "0"),
        *("--data", str(tmp_path), "--metrics-port", "off"),
        stdout=full,
        stderr=asyncio.subprocess.PIPE,
    )
    os.close(full)
    assert process.stderr is not None
    async with asyncio.timeout(WITHIN):
        await process.stderr.readuntil(b"ready_line_failed")
        process.terminate()
        rest = await process.stderr.read()
        assert await process.wait() == 0
    assert b"Traceback" not in rest
    assert not (tmp_path / "store" / SOCKET).exists()


@pytest.mark.parametrize("module", FAILING_AT_SIGUSR1)
async def test_a_background_task_that_fails_ends_the_server_with_an_error(module: str) -> None:
    async with running_server(module=module) as server_process:
        server_process.forgiven.add("server_fault")
        async with player_at(server_process.url, "Anna") as anna:
            tell(server_process, signal.SIGUSR1)
            assert await anna.closed() == (RESTARTING.code, RESTARTING.reason)
        assert await ended(server_process) == 1
        (fault,) = (event for event in server_process.events() if event["event"] == "server_fault")
        assert "lost the place" in fault["fault"]
        assert server_process.log.read_text().rstrip().endswith(str(TaskEnded()))
        assert not server_process.store_socket.exists()


async def test_a_killed_server_leaves_no_store_running() -> None:
    async with running_server() as server_process:
        store = server_process.store_pid()
        await server_process.kill()
        await asyncio.to_thread(wait_until_gone, store)
        assert not server_process.store_socket.exists()
        await server_process.start()
        assert server_process.store_pid() != store


async def test_a_server_that_stops_at_the_end_of_its_input_needs_no_pipe(tmp_path: Path) -> None:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "saratoga_server", "--port", "0", "--until-eof"),
        *("--data", str(tmp_path), "--metrics-port", "off"),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    async with asyncio.timeout(WITHIN):
        _, log = await process.communicate()
    assert process.returncode == 0, log
    assert b" server_closed " in log


@asynccontextmanager
async def player_waiting_for_a_hung_store(
    module: str = ServerProcess.module,
) -> AsyncIterator[ServerProcess]:
    """Yield a server whose embedded store has been stopped, and that a player waits for."""
    async with running_server(module=module) as server_process:
        store = server_process.store_pid()
        async with player_at(server_process.url, "Anna") as anna:
            os.kill(store, signal.SIGSTOP)
            create = asyncio.create_task(anna.ask(CreateTable, game="canfield"))
            yield server_process
            await anna.closed()
        with suppress(Disconnected):
            await create
        # the server did not leave its store behind
        await asyncio.to_thread(wait_until_gone, store)


async def test_a_server_whose_store_hangs_stops_within_its_bound() -> None:
    async with player_waiting_for_a_hung_store(QUICK_STOP) as server_process:
        began = time.monotonic()
        tell(server_process)
        assert await ended(server_process) == 0
        assert time.monotonic() - began < STOP_WITHIN + SLACK


async def test_a_second_signal_stops_it_at_once_though_its_store_hangs() -> None:
    async with player_waiting_for_a_hung_store() as server_process:
        tell(server_process)
        await closing(server_process)
        began = time.monotonic()
        tell(server_process)
        assert await ended(server_process) == 0
        assert time.monotonic() - began < STOP_WITHIN + SLACK


async def test_a_server_whose_disk_hangs_ends_all_the_same() -> None:
    async with running_server(module=QUICK_STOP) as server_process:
        # whoever opens a pipe for writing waits for a reader
        os.mkfifo(server_process.store_socket.with_name(f"{NAME}.new"))
        tell(server_process)
        assert await ended(server_process) == 0
        assert any(event["event"] == "server_aborted" for event in server_process.events())
