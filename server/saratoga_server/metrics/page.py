"""The page that Prometheus scrapes, in a thread of its own.

The port is taken at once, so that whoever has it already is found out; what it takes to answer is
loaded at the first scrape, and not while players wait for the house to open.
"""

import socket
from selectors import EVENT_READ, DefaultSelector
from threading import Event, Thread
from typing import Final

from saratoga_server.metrics.counters import Metrics

LOOPBACK: Final = "127.0.0.1"

LOOK_EVERY: Final = 0.5
"""Seconds between two looks at whether the page is to be closed."""

MOST_WAITING: Final = 5
"""Scrapes that may wait to be let in."""


class MetricsPage:
    """Served until it is closed, at the end; that blocks for up to `LOOK_EVERY`."""

    __slots__ = ("_closing", "_door", "_metrics", "_node", "_thread", "port")

    def __init__(self, door: socket.socket, metrics: Metrics, node: str) -> None:
        """`door` is listened on already, and the page's from now on."""
        self.port: int = door.getsockname()[1]
        self._door = door
        self._metrics = metrics
        self._node = node
        self._closing = Event()
        self._thread = Thread(target=self._serve, daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._closing.set()
        self._thread.join()

    def _serve(self) -> None:
        with self._door, DefaultSelector() as selector:
            selector.register(self._door, EVENT_READ)
            while not self._closing.is_set():
                if selector.select(LOOK_EVERY):
                    self._answer()

    def _answer(self) -> None:
        # thirty modules, for somebody who may never come
        from saratoga_server.metrics.samples import server_on

        server = server_on(self._door, self._metrics, self._node)
        server.timeout = LOOK_EVERY
        while not self._closing.is_set():
            server.handle_request()


def serve_metrics(metrics: Metrics, port: int, node: str = "", host: str = LOOPBACK) -> MetricsPage:
    """Open the page; port 0 takes a free one. `OSError`: the port is taken."""
    family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    door = socket.socket(family, socket.SOCK_STREAM)
    try:
        door.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        door.bind(address)
        door.listen(MOST_WAITING)
    except OSError:
        door.close()
        raise
    return MetricsPage(door, metrics, node)
