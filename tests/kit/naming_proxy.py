"""A proxy that says who calls, as a host's own does: it adds the caller at the end of a header."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from kit.relays import Exchange, Relay, open_exchange, to_port
from saratoga_server.rate_limits.addresses import FORWARDED_FOR

LINE_END = b"\r\n"


class NamingProxy:
    """Passes connections on to one port, under the address that it is told to name."""

    def __init__(self, port: int) -> None:
        self.url = ""
        self.client = "203.0.113.7"
        self.exchange = Exchange(to_port(port), self._called)

    def _called(self, relay: Relay) -> None:
        waiting = b""
        is_named = False

        def named(data: bytes) -> bytes:
            """The request with the header behind its first line."""
            nonlocal waiting, is_named
            if is_named:
                return data
            waiting += data
            line, found, rest = waiting.partition(LINE_END)
            if not found:
                return b""
            is_named = True
            return line + found + f"{FORWARDED_FOR}: {self.client}".encode() + LINE_END + rest

        relay.forth = named


@asynccontextmanager
async def naming_proxy(port: int) -> AsyncIterator[NamingProxy]:
    """A proxy before a port of this machine, until the end."""
    proxy = NamingProxy(port)
    async with open_exchange(proxy.exchange) as own_port:
        proxy.url = f"ws://127.0.0.1:{own_port}"
        yield proxy
