"""A connection to a server that reconnects by itself.

`async with Connection(url, token) as connection:` says hello and continues after the welcome.
After a lost connection it reconnects with growing waits, says hello again, restores the seat and
the subscriptions, and sends unanswered commands again under the same ids. The caller sees a pause
and one more `Snapshot` among the events.
"""

import asyncio
import logging
import math
import time
from collections.abc import AsyncIterator, Callable
from functools import partial
from types import TracebackType
from typing import Final, Self, TypeVar

from websockets.asyncio.client import ClientConnection
from websockets.exceptions import ConnectionClosed, WebSocketException

from saratoga_client.net.errors import (
    ClientClosed,
    CommandRefused,
    LinkState,
    RequestTimedOut,
    UnexpectedAnswer,
    Unreachable,
)
from saratoga_client.net.requests import OWN_ID, AnswerObserver, Draft, Requests
from saratoga_client.net.timing import Backoff, ServerTime, Timing
from saratoga_client.net.websocket import (
    RECONNECT_CODES,
    OpenSocket,
    UnusableConnection,
    describe,
    final_error,
    open_websocket,
    was_closed_with,
)
from saratoga_protocol.codec import CODECS, MSGPACK, BadFrame, Frame
from saratoga_protocol.commands import (
    Command,
    Heartbeat,
    Hello,
    JoinTable,
    ListTables,
    MakeMove,
    player_id,
)
from saratoga_protocol.events import Alive, Event, Refused, SeatLost, Tables, Welcome
from saratoga_protocol.refusals import STORE_LOST_DATA

__all__ = ["Answer", "Connection", "LinkState", "Timing"]

LOG: Final = logging.getLogger("saratoga.connection")

ACTIVE_EVERY: Final = 15.0
"""Seconds between two heartbeats with `active`."""

SEAT_EXPIRED: Final = "You were disconnected for too long, so your seat was given up."
"""The reason of `SeatLost` if the server has freed the seat."""

Answer = TypeVar("Answer", bound=Event)


