"""A server that this program has started: before it closes, the player is asked if others are at the table."""

import asyncio
import signal
from collections.abc import Iterator
from contextlib import AbstractAsyncContextManager, AsyncExitStack, contextmanager
from types import TracebackType
from typing import Final, Self

import click

from saratoga_client.cli.prompt import confirm
from saratoga_client.local.hosting import LocalServer
from saratoga_client.local.printed_command import host_command
from saratoga_client.local.terminal import this_terminal
from saratoga_client.output import say
from saratoga_client.problems import Problem
from saratoga_client.session.invitation import Destination, join_command
from saratoga_client.session.join import others_at
from saratoga_client.session.table_session import TableSession
from saratoga_client.wording import listed

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

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        is_ours, own = self.is_ours, "" if self.server is None else self.server.own
        try:
            if is_ours and not isinstance(error, SystemExit):
                if isinstance(error, asyncio.CancelledError) and (task := asyncio.current_task()):
                    # Ctrl-C without a screen: the error is raised again when the server may close
                    task.uncancel()
                await self._hold_open(error)
            if is_ours and isinstance(error, KeyboardInterrupt | asyncio.CancelledError):
                say(
                    "The server on this machine stops now; banked cards are kept. To start it again:"
                )
                say(f"  {host_command(own)}")
        finally:
            await self.close()

    async def _hold_open(self, error: BaseException | None) -> None:
        """Keep the server open for the other people at the table, unless the player wants to close it."""
        others = self.still_here()
        if not others:
            return
        with _interrupts() as interrupted:
            if isinstance(error, Problem):
                say(error.what)
            say(others)
            if this_terminal().is_terminal and await _answer(interrupted):
                return
            interrupted.clear()
            assert self.server is not None
            assert self.session is not None
            assert self.session.state is not None
            say(STAYS)
            code = self.session.state.table.code
            say(f"  {join_command(Destination(code, self.server.own))}")
            await interrupted.wait()


@contextmanager
def _interrupts() -> Iterator[asyncio.Event]:
    """Yield an event that Ctrl-C sets, instead of ending the program."""
    loop, interrupted = asyncio.get_running_loop(), asyncio.Event()
    before = signal.getsignal(signal.SIGINT)
    loop.add_signal_handler(signal.SIGINT, interrupted.set)
    try:
        yield interrupted
    finally:
        loop.remove_signal_handler(signal.SIGINT)
        signal.signal(signal.SIGINT, before)


async def _answer(interrupted: asyncio.Event) -> bool:
    """Ask whether to close the server; Ctrl-C and the end of the input mean no."""
    asking = asyncio.ensure_future(confirm("Close the server now?"))
    stopping = asyncio.ensure_future(interrupted.wait())
    try:
        await asyncio.wait((asking, stopping), return_when=asyncio.FIRST_COMPLETED)
        return asking.done() and asking.result()
    except click.Abort:
        return False
    finally:
        for task in (asking, stopping):
            task.cancel()
        await asyncio.gather(asking, stopping, return_exceptions=True)
