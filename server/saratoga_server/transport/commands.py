"""The interface between the transport and the dispatcher of commands."""

import asyncio
from typing import Protocol

from saratoga_protocol.commands import AnyCommand, MakeMove
from saratoga_protocol.events import AnyEvent
from saratoga_server.live.session import Session
from saratoga_server.ports import CommitOutcome


class PendingMove(Protocol):
    """A judged move that is being stored."""

    @property
    def durable(self) -> "asyncio.Future[CommitOutcome]":
        """The store's answer; fails with `StoreUnavailable`."""
        ...

    def finish(self) -> AnyEvent | None:
        """Apply the move and return the answer; `None`: call `explain` for the answer.

        Called once when `durable` is done or has failed, even if the connection has gone.
        """
        ...

    async def explain(self) -> AnyEvent:
        """Return the answer to a move that the store has refused."""
        ...


class Commands(Protocol):
    """The commands' entry points. Every error becomes an answer."""

    def connected(self, session: Session) -> None: ...

    def begin_move(self, session: Session, command: MakeMove) -> PendingMove | AnyEvent | None:
        """Judge a move without waiting. Returns its answer, or the pending move; `None`: call `answer`."""
        ...

    async def answer(self, session: Session, command: AnyCommand) -> AnyEvent: ...

    async def disconnected(self, session: Session) -> None: ...

    def now(self) -> int:
        """Return the server's time in milliseconds."""
        ...
