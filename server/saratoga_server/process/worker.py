"""One worker process, as its parent sees it: started, heard of, sent off, gone."""

import asyncio
import contextlib
import json
import os
import signal
import socket
import sys
from collections.abc import Sequence
from typing import Final

from msgspec import Struct

from saratoga_server.config import CannotStart
from saratoga_server.process.inheritance import FAILED, READY, VARIABLE, Inheritance

READY_WITHIN: Final = 60.0
"""Seconds for a worker to come up; a store that is just starting may take a third of them."""

NOT_FOR_WORKERS: Final = ("NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID")
"""Of the environment: only the parent talks to systemd."""


class Post(Struct, frozen=True, kw_only=True):
    """A place among the workers, filled by one process after another."""

    node: str
    metrics_port: int | None
    doors: tuple[int, ...]
    store: str | None
    place: int = 0
    places: int = 1
    census: int | None = None


class Worker:
    """A process at a post."""

    def __init__(
        self, post: Post, process: asyncio.subprocess.Process, line: socket.socket
    ) -> None:
        self.post = post
        self._process = process
        self._line = line
        self._heard_at: float | None = None
        self._listening: asyncio.Task[None] | None = None
        self.ended: asyncio.Task[int] = asyncio.create_task(process.wait())
        """Its exit code, once it has one; below 0 the signal that killed it."""

    @property
    def pid(self) -> int:
        return self._process.pid

    async def ready(self) -> str:
        """Where players come in, once they may. Raises `CannotStart`."""
        try:
            async with asyncio.timeout(READY_WITHIN):
                told = await self._told()
        except TimeoutError:
            self.kill()
            raise CannotStart(f"{self.post.node} was not ready in {READY_WITHIN:g} s.") from None
        if READY in told:
            self._listening = asyncio.create_task(self._listen())
            return str(told[READY])
        if FAILED in told:
            raise CannotStart(str(told[FAILED]))
        raise CannotStart(f"{self.post.node} ended ({self.how()}) before it was ready.")

    async def _told(self) -> dict[str, object]:
        """What the worker said first; nothing if it ended without a word."""
        loop = asyncio.get_running_loop()
        heard = b""
        while not heard.endswith(b"\n"):
            piece = await loop.sock_recv(self._line, 4096)
            if not piece:
                await self.ended
                return {}
            heard += piece
        told: dict[str, object] = json.loads(heard)
        return told

    async def _listen(self) -> None:
        """Hear signs of life for as long as there are any."""
        loop = asyncio.get_running_loop()
        with contextlib.suppress(OSError):
            while await loop.sock_recv(self._line, 4096):
                self._heard_at = loop.time()

    def silent_for(self) -> float:
        """Seconds since it last gave a sign of life; 0 if it never has: an older one does not."""
        if self._heard_at is None or self.ended.done():
            return 0.0
        return asyncio.get_running_loop().time() - self._heard_at

    def how(self) -> str:
        """How it ended, in two words."""
        code = self._process.returncode
        if code is None:
            return "still there"
        return f"exit code {code}" if code >= 0 else f"by {signal.Signals(-code).name}"

    def retire(self) -> None:
        """Let it end in order now, unannounced: others have its work."""
        self._hang_up()

    def stop(self) -> None:
        """Let it end in order; said again, at once."""
        self._send(signal.SIGTERM)

    def kill(self) -> None:
        self._send(signal.SIGKILL)

    async def gone(self, within: float) -> None:
        """Wait until it has ended; see to it after so many seconds."""
        done, _ = await asyncio.wait([self.ended], timeout=within)
        if not done:
            self.kill()
            await asyncio.wait([self.ended])
        self._hang_up()

    def _hang_up(self) -> None:
        if self._listening is None:
            self._line.close()
        else:
            # closed when nobody listens any more: the next file to be opened has its number
            self._listening.add_done_callback(lambda _: self._line.close())
            self._listening.cancel()

    def _send(self, sign: signal.Signals) -> None:
        if self._process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                self._process.send_signal(sign)


async def start_worker(
    post: Post, *, successor: bool = False, command: Sequence[str] = ()
) -> Worker:
    """Start a process at the post: the same command as ours, unless another is named.

    Raises `CannotStart` if the system gives none: no memory, no files, or no program any more.
    """
    try:
        return await _started(post, successor, command)
    except OSError as fault:
        raise CannotStart(f"{post.node} cannot be started: {fault}.") from fault


async def _started(post: Post, successor: bool, command: Sequence[str]) -> Worker:
    ours, theirs = socket.socketpair()
    with theirs:
        ours.setblocking(False)
        inheritance = Inheritance(
            node=post.node,
            doors=post.doors,
            parent=theirs.fileno(),
            store=post.store,
            metrics_port=post.metrics_port,
            successor=successor,
            place=post.place,
            places=post.places,
            census=post.census,
        )
        handed_down = [*post.doors, theirs.fileno()]
        if post.census is not None:
            handed_down.append(post.census)
        kept = {name: value for name, value in os.environ.items() if name not in NOT_FOR_WORKERS}
        try:
            process = await asyncio.create_subprocess_exec(
                *(command or own_command()),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.DEVNULL,
                pass_fds=handed_down,
                env=kept | {VARIABLE: inheritance.packed()},
                # Ctrl-C is for the parent, which then stops its workers in order
                start_new_session=True,
            )
        except BaseException:
            ours.close()
            raise
    return Worker(post, process, ours)


def own_command() -> list[str]:
    """How this very program was started, interpreter and all."""
    return [sys.executable, *sys.orig_argv[1:]]
