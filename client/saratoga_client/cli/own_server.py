"""A server that this program has started: before it closes, the player is asked if people are on it."""

import asyncio
import signal
from collections.abc import Iterator
from contextlib import AbstractAsyncContextManager, AsyncExitStack, contextmanager
from types import TracebackType
from typing import Final, Self

import click

from saratoga_client.cli.prompt import confirm
from saratoga_client.local.hosting import LocalServer, still_here
from saratoga_client.local.identity import token_for
from saratoga_client.local.printed_command import host_command
from saratoga_client.local.server_process import Person
from saratoga_client.local.terminal import this_terminal
from saratoga_client.output import say
from saratoga_client.problems import Problem
from saratoga_client.session.invitation import Destination, join_command
from saratoga_protocol.commands import player_id

STAYS: Final = "The server stays open until Ctrl-C. To return, in another window:"


class OwnServer:
    """The server on this machine, if this program uses one; an asynchronous context manager.

    At its end the server is closed, if this program has started it. If other people are on it, the player is
    asked first; without a terminal, or if the answer is no, the server stays until Ctrl-C. It does not stay
    after SIGTERM, SIGHUP or SIGQUIT, which raise `SystemExit`.
    """

    def __init__(self) -> None:
        self.server: LocalServer | None = None
        """The open server; `None` if there is none."""
        self.code = ""
        """The player's last table there, to return to."""
        self._stack = AsyncExitStack()

    @property
    def is_ours(self) -> bool:
        """True if a server is open that this program has started."""
        return self.server is not None and self.server.is_ours

    async def open(self, server: AbstractAsyncContextManager[LocalServer]) -> LocalServer:
        """Find or start the server; raises `Problem`."""
        self.code = ""
        self.server = await self._stack.enter_async_context(server)
        return self.server

    async def close(self) -> None:
        """Close the server without a question."""
        self.server = None
        await self._stack.aclose()

    async def others(self) -> tuple[Person, ...]:
        """Return the other people on the server that this program has started."""
        if self.server is None or not self.server.is_ours:
            return ()
        own = player_id(token_for(self.server.own))
        return tuple(each for each in await self.server.people() if each.player != own)

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
        """Keep the server open while other people are on it, unless the player wants to close it."""
        others = await self.others()
        if not others:
            return
        with _interrupts() as interrupted:
            if isinstance(error, Problem):
                say(error.what)
            say(still_here(others))
            if this_terminal().is_terminal and await _answer(interrupted):
                return
            interrupted.clear()
            assert self.server is not None
            say(STAYS)
            say(f"  {join_command(Destination(self.code, self.server.own))}")
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