class Connection:
    """A player's connection to a server; use it as an asynchronous context manager.

    Entering raises `Unreachable`, `ServerClosed`, or `CommandRefused` if the hello is refused.
    """

    def __init__(
        self,
        url: str,
        token: str,
        *,
        name: str | None = None,
        bot: bool = False,
        level: str = "",
        legal: bool = False,
        client: str = "saratoga",
        subprotocol: str = MSGPACK,
        timing: Timing = Timing(),  # noqa: B008 - frozen
        backoff: Backoff = Backoff(),  # noqa: B008 - frozen
        open_socket: OpenSocket = open_websocket,
    ) -> None:
        """Open each WebSocket with `open_socket`."""
        self.url: Final = url
        """The server's address."""
        self.player: Final = player_id(token)
        """The player's id, which follows from the token, whatever the server's welcome says."""
        self._hello = Hello(
            id=OWN_ID, token=token, name=name, bot=bot, level=level, legal=legal, client=client
        )
        self._codec = CODECS[subprotocol]
        self._timing = timing
        self._backoff = backoff
        self._observers: list[Callable[[LinkState], None]] = []
        self._open_socket = open_socket
        self.state = LinkState.CONNECTING
        """The state of the link; `subscribe` tells of its changes."""
        self._welcome: Welcome | None = None
        self._requests = Requests(backoff, self._send)
        self._time = ServerTime()
        self._heartbeat: tuple[float, Heartbeat] | None = None
        """The heartbeat that is not answered yet, and when it was sent."""
        self._acted = -math.inf
        """The time of the player's last key, click, scroll or typed line."""
        self._shown = -math.inf
        """The time of the last activity of which the server knows; moves show it by themselves."""
        self._outbox: asyncio.Queue[Frame] | None = None
        self._connecting: asyncio.Task[None] | None = None
        self.losses = 0
        """How often the server has ended the connection because its store lost data."""

    def subscribe(self, observer: Callable[[LinkState], None]) -> Callable[[], None]:
        """Call the observer with every new state; return a function that ends the subscription."""
        self._observers.append(observer)
        return lambda: self._observers.remove(observer)

    def observe_answers(self, observer: AnswerObserver) -> None:
        """Call this observer alone with every command and its answer, refusals included, when `events` reaches it."""
        self._requests.on_answer = observer

    @property
    def welcome(self) -> Welcome:
        """The server's answer to the latest hello."""
        assert self._welcome is not None, "enter the connection first"
        return self._welcome

    @property
    def seat(self) -> str | None:
        """The code of the player's table, whose seat reconnecting restores; `None` without a seat."""
        return self._requests.seat

    def watches(self, code: str) -> bool:
        """Test whether the player watches that table and has not asked for a seat there."""
        return self._requests.only_watches(code)

    def now(self) -> int:
        """Return the server's time in milliseconds since 1970, as estimated from its answers."""
        return self._time.at(time.monotonic())

    async def request(self, draft: Draft, within: float | None = None) -> Event:
        """Send a command, such as `partial(JoinTable, table=code)`, and wait for its answer.

        If the connection is lost, the command is sent again after reconnecting. Raises
        `CommandRefused`, `RequestTimedOut` after `within` seconds (`None`: `Timing.answer_within`),
        or the error that ended the connection.
        """
        command, waiter = self._requests.open(draft)
        if isinstance(command, MakeMove):
            self._shown = time.monotonic()
        try:
            self._send(command)
            async with asyncio.timeout(self._timing.answer_within if within is None else within):
                return await waiter
        except TimeoutError:
            raise RequestTimedOut(f"{type(command).__name__} was not answered") from None
        finally:
            self._requests.forget(command)

    async def ask(self, draft: Draft, kind: type[Answer], within: float | None = None) -> Answer:
        """Send a command as `request` does; raise `UnexpectedAnswer` for an answer of another kind."""
        answer = await self.request(draft, within)
        if not isinstance(answer, kind):
            got, expected = type(answer).__name__, kind.__name__
            raise UnexpectedAnswer(f"the server answered {got} instead of {expected}")
        return answer

    async def follow_tables(self, show: Callable[[Tables], None]) -> None:
        """Call `show` with the list of public tables, now and whenever it changes, until `unfollow_tables`."""
        self._requests.on_tables = show
        show(await self.ask(partial(ListTables, follow=True), Tables))

    async def unfollow_tables(self) -> None:
        """End `follow_tables`."""
        self._requests.on_tables = lambda tables: None
        await self.ask(ListTables, Tables)

    def show_activity(self) -> None:
        """Tell the server soon that the player is there. A bot never does."""
        self._acted = time.monotonic()

    def events(self) -> AsyncIterator[Event]:
        """Yield all snapshots and all events that answer no command. Only one reader is allowed.

        End after `close`; raise any other error that ended the connection.
        """
        return self._requests.stream()

    async def __aenter__(self) -> Self:
        greeted: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._connecting = asyncio.create_task(self._keep(greeted), name="connection to the server")
        try:
            await greeted
        except BaseException:
            await self.close()
            raise
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the connection; the server keeps a seat that the player has for a minute."""
        self._finish(ClientClosed("this program closed the connection"))
        if self._connecting is not None:
            self._connecting.cancel()
            await asyncio.gather(self._connecting, return_exceptions=True)

    # Connecting

    async def _keep(self, greeted: "asyncio.Future[None]") -> None:
        """Keep the connection open: reconnect until an error is final."""
        give_up_at = time.monotonic() + self._timing.first_within
        failures = 0
        while True:
            began = time.monotonic()
            error = await self._attempt(greeted)
            self.losses += was_closed_with(error, {STORE_LOST_DATA.code})
            final = final_error(self.url, error)
            if final is None and not greeted.done() and time.monotonic() > give_up_at:
                final = Unreachable(self.url, describe(error))
            if final is not None:
                self._finish(final)
                if not greeted.done():
                    greeted.set_exception(final)
                return
            held = time.monotonic() - began
            if held > self._timing.steady_after:
                failures = 1
            elif not was_closed_with(error, RECONNECT_CODES):
                failures += 1
            wait = self._backoff.wait(failures)
            LOG.info("connection lost (%r); connecting again in %.2f s", error, wait)
            self._set_state(LinkState.RECONNECTING if greeted.done() else LinkState.CONNECTING)
            await asyncio.sleep(wait)

    async def _attempt(self, greeted: "asyncio.Future[None]") -> Exception:
        """Open one connection and use it until it ends; return the error that ended it."""
        within = self._timing.greet_within
        try:
            async with self._open_socket(self.url, self._codec.subprotocol, within) as socket:
                async with asyncio.timeout(within):
                    await self._greet(socket)
                if not greeted.done():
                    greeted.set_result(None)
                return await self._use(socket)
        except (
            OSError,
            TimeoutError,
            WebSocketException,
            UnusableConnection,
            CommandRefused,
            BadFrame,
        ) as error:
            return error
        except Exception as fault:
            LOG.exception("unexpected error in the connection")
            return Unreachable(self.url, f"an error in this program: {fault!r}")

    async def _greet(self, socket: ClientConnection) -> None:
        """Say hello, learn the server's time, and restore the seat and the subscriptions.

        The commands are sent one by one; events that come between are received as at any other
        time.
        """
        sent = time.monotonic()
        welcome = await self._exchange(socket, self._hello)
        if not isinstance(welcome, Welcome):
            raise UnusableConnection(f"{type(welcome).__name__} instead of Welcome")
        self._time.forget()
        self._time.observe(sent, time.monotonic(), welcome.now)
        self._welcome = welcome
        if self.seat is not None and self.seat != welcome.table:
            self._requests.receive(SeatLost(table=self.seat, reason=SEAT_EXPIRED))
        for command in map(self._requests.number, self._requests.restoring()):
            await self._restore(socket, command)

    async def _restore(self, socket: ClientConnection, command: Command) -> None:
        """Restore a seat or a subscription; deliver the event of its loss if the server refuses."""
        try:
            answer = await self._exchange(socket, command)
        except CommandRefused as refusal:
            if refusal.retry:
                raise UnusableConnection(refusal.message) from refusal
            if isinstance(command, JoinTable):
                self._requests.receive(SeatLost(table=command.table, reason=refusal.message))
        else:
            self._requests.carried_out(command, answer)
            self._requests.deliver(answer)

    async def _exchange(self, socket: ClientConnection, command: Command) -> Event:
        """Send one command and read events until its answer; raises `CommandRefused`."""
        await socket.send(self._codec.encode(command))
        while True:
            event = self._codec.decode_event(await socket.recv())
            if event.re != command.id:
                self._requests.receive(event)
            elif isinstance(event, Refused):
                raise CommandRefused(event)
            else:
                return event

    # Sending and receiving

    async def _use(self, socket: ClientConnection) -> Exception:
        """Read, write and send heartbeats until the connection ends; return the error that ended it."""
        outbox: asyncio.Queue[Frame] = asyncio.Queue()
        self._outbox = outbox
        self._heartbeat = None
        for command in self._requests.unanswered():
            self._send(command)
        self._set_state(LinkState.CONNECTED)
        try:
            async with asyncio.TaskGroup() as group:
                writer = group.create_task(self._write(socket, outbox))
                heartbeat = group.create_task(self._send_heartbeats())
                ended = await self._read(socket)
                writer.cancel()
                heartbeat.cancel()
            return ended
        finally:
            self._outbox = None

    async def _read(self, socket: ClientConnection) -> Exception:
        while True:
            try:
                async with asyncio.timeout(self._timing.silence):
                    frame = await socket.recv()
            except TimeoutError:
                # Abort: a silent server would not answer a close frame either.
                socket.transport.abort()
                return UnusableConnection(f"nothing received for {self._timing.silence:g} s")
            except ConnectionClosed as closed:
                return closed
            try:
                event = self._codec.decode_event(frame)
            except BadFrame as fault:
                LOG.warning("ignored a frame that is not an event: %s", fault)
                continue
            if event.re == OWN_ID:
                self._see_heartbeat(event)
            else:
                self._requests.receive(event)

    async def _write(self, socket: ClientConnection, outbox: "asyncio.Queue[Frame]") -> None:
        while True:
            frame = await outbox.get()
            try:
                async with asyncio.timeout(self._timing.silence):
                    await socket.send(frame)
            except ConnectionClosed:
                return
            except TimeoutError:
                # Abort: the frame may be sent in part, so no other frame can follow it.
                socket.transport.abort()
                return

    async def _send_heartbeats(self) -> None:
        while True:
            if self._heartbeat is None:
                now = time.monotonic()
                is_active = self._acted > self._shown and now - self._shown >= ACTIVE_EVERY
                self._heartbeat = now, Heartbeat(id=OWN_ID, active=is_active)
                self._send(self._heartbeat[1])
            await asyncio.sleep(self._timing.heartbeat_every)

    def _see_heartbeat(self, answer: Event) -> None:
        """Use the answer to the last heartbeat; a refusal shows nothing, and the next heartbeat is sent."""
        if self._heartbeat is not None and isinstance(answer, Alive):
            sent, heartbeat = self._heartbeat
            self._time.observe(sent, time.monotonic(), answer.now)
            if heartbeat.active:
                self._shown = max(self._shown, sent)
        self._heartbeat = None

    def _send(self, command: Command) -> None:
        """Send a command if connected; otherwise an open request is sent after reconnecting."""
        frame = self._codec.encode(
            command
        )  # a text that cannot be encoded is an error of the request
        if self._outbox is not None:
            self._outbox.put_nowait(frame)

    # States

    def _set_state(self, state: LinkState) -> None:
        if state is not self.state:
            self.state = state
            for observer in tuple(self._observers):
                observer(state)

    def _finish(self, end: Exception) -> None:
        if self._requests.end is None:
            self._requests.finish(end)
            self._set_state(LinkState.CLOSED)
