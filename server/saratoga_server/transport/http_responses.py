"""HTTP responses, the request headers that choose them, and a memory limit for long ones.

Long answers are records of up to two megabytes. A client that does not read its record holds memory
until it is aborted after two seconds. So the bytes of long answers that are being sent at once, to
all clients together, are limited.
"""

import asyncio
import email.utils
import re
from http import HTTPStatus
from typing import Final

import msgspec
from websockets.datastructures import Headers
from websockets.http11 import Response

METHODS: Final = "GET, HEAD, OPTIONS"
TEXT: Final = "text/plain; charset=utf-8"
JSON: Final = "application/json"
NOT_KEPT: Final = "no-store"

_NEVER: Final = re.compile(r"q\s*=\s*0(\.0*)?", re.IGNORECASE)
"""The weight of a coding that the client does not read."""

Rules = tuple[tuple[str, str], ...]

PUBLIC: Final[Rules] = (
    ("X-Content-Type-Options", "nosniff"),
    ("Referrer-Policy", "no-referrer"),
    ("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'"),
)
"""The headers of data."""


class Page(msgspec.Struct, frozen=True, kw_only=True):
    """The content of a response, without the headers that every response has."""

    body: bytes
    status: HTTPStatus = HTTPStatus.OK
    kind: str = JSON
    cache: str = NOT_KEPT
    more: tuple[tuple[str, str], ...] = ()
    """Further headers of the response."""
    rules: Rules = PUBLIC
    """The headers that say what browsers may do with the response."""


def refusal_page(status: HTTPStatus, error: str, message: str, wait: int = 1) -> Page:
    """Return the page of a refusal; `wait`: seconds after which to try again."""
    more: tuple[tuple[str, str], ...] = ()
    if status is HTTPStatus.METHOD_NOT_ALLOWED:
        more = (("Allow", METHODS),)
    if status in (HTTPStatus.SERVICE_UNAVAILABLE, HTTPStatus.TOO_MANY_REQUESTS):
        more = (("Retry-After", str(wait)),)
    return Page(
        body=msgspec.json.encode({"error": error, "message": message}), status=status, more=more
    )


def response(page: Page, method: str) -> Response:
    """Return the page as an HTTP response."""
    headers = Headers(
        [
            ("Date", email.utils.formatdate(usegmt=True)),
            ("Connection", "close"),
            ("Content-Type", page.kind),
            ("Cache-Control", page.cache),
            *page.rules,
            *page.more,
        ]
    )
    if page.status is not HTTPStatus.NOT_MODIFIED:
        headers["Content-Length"] = str(len(page.body))
    body = b"" if method == "HEAD" else page.body
    return Response(page.status.value, page.status.phrase, headers, body)


def accepts_gzip(headers: Headers) -> bool:
    """Return whether the client reads bodies compressed by gzip."""
    codings = (each.partition(";") for each in _listed(headers, "Accept-Encoding"))
    return any(
        name.strip().lower() == "gzip" and not _NEVER.fullmatch(weight.strip())
        for name, _, weight in codings
    )


def is_unchanged(tag: str, headers: Headers) -> bool:
    """Return whether the client has the body with this entity tag."""
    # a proxy may have made the tag a weak one
    return tag in [each.removeprefix("W/") for each in _listed(headers, "If-None-Match")]


def _listed(headers: Headers, name: str) -> list[str]:
    """Return the members of a header that is a list, and may stand there several times."""
    return [each.strip() for value in headers.get_all(name) for each in value.split(",")]


LONG: Final = 64 * 1024
"""The size in bytes above which an answer is long."""

MOST_BYTES: Final = 32 * 1024 * 1024
"""The most bytes of long answers that are being sent at once."""

LOADED_AT_ONCE: Final = 8
"""The most records that are being read from the store at once; their sizes are unknown."""

WAIT: Final = 1.0
"""Seconds after which a refused client may try again."""


class ResponseBudget:
    """The budget for long answers that this node is sending."""

    def __init__(self, most: int = MOST_BYTES) -> None:
        self.left = most
        """The bytes left in the budget."""
        self.loading = asyncio.Semaphore(LOADED_AT_ONCE)
        """Held while a record is read from the store."""

    def has_room(self, size: int) -> bool:
        """Reserve `size` bytes until `done`; return False if there is no room."""
        if size > LONG:
            if size > self.left:
                return False
            self.left -= size
        return True

    def done(self, size: int) -> None:
        """Release the bytes of an answer that was read, or whose reader has gone."""
        if size > LONG:
            self.left += size
