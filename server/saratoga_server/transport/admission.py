"""Admission of requests: limits per address, checked before any other work for a client.

A refusal is HTTP 429 with `Retry-After`. Behind proxies a client's address is only known once its
request has been read, so limits per address are checked then.
"""

import asyncio
from collections.abc import Awaitable, Callable
from http import HTTPStatus
from math import ceil
from typing import Final
from urllib.parse import unquote

from websockets.http11 import Request, Response

from saratoga_server.client_addresses import (
    FORWARDED_FOR,
    client_address,
    is_loopback,
    network_of,
)
from saratoga_server.limits import Action, Quota, RateLimiter
from saratoga_server.logs import EventLog
from saratoga_server.transport.connection import PlayerConnection
from saratoga_server.transport.http_api import ANSWER_WITHIN
from saratoga_server.transport.http_responses import WAIT, ResponseBudget, refusal_page, response
from saratoga_server.transport.web_files import STATIC

HEALTH: Final = frozenset({"/healthz", "/readyz"})
"""Pages that the operator's load balancers and monitors may request without limit."""

RETRY_WHEN_FULL: Final = 2.0
"""Seconds to wait when an address has too many connections."""

Pages = Callable[[Request], Awaitable[Response]]
"""A function that answers requests other than WebSocket handshakes."""

log = EventLog("admission")


class Admission:
    """The limits on requests for all connections of this node."""

    def __init__(
        self, limiter: RateLimiter, trusted_proxies: int, pages: Pages, budget: ResponseBudget
    ) -> None:
        self._limiter = limiter
        self._proxies = trusted_proxies
        self._pages = pages
        self._budget = budget
        self._has_seen_proxy = False

    def opened(self, connection: PlayerConnection) -> Quota:
        """Count a new connection; end it at once if its address has far too many.

        Behind proxies a connection counts nowhere until its request has been read; nor does one
        from this machine.
        """
        is_near = bool(self._proxies) or is_loopback(connection.address)
        quota = self._limiter.open("" if is_near else network_of(connection.address))
        if not quota.has_room(2):
            connection.cut()
        return quota

    def refusal(self, connection: PlayerConnection, request: Request) -> Response | None:
        """Count a request; return a refusal if there have been too many."""
        self._learn_address(connection, request)
        quota = connection.quota
        if self._is_health_check(connection, request):
            return None
        if not quota.has_room():
            return _too_many(RETRY_WHEN_FULL, request)
        # a page has a dozen files, each requested on a connection of its own
        if wait := quota.take(Action.STATIC if _is_static(request) else Action.CONNECTION):
            return _too_many(wait, request)
        return None

    async def page(self, connection: PlayerConnection, request: Request) -> Response:
        """Return the page, or a refusal if the address requests too many."""
        if _is_static(request) or self._is_health_check(connection, request):
            return await self._pages(request)
        quota = connection.quota
        is_replay = _may_be_long(request.path) and "boards" in unquote(request.path)
        if wait := quota.take(Action.REPLAY if is_replay else Action.PAGE):
            return _too_many(wait, request)
        # a client that requests a record may be guessing table codes
        if wait := quota.take(Action.WRONG_CODE):
            return _too_many(wait, request)
        page = await self._page(request)
        if page.status_code != HTTPStatus.NOT_FOUND:
            quota.refund(Action.WRONG_CODE)
        if not self._budget.has_room(len(page.body)):
            return _too_many(WAIT, request)
        connection.page_size = len(page.body)
        return page

    def ended(self, connection: PlayerConnection) -> None:
        """Stop counting a connection."""
        self._budget.done(connection.page_size)
        connection.quota.close()

    async def _page(self, request: Request) -> Response:
        if not _may_be_long(request.path):
            return await self._pages(request)
        try:
            async with asyncio.timeout(ANSWER_WITHIN):
                await self._budget.loading.acquire()
        except TimeoutError:
            return _too_many(WAIT, request)
        try:
            return await self._pages(request)
        finally:
            self._budget.loading.release()

    def _is_health_check(self, connection: PlayerConnection, request: Request) -> bool:
        """Return whether a health check comes from this machine or from a proxy itself."""
        if request.path not in HEALTH:
            return False
        if self._proxies:
            return not request.headers.get_all(FORWARDED_FOR)
        return is_loopback(connection.address)

    def _learn_address(self, connection: PlayerConnection, request: Request) -> None:
        forwarded = request.headers.get_all(FORWARDED_FOR)
        if self._proxies:
            connection.address = client_address(connection.address, forwarded, self._proxies)
            # a loopback address is limited too, because a proxy has named it
            connection.quota.move_to(network_of(connection.address))
        elif forwarded and not self._has_seen_proxy:
            self._has_seen_proxy = True
            log.warning(
                "proxy_not_trusted",
                address=connection.address,
                advice="start with --trusted-proxies 1 if it is yours: all its players count as one",
            )


def is_handshake(request: Request) -> bool:
    """Return whether a request asks for a WebSocket; the handshake refuses duplicate headers."""
    upgrades = request.headers.get_all("Upgrade")
    return request.method == "GET" and any(value.lower() == "websocket" for value in upgrades)


def _is_static(request: Request) -> bool:
    """Return whether a file of the page is requested, which is answered from memory."""
    path = request.path
    return path.startswith(STATIC) and not is_handshake(request)


def _may_be_long(path: str) -> bool:
    """Return whether a path may be that of a record, in any spelling."""
    return "records" in unquote(path)


def _too_many(wait: float, request: Request) -> Response:
    seconds = max(1, ceil(wait))
    page = refusal_page(
        HTTPStatus.TOO_MANY_REQUESTS,
        "too_fast",
        f"Too many requests come from your address. Wait {seconds} s.",
        wait=seconds,
    )
    return response(page, request.method)
