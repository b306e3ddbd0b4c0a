"""Ends an embedded store that nobody uses any more; a process of its own beside the store.

A store outlives the house that was killed, so that the next one can take it over. If none comes, this
process, which knows nothing but the store's socket, asks it to shut down in order: what it holds is on the disk
and will be there for the next store. Who uses a store is connected to it, so it is unused when nobody
but its guardian is connected, for as long as the guardian was told to wait. When the store ends, however
it does, its guardian ends too.

Run as `python -I -S guardian.py SOCKET SECONDS`, by path and with the standard library only: it is there
for as long as the store, and should be small.
"""

import contextlib
import socket
import sys
import time
from collections.abc import Sequence

NAME = b"guardian"
"""What a guardian calls itself among the store's clients."""

LOOKS = 10
"""How often it looks while it waits; so it may wait that part longer."""

LONGEST_LOOK = 30.0
"""Seconds between two looks at most."""

UP_WITHIN = 20.0
"""Seconds in which the store must listen."""

ANSWER_WITHIN = 5.0
"""Seconds; a store that hangs is not unused."""


class StoreGone(Exception):
    """The store has ended."""


class Line:
    """A connection to the store, for inline commands and their replies."""

    def __init__(self, path: str) -> None:
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.settimeout(ANSWER_WITHIN)
        self._heard = b""
        self._unanswered = 0
        try:
            self._socket.connect(path)
        except OSError:
            self._socket.close()
            raise StoreGone from None
        self.ask(b"CLIENT SETNAME " + NAME)
        self.number = int(self.ask(b"CLIENT ID").lstrip(b":") or 0)
        """The store's own number for this connection: newer ones have higher ones."""

    def ask(self, words: bytes) -> bytes:
        """The reply to one command, a text without its length; nothing if none comes in time."""
        try:
            while self._unanswered:
                # of a store that hung when it was asked
                self._reply()
            self._socket.sendall(words + b"\r\n")
            self._unanswered += 1
            return self._reply()
        except TimeoutError:
            return b""
        except OSError:
            raise StoreGone from None

    def wait(self, seconds: float) -> None:
        """Wait so long, or until the store ends; raises `StoreGone`."""
        self._socket.settimeout(seconds)
        try:
            if not self._socket.recv(1, socket.MSG_PEEK):
                raise StoreGone
        except TimeoutError:
            return
        except OSError:
            raise StoreGone from None
        finally:
            self._socket.settimeout(ANSWER_WITHIN)

    def close(self) -> None:
        self._socket.close()

    def _reply(self) -> bytes:
        while b"\r\n" not in self._heard:
            self._hear_more()
        first, _, rest = self._heard.partition(b"\r\n")
        end = 0
        if first.startswith(b"$"):
            end = int(first[1:]) + 2
        while len(rest) < end:
            rest += self._hear_more()
        self._heard = rest[end:]
        self._unanswered -= 1
        return rest[: end - 2] if end else first

    def _hear_more(self) -> bytes:
        piece = self._socket.recv(65536)
        if not piece:
            raise StoreGone
        self._heard += piece
        return piece


def clients(listed: bytes) -> tuple[list[int], int]:
    """The guardians that are connected, by their ids, and how many others, by the reply to CLIENT LIST."""
    lines = [line for line in listed.split(b"\n") if b" name=" in line]
    guardians = [_id(line) for line in lines if b" name=" + NAME + b" " in line]
    return guardians, len(lines) - len(guardians)


def _id(client: bytes) -> int:
    return int(client.partition(b"id=")[2].partition(b" ")[0])


def guard(path: str, timeout: float) -> None:
    """Stay until the store has ended, or was unused for so many seconds and has been ended."""
    with contextlib.closing(up(path)) as line:
        _stay(line, timeout)


def _stay(line: Line, timeout: float) -> None:
    unused_since, own = None, line.number
    while True:
        guardians, others = clients(line.ask(b"CLIENT LIST"))
        if guardians and min(guardians) < own:
            return  # the guardian of a house before is still there
        now = time.monotonic()
        if others or not guardians:
            unused_since = None
        elif unused_since is None:
            unused_since = now
        elif now - unused_since >= timeout:
            line.ask(b"SHUTDOWN")
            return
        line.wait(min(timeout / LOOKS, LONGEST_LOOK))


def up(path: str) -> Line:
    """A connection to the store as soon as it listens; raises `StoreGone` if it never does."""
    until = time.monotonic() + UP_WITHIN
    while True:
        try:
            return Line(path)
        except StoreGone:
            if time.monotonic() > until:
                raise
        time.sleep(0.05)


def main(arguments: Sequence[str]) -> None:
    path, timeout = arguments
    with contextlib.suppress(StoreGone):
        guard(path, float(timeout))


if __name__ == "__main__":
    main(sys.argv[1:])
