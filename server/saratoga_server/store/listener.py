"""Hearing the nudges that go through one primary: a connection of its own, watched and probed.

Pub/sub keeps nothing, and a connection may be dead, or lead to a primary that nobody talks to any
more, without a word. So a nudge of the listener's own must come round again and again; if one does
not, the connection is made anew, and whatever this node holds is looked at again. redis-py's
pub/sub would subscribe again in silence, and has no bound for waiting (see `line.py` for the bytes).
"""

import asyncio
from collections.abc import Callable, Sequence
from typing import Final

import hiredis

from saratoga_server.background_tasks import run_logged
from saratoga_server.cancellation import cancel_all, pause
from saratoga_server.logs import EventLog
from saratoga_server.messages.node_events import (
    BadNodeEvent,
    Here,
    NodeEventListener,
    decode_node_event,
    encode_node_event,
)
from saratoga_server.store.line import Line, Reply
from saratoga_server.store.primaries import Primaries, Primary

OPEN_WITHIN: Final = 2.0
"""Seconds for one try to connect and subscribe."""

PROBE_EVERY: Final = 1.0
"""Seconds between two nudges of one's own."""

PROBE_WITHIN: Final = 2.0
"""Seconds in which such a nudge must come round."""

PAUSE: Final = 0.25
"""Seconds before a lost connection is made anew."""

_log = EventLog("nudges")


class Listener:
    """Listens to some channels of one primary."""

    def __init__(
        self,
        primaries: Primaries,
        primary: Primary,
        channels: Sequence[str],
        ear: NodeEventListener,
    ) -> None:
        self._primaries = primaries
        self._primary = primary
        self._probed = channels[0]
        self._subscribe = b"".join(_subscription(channel) for channel in channels)
        self._channels = len(channels)
        self._ear = ear
        self.is_open = False
        """Whether whatever is said now will be heard, as far as anybody can know."""
        self._has_complained = False
        self._unconfirmed = 0
        self._echo = 0
        """The number of the newest nudge of one's own that came round."""
        self._fault = ""
        self._stirred = asyncio.Event()

    async def keep(self) -> None:
        """Listen, for ever."""
        while True:
            try:
                await self._listen()
            except Exception as fault:  # the edge: whatever it is, listening begins anew
                self._complain(str(fault) or "late")
            await pause(PAUSE)

    def _complain(self, reason: str) -> None:
        """Say so once, not at every try until it is mended."""
        if not self._has_complained:
            _log.warning("not_listening", store=self._primary.name, reason=reason)
        self._has_complained = True

    async def _listen(self) -> None:
        self._unconfirmed, self._echo, self._fault = self._channels, 0, ""
        await self._primaries.refresh()
        line = Line(self._on_reply, self._on_lost)
        looks: list[asyncio.Task[bool]] = []
        try:
            async with asyncio.timeout(OPEN_WITHIN):
                await line.open(self._primary.client)
                line.send(self._subscribe)
                await self._until(lambda: not self._unconfirmed)
            await self._probe(1)
            # subscribed first, now read: nothing can slip through between the two. What is read may
            # lie at other primaries, and be away: that is no fault of this line
            self.is_open = True
            self._has_complained = False
            looks.append(asyncio.create_task(run_logged(self._ear.subscribed())))
            number = 1
            while True:
                await self._rest()
                number += 1
                await self._probe(number)
        finally:
            self.is_open = False
            line.abort()
            await cancel_all(looks)

    async def _probe(self, number: int) -> None:
        """Say something, and wait until it has come round."""
        event = encode_node_event(Here(self._ear.node, number))
        async with asyncio.timeout(PROBE_WITHIN):
            heard = await self._primary.client.execute_command("SPUBLISH", self._probed, event)
            self._ear.counted(int(heard))
            await self._until(lambda: self._echo >= number)

    async def _until(self, holds: Callable[[], bool]) -> None:
        while not holds():
            if self._fault:
                raise ConnectionError(self._fault)
            self._stirred.clear()
            await self._stirred.wait()

    async def _rest(self) -> None:
        await pause(0)
        try:
            async with asyncio.timeout(PROBE_EVERY):
                await self._until(lambda: False)
        except TimeoutError:
            return

    def _on_reply(self, reply: Reply) -> None:
        if isinstance(reply, hiredis.ReplyError):
            self._stir(str(reply))
        elif reply[0] == b"smessage":
            self._hear(reply[2])
        elif reply[0] == b"ssubscribe":
            self._unconfirmed -= 1
            if not self._unconfirmed:
                self._stir()
        else:
            self._stir("the store does not let us listen there any more")

    def _on_lost(self, line: Line) -> None:
        self._stir("the connection was lost")

    def _stir(self, fault: str = "") -> None:
        self._fault = self._fault or fault
        self._stirred.set()

    def _hear(self, payload: bytes) -> None:
        try:
            event = decode_node_event(payload)
        except BadNodeEvent as fault:
            _log.warning("nudge_unknown", reason=str(fault))
            return
        if type(event) is Here and event.node == self._ear.node:
            self._echo = event.number
            self._stir()
            return
        try:
            self._ear.receive(event)
        except Exception as fault:  # the edge: whatever one nudge comes to, the next one is heard
            _log.error("nudge_not_obeyed", event=type(event).__name__, fault=fault)


def _subscription(channel: str) -> bytes:
    # one channel a command: channels of several slots may not share one
    return b"*2\r\n$10\r\nSSUBSCRIBE\r\n$%d\r\n%b\r\n" % (len(channel), channel.encode())
