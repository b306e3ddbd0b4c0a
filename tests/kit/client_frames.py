"""What a client's bytes are made of, and what may be done to its moves on the way.

Each piece of mischief takes the frames that go forth, whole and masked as they came, and gives what
goes forth instead; when it has happened, it says so once.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field

MOVE = b"\xa4type\xa4move"
"""In every move's frame, as MessagePack has it."""

HELD_AT_MOST = 0.5
"""Seconds for which a move is held back that nothing follows."""

Mischief = Callable[[list[bytes]], list[bytes]]


def split_frames(data: bytes) -> tuple[list[bytes], bytes]:
    """The whole WebSocket frames of a client in `data`, masked as they came, and what is left."""
    frames = []
    while len(data) >= 6:
        size = data[1] & 127
        head = 6
        if size == 126:
            head, size = 8, int.from_bytes(data[2:4], "big")
        elif size == 127:
            head, size = 14, int.from_bytes(data[2:10], "big")
        if len(data) < head + size:
            break
        frames.append(data[: head + size])
        data = data[head + size :]
    return frames, data


def payload_of(frame: bytes) -> bytes:
    """What a client's frame says."""
    head = {126: 8, 127: 14}.get(frame[1] & 127, 6)
    mask, masked = frame[head - 4 : head], frame[head:]
    return bytes(byte ^ mask[place % 4] for place, byte in enumerate(masked))


def is_move(frame: bytes) -> bool:
    return MOVE in payload_of(frame)


@dataclass
class Doubling:
    """The next move goes twice, and once more after the move that follows it."""

    then: Callable[[], None]
    doubled: bytes = b""

    def __call__(self, frames: list[bytes]) -> list[bytes]:
        passed = []
        for frame in frames:
            passed.append(frame)
            if not is_move(frame) or self.doubled is frame:
                continue
            if not self.doubled:
                self.doubled = frame
                passed.append(frame)
            else:
                passed.append(self.doubled)
                self.then()
        return passed


@dataclass
class Reordering:
    """So many moves are held back, and go in another order; `order` sorts in place."""

    count: int
    order: Callable[[list[bytes]], None]
    send: Callable[[bytes], None]
    """For moves that nothing followed in time."""
    then: Callable[[], None]
    held: list[bytes] = field(default_factory=list)
    late: asyncio.TimerHandle | None = None

    def __call__(self, frames: list[bytes]) -> list[bytes]:
        passed = [frame for frame in frames if not is_move(frame)]
        self.held += [frame for frame in frames if is_move(frame)]
        if len(self.held) >= self.count:
            return passed + self._let_go()
        if self.held and self.late is None:
            self.late = asyncio.get_running_loop().call_later(HELD_AT_MOST, self._let_go_late)
        return passed

    def _let_go(self) -> list[bytes]:
        if self.late is not None:
            self.late.cancel()
        frames, self.held = self.held, []
        self.order(frames)
        self.then()
        return frames

    def _let_go_late(self) -> None:
        self.send(b"".join(self._let_go()))


@dataclass
class Watching:
    """Says so when a move goes by."""

    then: Callable[[], None]

    def __call__(self, frames: list[bytes]) -> list[bytes]:
        if any(is_move(frame) for frame in frames):
            self.then()
        return frames
