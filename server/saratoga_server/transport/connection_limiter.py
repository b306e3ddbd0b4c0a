"""The porter: counts who comes from where, and says at the door when it is too many.

A no at the door is HTTP 429 with `Retry-After`; the program waits and comes again. Behind proxies
nobody's address is known before the request has been read, so the count begins there.
"""

import asyncio
import socket
from collections.abc import Awaitable, Callable
from http import HTTPStatus
from math import ceil
from typing import Final
from urllib.parse import unquote

from websockets.asyncio.server import ServerConnection
from websockets.http11 import Request, Response

from saratoga_server.logs import EventLog
from saratoga_server.rate_limits.addresses import (
    FORWARDED_FOR,
    NO_ADDRESS,
    client_address,
    is_loopback,
)
from saratoga_server.rate_limits.limiter import RateLimiter
from saratoga_server.rate_limits.rates import Action
from saratoga_server.transport.http_api import ANSWER_WITHIN
from saratoga_server.transport.http_responses import no, response
from saratoga_server.transport.intake import Intake
from saratoga_server.transport.response_budget import WAIT, ResponseBudget

HEALTH: Final = frozenset({"/healthz", "/readyz"})
"""Pages that the host's own balancers and watchers may ask for as often as they like."""

FULL_AGAIN: Final = 2.0
"""Seconds after which somebody may have gone."""

HttpAnswer = Callable[[ServerConnection, Request], Awaitable[Response | None]]

log = EventLog("door")


class ConnectionLimiter:
    """Knows every connection of this node, from its first byte to its end."""

    def __init__(
        self,
        ledger: RateLimiter,
        proxies: int,
        http: HttpAnswer,
        long: ResponseBudget,
        on_flood: Callable[[Intake], None],
    ) -> None:
        self.intakes: set[Intake] = set()
        self._ledger = ledger
        self._proxies = proxies
        self._http = http
        self._long = long
        self._on_flood = on_flood
        self._has_seen_proxy = False

    def called(self, intake: Intake, address: object) -> None:
        """Somebody stands outside: counted from now on, whatever they make of it."""
        intake.client = str(address[0]) if isinstance(address, tuple) else NO_ADDRESS
        known = NO_ADDRESS if self._proxies else intake.client
        intake.quota = self._ledger.open(known, intake)

    def came(self, intake: Intake) -> None:
        """The connection stands, and has said nothing yet."""
        self.intakes.add(intake)

    def went(self, intake: Intake) -> None:
        """It has ended, or came to nothing."""
        self.intakes.discard(intake)
        self._long.done(intake.page_size)
        intake.quota.close()

    def floods(self, intake: Intake) -> None:
        """It sends what nobody needs to send."""
        self._ledger.count_refusal(Action.COMMANDS)
        self._on_flood(intake)

    async def asked(self, connection: ServerConnection, request: Request) -> Response | None:
        """Answer a request: with a page, or a no, or `None` to let a WebSocket in."""
        assert isinstance(connection, Intake)
        is_of_the_host = self._is_of_the_host(connection, request)
        self._learn_address(connection, request)
        quota = connection.quota
        quota.requested()
        if is_of_the_host and request.path in HEALTH:
            return await self._http(connection, request)
        if not self._ledger.has_room(quota):
            return _too_many(FULL_AGAIN)
        if wait := quota.take(Action.CONNECTION):
            return _too_many(wait)
        if any(value.lower() == "websocket" for value in request.headers.get_all("Upgrade")):
            return await self._http(connection, request)
        if wait := quota.take(Action.PAGE):
            return _too_many(wait)
        # whoever asks for a record may be looking for tables
        if wait := quota.take(Action.WRONG_CODE):
            return _too_many(wait)
        found = await self._page(connection, request)
        if found is None or found.status_code != HTTPStatus.NOT_FOUND:
            quota.refund(Action.WRONG_CODE)
        if found is not None:
            if not self._long.has_room(len(found.body)):
                return _too_many(WAIT)
            connection.page_size = len(found.body)
        return found

    async def _page(self, connection: Intake, request: Request) -> Response | None:
        if not _may_be_long(request.path):
            return await self._http(connection, request)
        try:
            async with asyncio.timeout(ANSWER_WITHIN):
                await self._long.loading.acquire()
        except TimeoutError:
            return _too_many(WAIT)
        try:
            return await self._http(connection, request)
        finally:
            self._long.loading.release()

    def _is_of_the_host(self, intake: Intake, request: Request) -> bool:
        """Whether a program of the host's asks: from this machine, or a proxy for itself."""
        if self._proxies:
            return not request.headers.get_all(FORWARDED_FOR)
        return is_loopback(intake.client)

    def _learn_address(self, intake: Intake, request: Request) -> None:
        forwarded = request.headers.get_all(FORWARDED_FOR)
        if self._proxies:
            intake.client = client_address(intake.client, forwarded, self._proxies)
            intake.quota.move_to(intake.client)
        elif forwarded and not self._has_seen_proxy:
            self._has_seen_proxy = True
            log.warning(
                "proxy_not_trusted",
                address=intake.client,
                advice="if it is yours, say --trusted-proxies 1: all its players count as one",
            )


class Doorstep:
    """Where connections are taken: the porter hears of each before it has said a byte."""

    def __init__(
        self, porter: ConnectionLimiter, intake: Callable[[socket.socket], Intake]
    ) -> None:
        self._porter = porter
        self._intake = intake

    def called(self, connection: socket.socket, address: object) -> Intake:
        """Somebody stands outside; returns who takes the connection."""
        intake = self._intake(connection)
        self._porter.called(intake, address)
        return intake

    def turned_back(self, guest: Intake) -> None:
        """The connection never was."""
        self._porter.went(guest)

    def count(self) -> int:
        """How many are inside."""
        return len(self._porter.intakes)


def _may_be_long(path: str) -> bool:
    """Whether it is a record, however that is written."""
    return "records" in unquote(path)


def _too_many(wait: float) -> Response:
    seconds = max(1, ceil(wait))
    page = no(
        HTTPStatus.TOO_MANY_REQUESTS,
        "too_fast",
        f"Too much comes from your address. Wait {seconds} s.",
        wait=seconds,
    )
    return response(page, "GET")
