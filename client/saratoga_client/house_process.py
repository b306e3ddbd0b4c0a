"""A house of one's own on this machine: started, waited for, and stopped again.

The players' side never imports the house; it starts it as anybody would.
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


@asynccontextmanager
async def running_house(
    folder: Path, program: tuple[str, ...] = (sys.executable, "-m", "saratoga_server")
) -> AsyncIterator[str]:
    """The address of a house that keeps its store in `folder`. Raises `Problem`."""
    if find_spec("saratoga_server") is None:
        raise Problem(
            "The house is not installed here.",
            "Install it with: pip install 'saratoga[server]'",
            Exit.UNREACHABLE,
        )
    with TemporaryFile() as log:
        process = await _start(program, folder, log)
        try:
            yield await _address(process, log)
        finally:
            await _stop(process)


async def _start(
    program: tuple[str, ...], folder: Path, log: IO[bytes]
) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        *program,
        *("--port", "0", "--metrics-port", "off", "--data", str(folder)),
        stdin=asyncio.subprocess.DEVNULL,
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
