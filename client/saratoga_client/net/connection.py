"""The way to the house: one connection that mends itself.

`async with Connection(url, token) as house:` says hello and goes on when it was well received.
From then on a lost connection is this module's business: it dials again with growing waits, says
hello, takes up the seat and whatever else was followed, and sends again what was not answered,
under the same ids. Programs see a pause, and one `Snapshot` among the events.
"""

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from types import TracebackType
from typing import Final, Self, TypeVar

from websockets.asyncio.client import ClientConnection
from websockets.exceptions import ConnectionClosed, WebSocketException

from saratoga_client.net.backoff import Backoff
from saratoga_client.net.errors import (
    ClientClosed,
    CommandRefused,
    RequestTimedOut,
    UnexpectedAnswer,
    Unreachable,
)
from saratoga_client.net.link_state import LinkState
from saratoga_client.net.requests import Requests
from saratoga_client.net.server_time import ServerTime
from saratoga_client.net.unanswered import OWN_ID, Draft
from saratoga_client.net.websocket import (
    LARGEST_EVENT,
    UnusableConnection,
    describe,
    final_error,
    open_websocket,
    was_asked_to_reconnect,
    was_event_too_large,
)
from saratoga_protocol.codec import CODECS, BadFrame, Frame, UnknownEvent
from saratoga_protocol.commands import AnyCommand, GetRecord, Heartbeat, Hello, Resume, WatchTable
from saratoga_protocol.events import Alive, AnyEvent, Event, SeatLost, Welcome
from saratoga_protocol.events import Refused as RefusedEvent
from saratoga_protocol.version import MAX_COMMAND_BYTES, MSGPACK

__all__ = ["Answer", "Connection", "LinkState", "Timing"]

LOG: Final = logging.getLogger("saratoga.connection")


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing:
    """Seconds after which this end does something by itself."""

    first_within: float = 10.0
    """The first connection must stand by then; later ones are tried for ever."""
    greet_within: float = 8.0
    """Dialling, and then saying hello and taking everything up again."""
    heartbeat_every: float = 2.0
    silence: float = 6.0
    """Nothing heard for so long: the house is gone. It says something every two seconds."""
    answer_within: float = 30.0
    """A command must be answered by then, reconnecting included."""
    steady_after: float = 5.0
    """A connection that held so long wipes out the failures before it."""


Answer = TypeVar("Answer", bound=Event)


