"""Questions at the terminal that do not block the event loop, so the connection stays alive."""

import asyncio
from contextlib import suppress
from threading import Thread

import click

from saratoga_client.plain.io import CHUNK, StandardInput
from saratoga_protocol.visible_text import sanitised


async def ask(question: str) -> str:
    """Ask on the error stream, and return what the player types in one line.

    A thread reads, because no event loop can wait for a Windows console. The thread is a daemon: if
    the player presses Ctrl-C instead, it ends with the program. Raises `click.Abort` at the end of the input.
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

    click.echo(sanitised(f"{question}: "), nl=False, err=True)
    Thread(target=read, name="prompt", daemon=True).start()
    if not (typed := await line):
        raise click.Abort
    return typed.decode(errors="replace").strip()
