"""HTTP responses with the headers that all of them have."""

import email.utils
from http import HTTPStatus
from typing import Final

import msgspec
from websockets.datastructures import Headers
from websockets.http11 import Response

METHODS: Final = "GET, HEAD, OPTIONS"
TEXT: Final = "text/plain; charset=utf-8"
JSON: Final = "application/json"
NOT_KEPT: Final = "no-store"


class Page(msgspec.Struct, frozen=True, kw_only=True):
    """The content of a response, without the headers that every response has."""

    body: bytes
    status: HTTPStatus = HTTPStatus.OK
    kind: str = JSON
    cache: str = NOT_KEPT
    more: tuple[tuple[str, str], ...] = ()
    """Further headers of the response."""


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
            ("Content-Length", str(len(page.body))),
            ("Cache-Control", page.cache),
            ("Access-Control-Allow-Origin", "*"),
            ("X-Content-Type-Options", "nosniff"),
            ("Referrer-Policy", "no-referrer"),
            ("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'"),
            *page.more,
        ]
    )
    body = b"" if method == "HEAD" else page.body
    return Response(page.status.value, page.status.phrase, headers, body)
