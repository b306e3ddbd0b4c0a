"""The page over HTTP: its routes, its files, and the headers that restrict it.

    GET /                        the home
    GET /CODE                    a table; for a link's preview, whose it is and which game
    GET /leaderboards/GAME       the leaderboards of a game
    GET /races/CODE/NUMBER       a race, and an open one by its id
    GET /day/GAME/YYYY-MM-DD     the race on a deal of the day
    GET /c/ID                    a challenge; for a link's preview, whose it is and which game
    GET /static/HASH/FILE        a file of the page, which never changes

All routes answer the same document but for that, which the browser checks each time. A route to
something that does not exist is 404, with a small document that says so; one written with capitals
or a slash at its end leads to the right one.
"""

import html
from collections.abc import Sequence
from functools import lru_cache
from http import HTTPStatus
from typing import Any, Final

import msgspec
from msgspec import Struct
from websockets.datastructures import Headers

from saratoga_protocol.commands import Code, OpenId, RaceId
from saratoga_rules.games import GAMES
from saratoga_server.domain.open_races import DAY, OpenState
from saratoga_server.domain.tables import TableState
from saratoga_server.node import Node
from saratoga_server.ports import StoreUnavailable
from saratoga_server.transport.http_responses import Page, accepts_gzip, is_unchanged
from saratoga_server.transport.web_files import KINDS, STATIC, WebFile, WebFiles, web_file

NO_TABLE: Final = (
    "There is no such table. Look at its code again. Tables close some time after their last race."
)
NO_RACE: Final = "There is no such race."
NO_OPEN: Final = (
    "There is no such deal. Days and challenges are kept for some time after they close."
)
NO_GAME: Final = "There is no such game."
NO_PAGE: Final = "There is no such page."
NOT_SERVED: Final = (
    "This server does not know the name by which your browser asked for it. If it is your server, "
    "start it with --public-url and the address that players use."
)

CHECKED: Final = "no-cache"
"""Browsers may keep it, and ask each time whether it has changed."""
KEPT: Final = "public, max-age=31536000, immutable"

_DIRECTIVES: Final = (
    *("default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self'"),
    *("connect-src 'self'", "manifest-src 'self'", "base-uri 'none'", "form-action 'none'"),
    *("frame-ancestors 'none'", "require-trusted-types-for 'script'", "trusted-types 'none'"),
)
PAGE_RULES: Final = (
    ("Content-Security-Policy", "; ".join(_DIRECTIVES)),
    ("Cross-Origin-Resource-Policy", "same-origin"),
    ("X-Content-Type-Options", "nosniff"),
    ("Referrer-Policy", "no-referrer"),
)
"""The headers that restrict the page: no other origin, nothing inline, no frame around it."""

ISOLATED: Final = ("Cross-Origin-Opener-Policy", "same-origin")
"""Sent over TLS only: elsewhere browsers ignore it and log an error."""

_DOCUMENT: Final = (
    '<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n'
    '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
    "<title>{title} · Saratoga</title>\n"
    '<link rel="icon" href="{folder}icon.svg" type="image/svg+xml">\n'
    '<link rel="stylesheet" href="{folder}page.css">\n'
    '<body class="plain">\n<header class="top"><a class="brand" href="/">Saratoga</a></header>\n'
    '<main class="page">\n<h1>{title}</h1>\n<p>{advice}</p>\n'
    '<p><a href="/">Go home</a></p>\n</main>\n'
)


