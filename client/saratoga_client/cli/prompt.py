"""Questions at the terminal that do not block the event loop, so the connection stays alive."""

import asyncio
from contextlib import suppress
from threading import Thread

import click

from saratoga_client.output import ask
from saratoga_client.plain.io import CHUNK, StandardInput


async def prompt(question: str) -> str:
    """Ask on the error stream and return the line that the player types.

    An empty line repeats the question. Raises `click.Abort` at the end of the input.
    """
    while True:
        ask(f"{question}: ")
        if answer := (await _typed_line()).strip():
            return answer


async def confirm(question: str) -> bool:
    """Ask for yes or no; return `False` for every answer but yes. Raises `click.Abort`."""
    ask(f"{question} [y/N]: ")
    return (await _typed_line()).strip().lower() in ("y", "yes")


async def _typed_line() -> str:
    """Return the next line of the terminal; raises `click.Abort` at the end of the input.

    A thread reads, because no event loop can wait for a Windows console. The thread is a daemon: if
    the player presses Ctrl-C instead, it ends with the program.
    """
    loop = asyncio.get_running_loop()
    line: asyncio.Future[bytes] = loop.create_future()

    def deliver(typed: bytes) -> None:
        if not line.done():
            line.set_result(typed)

    def read() -> None:
        typed = b""
        # ValueError, OSError: the terminal is closed
        with suppress(OSError, ValueError):
            typed = StandardInput().read(CHUNK)
        # RuntimeError: the program has ended in the meantime
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(deliver, typed)

    Thread(target=read, name="prompt", daemon=True).start()
    if not (typed := await line):
        raise click.Abort
    return typed.decode(errors="replace")