class Connection:
    """A player's connection to the house; use it as an asynchronous context manager.

    Entering raises `Unreachable`, `CommandRefused` (the hello) or `ServerClosed`.
    """

    def __init__(
        self,
        url: str,
        token: str,
        *,
        name: str | None = None,
        bot: bool = False,
        legal: bool = False,
        client: str = "saratoga",
        subprotocol: str = MSGPACK,
        timing: Timing = Timing(),
        backoff: Backoff = Backoff(),  # noqa: B008 - frozen
        on_state: Callable[[LinkState], None] = lambda state: None,
    ) -> None:
        self._url = url
        self._hello = Hello(id=OWN_ID, token=token, name=name, bot=bot, legal=legal, client=client)
        self._codec = CODECS[subprotocol]
        self._timing = timing
        self._backoff = backoff
        self._listeners = [on_state]
        self._state = LinkState.CONNECTING
        self._welcome: Welcome | None = None
        self._board = Requests(backoff, self._send)
        self._time = ServerTime()
        self._heartbeat_sent: float | None = None
        self._outbox: asyncio.Queue[Frame] | None = None
        self._keeper: asyncio.Task[None] | None = None

    @property
    def url(self) -> str:
        """Where the house is."""
        return self._url

    @property
    def state(self) -> LinkState:
        return self._state

    def subscribe(self, tell: Callable[[LinkState], None]) -> Callable[[], None]:
        """Have somebody else told of every turn as well; returns what ends that."""
        self._listeners.append(tell)
        return lambda: self._listeners.remove(tell)

    @property
    def welcome(self) -> Welcome:
        """What the house said to the latest hello."""
        assert self._welcome is not None, "enter the connection first"
        return self._welcome

    @property
    def seat(self) -> str | None:
        """The code of the table that is taken up again after a lost connection."""
        return self._board.following.seat

    def follows(self, code: str) -> bool:
        """Whether the player sits at that table now, or watches it."""
        return self._board.following.has(code)

    @property
    def round_trip(self) -> float | None:
        """Seconds that the last heartbeat took, there and back."""
        return self._time.round_trip

    def now(self) -> int:
        """Milliseconds by the house's clock, as well as one can tell from here."""
        return self._time.at(time.monotonic())

    async def request(self, draft: Draft, within: float | None = None) -> AnyEvent:
        """Send a command, such as `partial(JoinTable, table=code)`, and wait for its answer.

        A lost connection in between is no matter. Raises `CommandRefused`; `RequestTimedOut` after `within`
        seconds; or what ended the connection for good.
        """
        command, waiter = self._board.open(draft)
        try:
            self._send(command)
            async with asyncio.timeout(self._timing.answer_within if within is None else within):
                return await waiter
        except TimeoutError:
            raise RequestTimedOut(f"{type(command).__name__} was not answered.") from None
        finally:
            self._board.forget(command)

    async def ask(self, draft: Draft, kind: type[Answer], within: float | None = None) -> Answer:
        """As `request`, where the answer can only be of one kind."""
        answer = await self.request(draft, within)
        if not isinstance(answer, kind):
            raise UnexpectedAnswer(f"{type(answer).__name__} instead of {kind.__name__}")
        return answer

    def events(self) -> AsyncIterator[AnyEvent]:
        """Everything that the house says unasked, and every snapshot; for one reader.

        Ends when this end closes the connection; raises what ended it otherwise.
        """
        return self._board.inbox()

    async def __aenter__(self) -> Self:
        greeted: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._keeper = asyncio.create_task(self._keep(greeted), name="saratoga connection")
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
        """Hang up. The seat stays for a minute; `LeaveTable` gives it up at once."""
        self._finish(ClientClosed("this end has hung up"))
        if self._keeper is not None:
            self._keeper.cancel()
            await asyncio.gather(self._keeper, return_exceptions=True)

    # Keeping the connection up

    async def _keep(self, greeted: "asyncio.Future[None]") -> None:
        """Connect again and again until that is no use any more."""
        patience = time.monotonic() + self._timing.first_within
        failures = 0
        while True:
            began = time.monotonic()
            trouble = await self._attempt(greeted)
            if was_event_too_large(trouble):
                # no other answer is ever so long, and it would be as long again
                longer = UnexpectedAnswer(f"a record of more than {LARGEST_EVENT} bytes")
                self._board.give_up(GetRecord, longer)
            final = final_error(self._url, trouble)
            if final is None and not greeted.done() and time.monotonic() > patience:
                final = Unreachable(self._url, describe(trouble))
            if final is not None:
                self._finish(final)
                if not greeted.done():
                    greeted.set_exception(final)
                return
            held = time.monotonic() - began
            if held > self._timing.steady_after:
                failures = 1
            elif not was_asked_to_reconnect(trouble):
                failures += 1
            wait = self._backoff.wait(failures)
            LOG.info("no house (%r); calling again in %.2f s", trouble, wait)
            self._turn(LinkState.RECONNECTING if greeted.done() else LinkState.CONNECTING)
            await asyncio.sleep(wait)

    async def _attempt(self, greeted: "asyncio.Future[None]") -> Exception:
        """One connection, from dialling to its end: why it ended."""
        within = self._timing.greet_within
        try:
            async with open_websocket(self._url, self._codec.subprotocol, within) as socket:
                async with asyncio.timeout(within):
                    await self._greet(socket)
                if not greeted.done():
                    greeted.set_result(None)
                return await self._converse(socket)
        except (
            OSError,
            TimeoutError,
            WebSocketException,
            UnusableConnection,
            CommandRefused,
            BadFrame,
        ) as trouble:
            return trouble
        except Exception as fault:
            LOG.exception("a fault of this program")
            return Unreachable(self._url, f"a fault of this program: {fault!r}")

    async def _greet(self, socket: ClientConnection) -> None:
        """Say hello, and take up again what was followed."""
        asked = time.monotonic()
        welcome = await self._exchange(socket, self._hello)
        if not isinstance(welcome, Welcome):
            raise UnusableConnection(f"{type(welcome).__name__} instead of a welcome")
        self._time.forget()
        self._time.observe(asked, time.monotonic(), welcome.now)
        self._welcome = welcome
        self._board.rise_to(welcome.next_id)
        for draft in self._board.following.taken_up():
            await self._take_up(socket, self._board.number(draft))

    async def _take_up(self, socket: ClientConnection, command: AnyCommand) -> None:
        """Ask again for what was followed; if it is gone, say so as the house would have."""
        if isinstance(command, Resume) and self._board.is_leaving(command.table):
            return
        try:
            answer = await self._exchange(socket, command)
        except CommandRefused as no:
            if no.retry:
                raise UnusableConnection(no.message) from no
            if isinstance(command, Resume | WatchTable):
                self._board.hear(SeatLost(table=command.table, reason=no.message))
        else:
            self._board.following.answered(command, answer)
            self._board.deliver(answer)

    async def _exchange(self, socket: ClientConnection, command: AnyCommand) -> AnyEvent:
        """Send one command and read until its answer; raises `CommandRefused`."""
        await socket.send(self._codec.encode_command(command))
        while True:
            event = self._codec.decode_event(await socket.recv())
            if event.re != command.id:
                self._board.hear(event)
            elif isinstance(event, RefusedEvent):
                raise CommandRefused(event)
            elif isinstance(event, UnknownEvent):
                raise UnusableConnection(f"the answer is an unknown event, {event.type}")
            else:
                return event

    # Talking

    async def _converse(self, socket: ClientConnection) -> Exception:
        """Read, write and show signs of life until the connection ends: why it ended."""
        outbox: asyncio.Queue[Frame] = asyncio.Queue()
        self._outbox = outbox
        self._heartbeat_sent = None
        for command in self._board.unanswered():
            self._send(command)
        self._turn(LinkState.CONNECTED)
        try:
            async with asyncio.TaskGroup() as group:
                writer = group.create_task(self._write(socket, outbox))
                heart = group.create_task(self._beat())
                ended = await self._read(socket)
                writer.cancel()
                heart.cancel()
            return ended
        finally:
            self._outbox = None

    async def _read(self, socket: ClientConnection) -> Exception:
        while True:
            try:
                async with asyncio.timeout(self._timing.silence):
                    frame = await socket.recv()
            except TimeoutError:
                # A house that is silent would not answer a goodbye either.
                socket.transport.abort()
                return UnusableConnection(f"nothing heard for {self._timing.silence:g} s")
            except ConnectionClosed as closed:
                return closed
            try:
                event = self._codec.decode_event(frame)
            except BadFrame as fault:
                LOG.warning("passed over a frame that is no event: %s", fault)
                continue
            if isinstance(event, Alive) and event.re == OWN_ID:
                self._observe(event)
            else:
                self._board.hear(event)

    async def _write(self, socket: ClientConnection, outbox: "asyncio.Queue[Frame]") -> None:
        while True:
            frame = await outbox.get()
            try:
                async with asyncio.timeout(self._timing.silence):
                    await socket.send(frame)
            except ConnectionClosed:
                return
            except TimeoutError:
                # Nothing may follow a send that was cut short.
                socket.transport.abort()
                return

    async def _beat(self) -> None:
        while True:
            if self._heartbeat_sent is None:
                self._heartbeat_sent = time.monotonic()
                self._send(Heartbeat(id=OWN_ID))
            await asyncio.sleep(self._timing.heartbeat_every)

    def _observe(self, alive: Alive) -> None:
        if self._heartbeat_sent is not None:
            self._time.observe(self._heartbeat_sent, time.monotonic(), alive.now)
            self._heartbeat_sent = None

    def _send(self, command: AnyCommand) -> None:
        """Send now, if there is a connection; whatever is written down goes out with the next one."""
        frame = self._codec.encode_command(command)
        if len(frame) > MAX_COMMAND_BYTES:
            raise ValueError(f"{type(command).__name__} is longer than {MAX_COMMAND_BYTES} bytes.")
        if self._outbox is not None:
            self._outbox.put_nowait(frame)

    # Ending

    def _turn(self, state: LinkState) -> None:
        if state is not self._state:
            self._state = state
            for tell in tuple(self._listeners):
                tell(state)

    def _finish(self, end: Exception) -> None:
        if self._board.end is None:
            self._board.finish(end)
            self._turn(LinkState.CLOSED)