class WebPage(Struct, frozen=True):
    """The page, its files and its routes."""

    files: WebFiles
    node: Node
    is_tls: bool = False
    """True if the server itself terminates TLS."""

    async def found(self, segments: Sequence[str], headers: Headers, query: str = "") -> Page:
        """Return the answer to a request for this path; a query follows it to a corrected path."""
        match segments:
            case ["static", version, *names]:
                file = self.files.files.get("/".join(names))
                if version == self.files.version and file is not None:
                    return self._file(file, headers, KEPT)
                return self.refusal(HTTPStatus.NOT_FOUND, NO_PAGE)
            case _:
                document = await self._document(segments)
        if isinstance(document, str):
            right = [segment.lower() for segment in segments if segment]
            if right != segments and right and not isinstance(await self._document(right), str):
                return self._moved("/" + "/".join(right) + (f"?{query}" if query else ""))
            return self.refusal(HTTPStatus.NOT_FOUND, document)
        return self._file(document, headers, CHECKED)

    def refusal(self, status: HTTPStatus, text: str) -> Page:
        """Return a small document that says what is wrong; its first sentence is the heading."""
        title, _, advice = text.partition(". ")
        document = _DOCUMENT.format(
            title=html.escape(title.rstrip(".")),
            folder=f"{STATIC}{self.files.version}/",
            advice=html.escape(advice),
        )
        return Page(body=document.encode(), status=status, kind=KINDS[".html"], rules=self._rules())

    def _moved(self, path: str) -> Page:
        return Page(
            body=b"", status=HTTPStatus.FOUND, more=(("Location", path),), rules=self._rules()
        )

    async def _document(self, segments: Sequence[str]) -> WebFile | str:
        """Return the document of a route, or a sentence that says what does not exist.

        A table's has what its invitation shows everybody who has the link.
        """
        index = self.files.index
        try:
            match segments:
                case [""]:
                    return index
                case ["leaderboards", game]:
                    return index if game in GAMES else NO_GAME
                case ["races", code, number]:
                    race = f"{code}/{number}"
                    is_there = fits(race, RaceId) and await self.node.has_race(race)
                    return index if is_there else NO_RACE
                case ["day", game, day]:
                    return await self._open_race(f"day/{game}/{day}")
                case ["c", race]:
                    return await self._open_race(race)
                case ["races", *parts] if fits(race := "/".join(parts), OpenId):
                    return await self._open_race(race)
                case [code] if fits(code, Code):
                    table = await self.node.table(code)
                    return NO_TABLE if table is None else _previewed(index, *preview(table))
                case _:
                    return NO_PAGE
        except StoreUnavailable:
            return index  # the page itself says that the server cannot answer, and tries again

    async def _open_race(self, race_id: str) -> WebFile | str:
        race = await self.node.open_race(race_id) if fits(race_id, OpenId) else None
        return NO_OPEN if race is None else _previewed(self.files.index, *open_preview(race))

    def _file(self, file: WebFile, headers: Headers, cache: str) -> Page:
        is_compressed = bool(file.compressed) and accepts_gzip(headers)
        body, tag = file.body, f'"{file.tag}"'
        more = [("Vary", "Accept-Encoding")]
        if is_compressed:
            body, tag = file.compressed, f'"{file.tag}-gzip"'
            more.append(("Content-Encoding", "gzip"))
        is_kept = is_unchanged(tag, headers)
        return Page(
            body=b"" if is_kept else body,
            status=HTTPStatus.NOT_MODIFIED if is_kept else HTTPStatus.OK,
            kind=file.kind,
            cache=cache,
            more=(("ETag", tag), *more),
            rules=self._rules(),
        )

    def _rules(self) -> tuple[tuple[str, str], ...]:
        return (*PAGE_RULES, ISOLATED) if self.is_tls else PAGE_RULES


def preview(table: TableState) -> tuple[str, str]:
    """Return title and sentence of a link to a table: host, game and time limit, no more."""
    limit = f"{table.settings.cap} minutes" if table.settings.cap else "no time limit"
    title = GAMES[table.settings.game].title
    return (
        f"{table.name(table.host) or 'A friend'} wants to race you",
        f"{title}, {limit}, the same cards for everybody.",
    )


def open_preview(race: OpenState) -> tuple[str, str]:
    """Return title and sentence of a link to an open race: game, and whose challenge it is."""
    title = GAMES[race.game].title if race.game in GAMES else race.game
    if race.kind == DAY:
        return (
            f"{title}: the deal of {race.id[-10:]}",
            "The same cards for everybody, one run each.",
        )
    return f"{race.name or 'A friend'} challenges you", f"{title}, the same cards, one run each."


@lru_cache(maxsize=64)
def _previewed(index: WebFile, title: str, sentence: str) -> WebFile:
    """Return the document with what other programs show of a link to it."""
    texts = {"og:site_name": "Saratoga", "og:title": title, "og:description": sentence}
    tags = "".join(
        f'<meta property="{name}" content="{html.escape(text)}" />\n'
        for name, text in texts.items()
    )
    return web_file(index.body.replace(b"</head>", tags.encode() + b"</head>", 1), index.kind)


def fits(text: str, form: Any) -> bool:
    """Return whether a text is a value of a wire type, such as `Code`."""
    try:
        msgspec.convert(text, form)
    except msgspec.ValidationError:
        return False
    return True
