"""What the server answers over HTTP, on the port of the WebSockets, public and read-only.

    GET /healthz                     the process is alive
    GET /readyz                      the store answers, and players may connect; else 503
    GET /api/leaderboards/GAME       a page, as JSON; ?ranking=&period=&bots=&offset=&limit=
    GET /api/records/CODE/NUMBER     the record of a finished race, as text; 404 until it is over
    GET /api/rules/GAME              the rules of a game in words, as JSON
    GET /api/qr/CODE.svg             the link to a table as a QR code
    GET /api/records/CODE/NUMBER/boards      its boards after every entry, as JSON
    GET /api/records/OPEN, .../OPEN/boards   the same of an open race by its id

Every other path is the page's (`web_page.py`). Everyone who can reach the server may read these
answers, and with `--public-url` so may web pages of any origin. A refusal is JSON with a code for
programs, `error`, and a sentence for people, `message`.
"""

import asyncio
import gzip
from http import HTTPStatus
from typing import Final
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit

import msgspec
from msgspec import Struct
from websockets.datastructures import Headers
from websockets.http11 import Request, Response

from saratoga_protocol.commands import AnyRaceId, Code, GetLeaderboard, OpenId
from saratoga_protocol.refusals import REASONS, RETRIED
from saratoga_rules.game import Game
from saratoga_rules.games import GAMES, prose
from saratoga_server.domain.replays import CannotReplay
from saratoga_server.domain.tables import CommandRejected
from saratoga_server.handlers.records import TooManyReplays
from saratoga_server.logs import EventLog
from saratoga_server.node import Node
from saratoga_server.ports import StoreUnavailable
from saratoga_server.transport.hosts import SVG, Hosts, link_to, qr_svg
from saratoga_server.transport.http_responses import (
    METHODS,
    PUBLIC,
    TEXT,
    Page,
    accepts_gzip,
    is_unchanged,
    refusal_page,
    response,
)
from saratoga_server.transport.web_files import WebFiles
from saratoga_server.transport.web_page import NOT_SERVED, WebPage, fits

ANSWER_WITHIN: Final = 3.0
"""Seconds in which a page must be answered."""

REPLAYED_WITHIN: Final = 2.0
"""Seconds for which a request waits for the boards of a race; the replay goes on."""

FINISHED: Final = "public, max-age=300"
"""The caching of what never changes, but may be deleted."""

STILL_REPLAYING: Final = "The boards of that race are still being replayed. Try again."

ABOUT: Final = "This is a Saratoga server: patience as a race. Join with the program saratoga.\n"
"""The answer to `/` of a server without the page."""

ANY_ORIGIN: Final = ("Access-Control-Allow-Origin", "*")
"""Sent with the data of a public server. Pages elsewhere must not read a server at home."""

TLS_ONLY: Final = ("Strict-Transport-Security", "max-age=31536000")
"""Sent if the server itself terminates TLS: browsers use TLS only from then on."""

NO_HEADERS: Final = Headers()

_PARAMETERS: Final = frozenset({"ranking", "period", "bots", "offset", "limit"})

log = EventLog("http")


class _HttpError(Exception):
    """A request that cannot be answered."""

    def __init__(self, status: HTTPStatus, error: str, message: str) -> None:
        super().__init__(status, error, message)
        self.page = refusal_page(status, error, message)


