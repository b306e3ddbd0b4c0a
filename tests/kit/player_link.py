"""A faulty link for one player; it finds the boundaries between commands.

It can cut the connection between a move and its answer, and send moves twice, late or in another order.
"""

from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from kit.client_frames import (
    AwaitMove,
    DuplicateMove,
    FrameFault,
    ReorderMoves,
    is_move,
    split_frames,
)
from kit.faulty_link import Dial, FaultyLink, LinkConnection, listening

ANSWER = b"move_made"

KEPT_MOVES = 4
"""The number of moves that `repeat_old_moves` sends again."""


class PlayerLink(FaultyLink):
    """A link for one player's connections, one at a time."""

    def __init__(self, dial: Dial) -> None:
        super().__init__(dial)
        self._frame_fault: FrameFault | None = None
        self._moves: deque[bytes] = deque(maxlen=KEPT_MOVES)
        self._has_upgraded = False

    def prepare(self, connection: LinkConnection) -> None:
        """Route a new connection's frames through the present fault."""
        self._has_upgraded = False
        rest = b""

        def to_server(data: bytes) -> bytes:
            nonlocal rest
            data, rest, handshake = rest + data, b"", b""
            if not self._has_upgraded:
                handshake, found, frames = data.partition(b"\r\n\r\n")
                if not found:
                    rest = data
                    return b""
                self._has_upgraded, handshake, data = True, handshake + found, frames
            frames_here, rest = split_frames(data)
            return handshake + b"".join(self._changed(frames_here))

        connection.to_server = to_server

    def _changed(self, frames: list[bytes]) -> list[bytes]:
        passed = frames
        if self._frame_fault is not None and frames:
            passed = self._frame_fault(frames)
        self._moves.extend(frame for frame in frames if is_move(frame))
        return passed

    def cut_before_answer(self, on_done: Callable[[], None]) -> None:
        """Forward the next move, and cut the connection when its answer arrives."""

        def arm() -> None:
            self._frame_fault, connection = None, self.newest
            assert connection is not None

            def to_client(data: bytes) -> bytes:
                if ANSWER not in data:
                    return b""
                on_done()
                return connection.lose()

            connection.to_client = to_client

        self._frame_fault = AwaitMove(arm)

    def duplicate_move(self, on_done: Callable[[], None]) -> None:
        """Send the next move twice, and once more after the move that follows it."""
        self._frame_fault = DuplicateMove(self._ending_fault(on_done))

    def reorder_moves(
        self, count: int, order: Callable[[list[bytes]], None], on_done: Callable[[], None]
    ) -> None:
        """Hold back `count` moves, then send them in another order; `order` rearranges their list in place."""
        self._frame_fault = ReorderMoves(count, order, self._send, self._ending_fault(on_done))

    def _ending_fault(self, on_done: Callable[[], None]) -> Callable[[], None]:
        def done() -> None:
            self._frame_fault = None
            on_done()

        return done

    def _send(self, data: bytes) -> None:
        if self.newest is not None:
            self.newest.send_to_server(data)

    def repeat_old_moves(self) -> None:
        """Send the latest moves once more, even if they were first sent over an earlier connection."""
        if self._has_upgraded:
            self._send(b"".join(self._moves))

    def stop_faults(self) -> None:
        """Forward all further frames unchanged, and resume reading."""
        self._frame_fault = None
        self.resume()


@asynccontextmanager
async def player_link(dial: Dial) -> AsyncIterator[PlayerLink]:
    """Open a player's link to the servers that `dial` connects to."""
    link = PlayerLink(dial)
    async with listening(link):
        yield link
