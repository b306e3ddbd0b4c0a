"""A server that this program has started: before it closes, the player is asked if others are at the table."""

import asyncio
import signal
from collections.abc import Coroutine
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from typing import Final, Self

import click

from saratoga_client.cli.prompt import ask
from saratoga_client.local.hosting import LocalServer
from saratoga_client.local.printed_command import host_command, table_command
from saratoga_client.local.terminal import this_terminal
from saratoga_client.output import say
from saratoga_client.problems import Problem
from saratoga_client.session.join import others_at
from saratoga_client.session.table_session import TableSession
from saratoga_client.wording import listed

STOPS: Final = "The server on this machine stops now; banked cards are kept. To start it again:"
STAYS: Final = "The server stays open until Ctrl-C. To return, in another window:"


class OwnServer:
    """The server on this machine, if this program uses one; an asynchronous context manager.

    At its end the server is closed, if this program has started it. If other people are at the player's
    table, the player is asked first; without a terminal, or if the answer is no, the server stays until Ctrl-C. It does not stay
    after SIGTERM, SIGHUP or SIGQUIT, which raise `SystemExit`.
    """

    def __init__(self) -> None:
        self.server: LocalServer | None = None
        """The open server; `None` if there is none."""
        self.session: TableSession | None = None
        """The player's last table there."""
        self._stack = AsyncExitStack()

    @property
    def is_ours(self) -> bool:
        """True if a server is open that this program has started."""
        return self.server is not None and self.server.is_ours

    async def open(self, server: AbstractAsyncContextManager[LocalServer]) -> LocalServer:
        """Find or start the server; raises `Problem`."""
        self.session = None
        self.server = await self._stack.enter_async_context(server)
        return self.server

    async def close(self) -> None:
        """Close the server without a question."""
        self.server = None
        await self._stack.aclose()

    def still_here(self) -> str:
        """Return who else is at the player's table there, as a sentence; empty if nobody is.

        It is empty, too, if this program has not started the server.
        """
        if self.session is None or (state := self.session.state) is None or not self.is_ours:
            return ""
        others = others_at(state.table, state.player)
        if not others:
            return ""
        return (
            f"{listed(others)} {'is' if len(others) == 1 else 'are'} still at {state.table.code}."
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        server = self.server
        try:
            if server is not None and server.is_ours and not isinstance(error, SystemExit):
                if isinstance(error, asyncio.CancelledError) and (task := asyncio.current_task()):
                    # Ctrl-C without a screen: the error is raised again when the server may close
                    task.uncancel()
                await self._hold_open(server.own, error)
                if isinstance(error, KeyboardInterrupt | asyncio.CancelledError):
                    say(STOPS)
                    say(f"  {host_command(server.own)}")
        finally:
            await self.close()

    async def _hold_open(self, own: str, error: BaseException | None) -> None:
        """Keep the server open for the other people at the table, unless the player wants to close it."""
        others = self.still_here()
        if not others:
            return
        if isinstance(error, Problem):
            say(error.what)
        say(others)
        if this_terminal().is_terminal and await _until_ctrl_c(_is_closed()):
            return
        assert self.session is not None
        assert self.session.state is not None
        say(STAYS)
        say(f"  {table_command('join', self.session.state.table.code, own)}")
        await _until_ctrl_c(asyncio.Event().wait())


async def _is_closed() -> bool:
    return (await ask("Close the server now? [y/N]")).lower() in ("y", "yes")


async def _until_ctrl_c(work: Coroutine[None, None, bool]) -> bool:
    """Return the result of a coroutine; `False` if Ctrl-C or the end of the input ends it."""
    loop, before = asyncio.get_running_loop(), signal.getsignal(signal.SIGINT)
    task = asyncio.ensure_future(work)
    loop.add_signal_handler(signal.SIGINT, task.cancel)
    try:
        return await task
    except (asyncio.CancelledError, click.Abort):
        return False
    finally:
        loop.remove_signal_handler(signal.SIGINT)
        signal.signal(signal.SIGINT, before)