class HttpPages(Struct):
    """The answers to requests other than WebSocket handshakes."""

    server: Node
    web: WebFiles | None = None
    """The files of the page; `None`: this server has no page."""
    hosts: Hosts = Hosts()

    async def __call__(self, request: Request) -> Response:
        page = await self.page(request.method, request.path, request.headers)
        if self.hosts.public_url and page.rules is PUBLIC:
            page = msgspec.structs.replace(page, more=(*page.more, ANY_ORIGIN))
        if self.hosts.is_tls:
            page = msgspec.structs.replace(page, more=(*page.more, TLS_ONLY))
        return response(page, request.method)

    async def page(self, method: str, target: str, headers: Headers = NO_HEADERS) -> Page:
        """Return the answer to a request; errors are answers too."""
        if method == "OPTIONS":
            allow = ("Access-Control-Allow-Methods", METHODS)
            return Page(body=b"", kind=TEXT, more=(allow,))
        if method not in ("GET", "HEAD"):
            return refusal_page(
                HTTPStatus.METHOD_NOT_ALLOWED,
                "read_only",
                "These pages are read-only. Use GET or HEAD.",
            )
        try:
            async with asyncio.timeout(ANSWER_WITHIN):
                return await self._found(target, headers)
        except _HttpError as error:
            return error.page
        except CommandRejected as refusal:
            return _refused(refusal.code, refusal.detail)
        except (StoreUnavailable, TimeoutError):
            return _refused("store_unavailable")
        except Exception as fault:  # any internal error becomes an answer
            log.error("server_fault", fault=fault, page=target)
            return _refused("server_fault")

    async def _found(self, target: str, headers: Headers) -> Page:
        parts = _split(target)
        segments = [unquote(segment, errors="replace") for segment in parts.path.split("/")[1:]]
        match segments:
            case ["healthz"]:
                return Page(body=b'{"status":"alive"}')
            case ["readyz"]:
                return await self._readiness()
            case ["api", *asked]:
                return await self._data(asked, headers, parts.query)
            case _:
                return await self._web_page(segments, headers, parts.query)

    async def _data(self, asked: list[str], headers: Headers, query: str) -> Page:
        if not self.hosts.serves(headers):
            raise _HttpError(HTTPStatus.MISDIRECTED_REQUEST, "not_served", NOT_SERVED)
        match asked:
            case ["leaderboards", game]:
                return await self._leaderboard(_leaderboard_query(game, query))
            case ["records", *parts, "boards"] if fits(race := "/".join(parts), OpenId):
                return await self._boards(race, headers)
            case ["records", *parts] if fits(race := "/".join(parts), OpenId):
                return await self._record(race)
            case ["records", code, number]:
                return await self._record(f"{code}/{number}")
            case ["records", code, number, "boards"]:
                return await self._boards(f"{code}/{number}", headers)
            case ["rules", game] if game in GAMES:
                return _rules(GAMES[game])
            case ["rules", _]:
                raise CommandRejected("no_such_game")
            case ["qr", name]:
                return await self._qr_code(name.removesuffix(".svg"), headers)
        raise _no_page()

    async def _web_page(self, segments: list[str], headers: Headers, query: str) -> Page:
        if self.web is not None:
            page = WebPage(self.web, self.server, self.hosts.is_tls)
            if not self.hosts.serves(headers):
                return page.refusal(HTTPStatus.MISDIRECTED_REQUEST, NOT_SERVED)
            return await page.found(segments, headers, query)
        if segments == [""]:
            return Page(body=ABOUT.encode(), kind=TEXT, cache="public, max-age=300")
        raise _no_page()

    async def _qr_code(self, code: str, headers: Headers) -> Page:
        if not (fits(code, Code) and await self.server.table(code)):
            raise CommandRejected("no_such_table")
        image = await asyncio.to_thread(qr_svg, link_to(code, self.hosts, headers))
        return Page(body=image, kind=SVG, cache=FINISHED, more=(("Vary", "Host"),))

    async def _readiness(self) -> Page:
        reason = await self.server.why_not_ready()
        if reason is None:
            return Page(body=b'{"status":"ready"}')
        return refusal_page(HTTPStatus.SERVICE_UNAVAILABLE, "not_ready", reason)

    async def _leaderboard(self, query: GetLeaderboard) -> Page:
        board = msgspec.structs.replace(await self.server.leaderboard(query), re=None)
        return Page(body=msgspec.json.encode(board), cache="public, max-age=1")

    async def _record(self, race: str) -> Page:
        text = await self.server.record(_checked(race))
        return Page(body=text.encode(), kind=TEXT, cache=FINISHED)

    async def _boards(self, race: str, headers: Headers) -> Page:
        try:
            async with asyncio.timeout(REPLAYED_WITHIN):
                replay = await self.server.replay(_checked(race))
        except CannotReplay as fault:
            raise _HttpError(HTTPStatus.NOT_FOUND, "no_boards", str(fault)) from None
        except (TimeoutError, TooManyReplays):
            raise _HttpError(HTTPStatus.SERVICE_UNAVAILABLE, "too_busy", STILL_REPLAYING) from None
        body, tag = replay.compressed, f'"{replay.tag}"'
        more = [("ETag", tag), ("Vary", "Accept-Encoding")]
        if is_unchanged(tag, headers):
            status = HTTPStatus.NOT_MODIFIED
            return Page(body=b"", status=status, cache=FINISHED, more=tuple(more))
        if accepts_gzip(headers):
            more.append(("Content-Encoding", "gzip"))
        else:
            body = await asyncio.to_thread(gzip.decompress, body)
        return Page(body=body, cache=FINISHED, more=tuple(more))


def _rules(game: Game) -> Page:
    rules = {"game": game.name, "title": game.title, "about": prose(game), "rules": game.describe()}
    return Page(body=msgspec.json.encode(rules), cache=FINISHED)


def _checked(race: str) -> str:
    """Return the id of a race. Raises `CommandRejected` if it cannot be one."""
    try:
        return msgspec.convert(race, AnyRaceId)
    except msgspec.ValidationError:
        raise CommandRejected("no_such_race") from None


def _no_page() -> _HttpError:
    return _HttpError(HTTPStatus.NOT_FOUND, "no_such_page", "There is no such page.")


def _refused(code: str, detail: str = "") -> Page:
    if code.startswith("no_such") or code == "race_running":
        status = HTTPStatus.NOT_FOUND
    elif code == "server_fault":
        status = HTTPStatus.INTERNAL_SERVER_ERROR
    elif code in RETRIED:
        status = HTTPStatus.SERVICE_UNAVAILABLE
    else:
        status = HTTPStatus.BAD_REQUEST
    return refusal_page(status, code, detail or REASONS[code])


def _split(target: str) -> SplitResult:
    # without a host, a path that begins with two slashes would be read as one
    base = "http://host" if target.startswith("/") else ""
    try:
        return urlsplit(base + target)
    except ValueError:
        raise _HttpError(HTTPStatus.BAD_REQUEST, "bad_request", "That URL is not valid.") from None


def _leaderboard_query(game: str, query: str) -> GetLeaderboard:
    """Parse the query parameters like the fields of the command `get_leaderboard`."""
    try:
        given = dict(parse_qsl(query, keep_blank_values=True, max_num_fields=16))
        if unknown := given.keys() - _PARAMETERS:
            known = ", ".join(sorted(_PARAMETERS))
            raise ValueError(f"There is no parameter {min(unknown)!r}. The parameters are {known}")
        fields = {"type": "get_leaderboard", "id": 1, "game": game, **given}
        return msgspec.convert(fields, GetLeaderboard, strict=False)
    except ValueError as fault:
        raise _HttpError(HTTPStatus.BAD_REQUEST, "bad_query", f"{fault}.") from None
