"""What a worker is given by the parent that started it: its name, its sockets, a line to the parent.

A worker runs the same command as its parent, with the same settings; what differs comes in one
variable of the environment. Parent and worker may be of different versions, since a worker that is
started anew after an upgrade is the newer program: unknown fields are passed over, and every new one
needs a default.
"""

import asyncio
import contextlib
import json
import os
import socket
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final, Self

import msgspec

from saratoga_server.cancellation import pause
from saratoga_server.config import Settings
from saratoga_server.process.census import Census

VARIABLE: Final = "SARATOGA_WORKER"

BEAT_EVERY: Final = 2.0
"""Seconds between two signs of life of a worker."""

READY: Final = "ready"
FAILED: Final = "failed"


class Inheritance(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One worker's part. Sockets are given by the numbers of their open files."""

    node: str
    doors: tuple[int, ...]
    """Bound already; all workers listen on the same ones, so none is shut while one of them lives."""
    parent: int
    """A line to the parent: it ends when the worker is to go, or when the parent is no more."""
    store: str | None = None
    """Of the parent's embedded store; `None`: as in the settings."""
    metrics_port: int | None = None
    """As in the settings, but another one for each."""
    place: int = 0
    """Which of the workers it is, from 0, of so many `places`."""
    places: int = 1
    census: int | None = None
    """The open file in which they count their connections; `None`: they do not."""
    successor: bool = False
    """It follows a worker that still has the metrics port, and soon will not."""

    @classmethod
    def of(cls, environment: Mapping[str, str]) -> Self | None:
        """What this process inherits; `None`: it is no worker."""
        given = environment.get(VARIABLE)
        return None if given is None else msgspec.json.decode(given, type=cls)

    def over(self, settings: Settings) -> Settings:
        """The worker's settings: its parent's, but for what is inherited."""
        return replace(
            settings,
            workers=0,
            node=self.node,
            redis=settings.redis if self.store is None else self.store,
            metrics_port=self.metrics_port,
            until_eof=False,
        )

    def packed(self) -> str:
        """For the environment of the worker."""
        return msgspec.json.encode(self).decode()


class Parent:
    """The parent, as its worker sees it."""

    def __init__(self, inheritance: Inheritance) -> None:
        self.inheritance = inheritance
        self._line = socket.socket(fileno=inheritance.parent)

    @classmethod
    def of(cls, environment: Mapping[str, str]) -> Self | None:
        """The parent of this process; `None`: it is no worker."""
        inheritance = Inheritance.of(environment)
        return None if inheritance is None else cls(inheritance)

    def doors(self) -> list[socket.socket]:
        """The sockets to listen on, ours from now on; to be called once."""
        return [socket.socket(fileno=door) for door in self.inheritance.doors]

    def census(self) -> Census | None:
        """Where the workers count; to be called once."""
        given = self.inheritance
        if given.census is None:
            return None
        census = Census(given.census, given.places, given.place)
        os.close(given.census)
        return census

    def say(self, what: str, sentence: str) -> None:
        """Tell the parent that the worker is ready, or why it never will be."""
        told = json.dumps({what: sentence}).encode() + b"\n"
        with contextlib.suppress(OSError):  # the parent is gone: its end is what is heard of it
            self._line.sendall(told)

    async def beat(self) -> None:
        """Let the parent hear that this worker's loop goes round; for ever."""
        while True:
            with contextlib.suppress(OSError):  # nobody listens, or an older parent does not
                self._line.send(b"\n", socket.MSG_DONTWAIT)
            await pause(BEAT_EVERY)

    def on_end(self, then: Callable[[], None]) -> None:
        """Have it done when the parent hangs up; nothing is ever said from that end."""
        loop = asyncio.get_running_loop()

        def heard() -> None:
            if self._is_at_end():
                loop.remove_reader(self._line)
                then()

        loop.add_reader(self._line, heard)

    def _is_at_end(self) -> bool:
        try:
            return not self._line.recv(1, socket.MSG_DONTWAIT)
        except BlockingIOError:
            return False
        except OSError:
            return True

    def close(self) -> None:
        self._line.close()
