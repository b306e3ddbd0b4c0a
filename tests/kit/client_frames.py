"""A client's WebSocket frames, and faults that change how its moves reach the server.

A fault receives the frames that a client sent, whole and masked, and returns the frames to forward.
It calls `on_done` once, when it has taken effect.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field

MOVE = b"\xa4type\xa4move"
"""Part of every move's frame in MessagePack."""

HELD_AT_MOST = 0.5
"""Longest time in seconds to hold a move back while no other move follows."""

FrameFault = Callable[[list[bytes]], list[bytes]]


def split_frames(data: bytes) -> tuple[list[bytes], bytes]:
    """Return the whole masked frames in `data`, and the bytes after them."""
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
    """Return the payload of a masked frame."""
    head = {126: 8, 127: 14}.get(frame[1] & 127, 6)
    mask, masked = frame[head - 4 : head], frame[head:]
    return bytes(byte ^ mask[place % 4] for place, byte in enumerate(masked))


def is_move(frame: bytes) -> bool:
    return MOVE in payload_of(frame)


@dataclass
class DuplicateMove:
    """A fault that sends the next move twice, and once more after the move that follows it."""

    on_done: Callable[[], None]
    duplicated: bytes = b""

    def __call__(self, frames: list[bytes]) -> list[bytes]:
        passed = []
        for frame in frames:
            passed.append(frame)
            if not is_move(frame) or self.duplicated is frame:
                continue
            if not self.duplicated:
                self.duplicated = frame
                passed.append(frame)
            else:
                passed.append(self.duplicated)
                self.on_done()
        return passed


@dataclass
class ReorderMoves:
    """A fault that holds back `count` moves and sends them in the order that `order` makes."""

    count: int
    order: Callable[[list[bytes]], None]
    send: Callable[[bytes], None]
    """Called with the held moves if too few moves followed in time."""
    on_done: Callable[[], None]
    held: list[bytes] = field(default_factory=list)
    timeout: asyncio.TimerHandle | None = None

    def __call__(self, frames: list[bytes]) -> list[bytes]:
        passed = [frame for frame in frames if not is_move(frame)]
        self.held += [frame for frame in frames if is_move(frame)]
        if len(self.held) >= self.count:
            return passed + self._release()
        if self.held and self.timeout is None:
            self.timeout = asyncio.get_running_loop().call_later(HELD_AT_MOST, self._time_out)
        return passed

    def _release(self) -> list[bytes]:
        if self.timeout is not None:
            self.timeout.cancel()
        frames, self.held = self.held, []
        self.order(frames)
        self.on_done()
        return frames

    def _time_out(self) -> None:
        self.send(b"".join(self._release()))


@dataclass
class AwaitMove:
    """A fault that forwards everything unchanged, and calls `on_done` at the first move."""

    on_done: Callable[[], None]

    def __call__(self, frames: list[bytes]) -> list[bytes]:
        if any(is_move(frame) for frame in frames):
            self.on_done()
        return frames
