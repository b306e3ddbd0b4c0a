"""One player's way to the house, which knows where one command ends and the next begins.

A line leads through a balancer to some node. It can be cut at once or between a move and its answer,
go dead without a word, be read no more for a while, and carry moves twice, late or in another order.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from kit.balancer import Balancer
from kit.client_frames import Doubling, Mischief, Reordering, Watching, is_move, split_frames
from kit.relays import End, Exchange, Relay, open_exchange

ANSWER = b"move_made"

REMEMBERED = 4
"""Moves that may come once more."""


class PlayerLine:
    """Where one player connects; each new connection goes to the next node that takes it."""

    def __init__(self, house: Balancer) -> None:
        self.url = ""
        self.node = 0
        """The port of the node that the present connection leads to; 0: to none."""
        self.mischief: Mischief | None = None
        """What is done to the frames that go forth."""
        self._house = house
        self.exchange = Exchange(self._dial, self._called, self._ended)
        self._present: Relay | None = None
        self._rest = b""
        self._greeted = False
        self._moves: deque[bytes] = deque(maxlen=REMEMBERED)

    # Connections

    def _called(self, relay: Relay) -> None:
        self._present, self._rest, self._greeted = relay, b"", False
        relay.forth = self._forth

    async def _dial(self, end: Callable[[], End]) -> asyncio.Transport:
        transport, self.node = await self._house.dial_any(end)
        return transport

    def _ended(self, relay: Relay) -> None:
        if relay is self._present:
            self._present, self.node = None, 0

    def _forth(self, data: bytes) -> bytes:
        """Whole frames only; they may be changed on the way."""
        data = self._rest + data
        handshake = b""
        if not self._greeted:
            handshake, found, frames = data.partition(b"\r\n\r\n")
            if not found:
                self._rest = data
                return b""
            self._greeted, handshake, data = True, handshake + found, frames
        frames_here, self._rest = split_frames(data)
        passed = frames_here
        if self.mischief is not None and frames_here:
            passed = self.mischief(frames_here)
        self._moves.extend(frame for frame in frames_here if is_move(frame))
        return handshake + b"".join(passed)

    # What befalls it

    def cut(self) -> None:
        """Break off at once."""
        if self._present is not None:
            self._present.cut()

    def cut_before_answer(self, then: Callable[[], None]) -> None:
        """Pass on the next move, and break off when its answer comes."""

        def arm() -> None:
            self.mischief, relay = None, self._present
            assert relay is not None

            def lose(data: bytes) -> bytes:
                if ANSWER in data:
                    asyncio.get_running_loop().call_soon(relay.cut)
                    then()
                return b""

            relay.back = lose

        self.mischief = Watching(arm)

    def go_dead(self) -> None:
        """Half-open: the present connection swallows everything; a new one may be made."""
        if self._present is not None:
            self._present.swallows = True

    def stall(self) -> None:
        """Nothing that the house says is read any more."""
        if self._present is not None:
            self._present.stall()

    def go_on(self) -> None:
        for relay in self.exchange.relays:
            relay.go_on()

    def double(self, then: Callable[[], None]) -> None:
        """The next move goes twice, and once more after the move that follows it."""
        self.mischief = Doubling(self._done(then))

    def reorder(
        self, count: int, order: Callable[[list[bytes]], None], then: Callable[[], None]
    ) -> None:
        """Hold so many moves back, and let them go in another order; `order` sorts in place."""
        self.mischief = Reordering(count, order, self._send, self._done(then))

    def _done(self, then: Callable[[], None]) -> Callable[[], None]:
        def done() -> None:
            self.mischief = None
            then()

        return done

    def _send(self, data: bytes) -> None:
        if self._present is not None:
            self._present.send_forth(data)

    def repeat_old_moves(self) -> None:
        """The latest moves that went this way come once more, whichever connection they went by."""
        if self._greeted:
            self._send(b"".join(self._moves))

    def untouched(self) -> None:
        """From now on everything goes as it comes."""
        self.mischief = None
        self.go_on()

    def drop_dead_ends(self) -> None:
        """What only the house still takes for a connection is cut there as well."""
        for relay in list(self.exchange.relays):
            if relay is not self._present:
                relay.cut()


@asynccontextmanager
async def player_line(house: Balancer) -> AsyncIterator[PlayerLine]:
    """A line that may be called while entered."""
    line = PlayerLine(house)
    async with open_exchange(line.exchange) as port:
        line.url = f"ws://127.0.0.1:{port}"
        yield line
