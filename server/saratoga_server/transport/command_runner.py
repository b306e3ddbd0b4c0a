"""The command runner: decodes frames, checks rate limits, runs commands and sends answers.

Commands of a connection are carried out one after another, so a flooding client only delays itself.
A move is judged in the callback that read it, and answered in the callback of its commit; every
other command is a task.
"""

import asyncio
import time
from collections.abc import Coroutine
from functools import partial
from typing import Final, cast

from saratoga_protocol.codec import BadFrame
from saratoga_protocol.commands import Command, GetRecord, MakeMove
from saratoga_protocol.events import BoardChanged, Event, Refused
from saratoga_protocol.refusals import ABUSE
from saratoga_server.handlers.dispatcher import Dispatcher
from saratoga_server.limits import BYTES_OF_A_COMMAND, COSTS
from saratoga_server.live.play import JudgedMove
from saratoga_server.live.refusals import refused
from saratoga_server.live.session import Session
from saratoga_server.logs import EventLog
from saratoga_server.metrics import Metrics
from saratoga_server.transport.connection import PlayerConnection
from saratoga_server.transport.http_responses import WAIT, ResponseBudget

BAD_FRAME_COST: Final = 5
"""The cost of an unreadable frame, in commands."""

log = EventLog("commands")


class CommandRunner:
    """The runner of the commands of all clients of this node."""

    def __init__(
        self,
        commands: Dispatcher,
        metrics: Metrics,
        budget: ResponseBudget,
        *,
        most_overdrawn: float,
    ) -> None:
        """`most_overdrawn`: commands beyond the quota after which a client is disconnected."""
        self._commands = commands
        self._metrics = metrics
        self._budget = budget
        self._most_overdrawn = most_overdrawn
        self._tasks: set[asyncio.Task[None]] = set()

    def begin(self, client: PlayerConnection, session: Session, message: bytes | str) -> None:
        """Carry out the command in a message, or refuse it."""
        began = time.monotonic()
        quota = session.quota
        command = _decoded(session, message)
        kind = type(command)  # an `isinstance` that fails costs a struct 0.3 us
        cost = COSTS.get(kind, 1) + len(message) // BYTES_OF_A_COMMAND
        if not quota.spend(cost, began):
            self._refuse_too_fast(client, session, command, cost, began)
        elif kind is MakeMove:
            self._begin_move(client, session, cast(MakeMove, command), began)
        elif isinstance(command, Refused):
            quota.player.commands.take(BAD_FRAME_COST, began)
            self._metrics.refusals.labels(command.code).inc()
            session.send(command)
        elif isinstance(command, GetRecord):
            self._start(client, self._answer_long(client, session, command))
        else:
            self._start(client, self._answer(client, session, command, began))

    def _refuse_too_fast(
        self,
        client: PlayerConnection,
        session: Session,
        command: Command | Refused,
        cost: float,
        now: float,
    ) -> None:
        wait = session.quota.seconds_to_wait(cost, now)
        command_id = command.re if isinstance(command, Refused) else command.id
        session.send(refused("too_fast", command_id, wait=wait))
        if session.quota.overdrawn > self._most_overdrawn:
            client.refuse_service(ABUSE)

    # Moves

    def _begin_move(
        self, client: PlayerConnection, session: Session, command: MakeMove, began: float
    ) -> None:
        move = self._commands.begin_move(session, command)
        if move is None:
            self._start(client, self._answer(client, session, command, began))
        elif isinstance(move, Event):
            self._acknowledge(client, session, move, began)
        else:
            client.answering()
            move.durable.add_done_callback(partial(self._finish_move, client, session, move, began))

    def _finish_move(
        self,
        client: PlayerConnection,
        session: Session,
        move: JudgedMove,
        began: float,
        durable: "asyncio.Future[object]",
    ) -> None:
        """Answer a move whose commit is done, and take the connection's next command."""
        answer = self._commands.finish_move(session, move)
        if answer is None:
            self._start(client, self._explain(client, session, move, began))
        else:
            self._acknowledge(client, session, answer, began)
            client.answered()

    async def _explain(
        self, client: PlayerConnection, session: Session, move: JudgedMove, began: float
    ) -> None:
        self._acknowledge(client, session, await self._commands.explain(session, move), began)

    def _acknowledge(
        self, client: PlayerConnection, session: Session, answer: Event, began: float
    ) -> None:
        client.send(session.codec.encode(answer))
        if isinstance(answer, BoardChanged):
            self._metrics.acknowledgement.observe(time.monotonic() - began)

    # Every other command

    def _start(self, client: PlayerConnection, work: Coroutine[object, object, None]) -> None:
        client.answering()
        task = asyncio.get_running_loop().create_task(self._carry_out(client, work))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _carry_out(
        self, client: PlayerConnection, work: Coroutine[object, object, None]
    ) -> None:
        try:
            await work
        except Exception as fault:  # the event loop would only mention it at the task's end
            log.error("server_fault", fault=fault)
        finally:
            client.answered()

    async def _answer(
        self, client: PlayerConnection, session: Session, command: Command, began: float
    ) -> None:
        self._acknowledge(client, session, await self._commands.answer(session, command), began)

    async def _answer_long(
        self, client: PlayerConnection, session: Session, command: GetRecord
    ) -> None:
        async with self._budget.loading:
            answer = await self._commands.answer(session, command)
            message = session.codec.encode(answer)
        if not self._budget.has_room(len(message)):
            session.send(refused("too_fast", command.id, wait=WAIT))
            return
        try:
            client.send(message)
            await client.drained()
        finally:
            self._budget.done(len(message))


def _decoded(session: Session, message: bytes | str) -> Command | Refused:
    """Return the command in a message, or the refusal that names what is wrong with it."""
    try:
        return session.codec.decode_command(message)
    except BadFrame as fault:
        return refused(fault.code, fault.re, fault.detail)
