"""What the transport needs of the part that carries out commands."""

import asyncio
from typing import Protocol

from saratoga_protocol.commands import AnyCommand, MakeMove
from saratoga_protocol.events import AnyEvent
from saratoga_server.live.session import Session
from saratoga_server.ports import CommitOutcome


class PendingMove(Protocol):
    """A move that was judged and is on its way to the store."""

    @property
    def durable(self) -> "asyncio.Future[CommitOutcome]":
        """Done when the store has answered; fails with `StoreUnavailable`."""
        ...

    def finish(self) -> AnyEvent | None:
        """Apply the move and return the answer; `None`: `explain` has to be asked for it.

        Called once when `durable` is done, however that ended, even if the connection is gone.
        """
        ...

    async def explain(self) -> AnyEvent:
        """Return the answer to a move that the store did not accept as it was judged."""
        ...


class Commands(Protocol):
    """Carries out commands. Whatever goes wrong in doing so is an answer as well."""

    def connected(self, session: Session) -> None: ...

    def begin_move(self, session: Session, command: MakeMove) -> PendingMove | AnyEvent | None:
        """Judge a move without waiting; an event is its answer, `None`: ask `answer` instead."""
        ...

    async def answer(self, session: Session, command: AnyCommand) -> AnyEvent: ...

    async def disconnected(self, session: Session) -> None: ...

    def now(self) -> int:
        """Return the server's time in milliseconds."""
        ...
