"""A conversation: frames to commands, each paid for, carried out and answered before the next is read.

So whoever floods the house fills only one's own socket.
"""

import asyncio
import time
from typing import Final, Protocol

from saratoga_protocol.codec import BadFrame
from saratoga_protocol.commands import AnyCommand, GetRecord
from saratoga_protocol.events import AnyEvent, MoveMade, Refused
from saratoga_protocol.refusals import ABUSE
from saratoga_server.live.refusals import refused
from saratoga_server.live.session import Session
from saratoga_server.metrics.counters import Metrics
from saratoga_server.rate_limits.rates import BYTES_OF_A_COMMAND, COSTS
from saratoga_server.transport.intake import Intake
from saratoga_server.transport.outbox import Outbox
from saratoga_server.transport.response_budget import WAIT, ResponseBudget

BAD_FRAME_COST: Final = 5
"""Commands that one unreadable frame counts for."""


class Commands(Protocol):
    """What stands behind the door."""

    def connected(self, session: Session) -> None: ...

    async def answer(self, session: Session, command: AnyCommand) -> AnyEvent:
        """Carry out a command; whatever goes wrong is an answer too."""
        ...

    async def disconnected(self, session: Session) -> None: ...

    def now(self) -> int: ...


class CommandLoop:
    """How this node talks with whoever is there."""

    def __init__(
        self,
        live_tables: Commands,
        metrics: Metrics,
        long: ResponseBudget,
        *,
        most_overdrawn: float,
    ) -> None:
        """`most_overdrawn`: commands beyond the allowance after which it is abuse."""
        self._live_tables = live_tables
        self._metrics = metrics
        self._long = long
        self._most_overdrawn = most_overdrawn

    async def converse(self, connection: Intake, session: Session, line: Outbox) -> None:
        """Until the connection ends: raises `ConnectionClosed`. Returns if it is to be heard no more."""
        quota = session.quota
        while True:
            frame: bytes | str | None = await connection.whole()
            if frame is None:
                frame = await _read_by_the_library(connection)
            if line.is_leaving:
                continue
            began = time.monotonic()
            command = _read(session, frame)
            cost = COSTS.get(type(command), 1) + len(frame) // BYTES_OF_A_COMMAND
            if not quota.spend(cost, began):
                wait = quota.seconds_to_wait(cost, began)
                session.tell(refused("too_fast", _id_of(command), wait=wait))
                if quota.overdrawn > self._most_overdrawn:
                    line.close(ABUSE)
                    connection.stop_listening()
                    return
            elif isinstance(command, Refused):
                quota.penalise(BAD_FRAME_COST, began)
                self._metrics.refusals[command.code] += 1
                session.tell(command)
            else:
                line.answering()
                if isinstance(command, GetRecord):
                    await self._answer_long(session, line, command)
                else:
                    answer = await self._live_tables.answer(session, command)
                    session.tell(answer)
                    if isinstance(answer, MoveMade):
                        self._metrics.moves_acknowledged += 1
                        self._metrics.acknowledgement.observe(time.monotonic() - began)
                line.answered()
            if line.is_full:
                await line.drained()

    async def _answer_long(self, session: Session, line: Outbox, command: GetRecord) -> None:
        async with self._long.loading:
            answer = await self._live_tables.answer(session, command)
            frame = session.codec.encode_event(answer)
        if not self._long.has_room(len(frame)):
            session.tell(refused("too_fast", command.id, wait=WAIT))
            return
        try:
            line.send(frame)
            await line.drained()
        finally:
            self._long.done(len(frame))


async def _read_by_the_library(connection: Intake) -> bytes | str:
    frame = await connection.recv()
    if connection.has_more:
        # what came in one piece would be answered in one turn of the loop
        await asyncio.sleep(0)
    return frame


def _read(session: Session, frame: bytes | str) -> AnyCommand | Refused:
    """The command in a frame, or the refusal that names what is wrong with it."""
    try:
        return session.codec.decode_command(frame)
    except BadFrame as fault:
        return refused(fault.code, fault.re, fault.detail)


def _id_of(command: AnyCommand | Refused) -> int | None:
    return command.re if isinstance(command, Refused) else command.id
