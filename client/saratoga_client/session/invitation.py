"""Invitations to a table: write the text for friends, draw the link, and parse a pasted invitation.

A code such as `mint-otter-42` finds a table at a known server. A URL such as
`ws://192.168.1.7:7470/mint-otter-42`, the server's address with the code, finds it from anywhere.
"""

import re
from dataclasses import dataclass
from itertools import zip_longest
from typing import Final
from urllib.parse import urlsplit

from saratoga_client.local.hosting import friends_address
from saratoga_client.local.origins import WEBSOCKET_SCHEMES
from saratoga_client.local.printed_command import table_command
from saratoga_client.local.settings import Settings
from saratoga_client.wording import game_title
from saratoga_protocol import events
from saratoga_rules.records.record import GAME, OPEN_ID, TABLE_CODE

FROM_A_CLONE: Final = "To install it, in a clone of Saratoga: pip install ."
"""The line of an invitation if the setting `install` is empty; the package is not published."""

_CODE: Final = re.compile(rf"(?<![a-z0-9-])({TABLE_CODE})(?![a-z0-9-])")
_URL: Final = re.compile(r"(?:wss?|https?)://[^\s\"'<>]+", re.IGNORECASE)
_BARE: Final = re.compile(r"(?:\[[0-9a-f:]+\]|[a-z0-9.-]+):[0-9]{1,5}(?:/\S*)?", re.IGNORECASE)
"""An address with a port but without a scheme."""
_NAMED: Final = re.compile(rf"(?:[a-z0-9-]+\.)+[a-z]+/(?:\S*/)?{TABLE_CODE}", re.IGNORECASE)
"""A table's URL without a scheme and a port, as browsers show it."""


@dataclass(frozen=True, slots=True)
class Destination:
    """The table and the server that an invitation names."""

    code: str
    """The table's code; empty if only a server is named."""
    server: str = ""
    """The server's address; empty for the server of the settings."""

    @property
    def url(self) -> str:
        """The URL of the table: the server's address with the code as its path."""
        return f"{self.server.rstrip('/')}/{self.code}"

    @property
    def page(self) -> str:
        """The address at which a browser shows the table."""
        # ws becomes http, and wss https
        return "http" + self.url.removeprefix("ws")


def destination(text: str) -> Destination | None:
    """Parse a code, a URL, or a pasted line that contains either.

    Accept capitals and surrounding text. Return `None` if the text names no table and no server.

    >>> destination("Mint-Otter-42")
    Destination(code='mint-otter-42', server='')
    >>> destination("saratoga join ws://10.0.0.2:7470/mint-otter-42")
    Destination(code='mint-otter-42', server='ws://10.0.0.2:7470')
    >>> destination("saratoga join mint-otter-42 --server wss://cards.example.org")
    Destination(code='mint-otter-42', server='wss://cards.example.org')
    """
    words = text.strip()
    found = _URL.search(words)
    url = found[0] if found else ""
    if not url and _BARE.fullmatch(words):
        url = f"ws://{words}"
    elif not url and _NAMED.fullmatch(words):
        url = f"wss://{words}"
    server, code = _split(url)
    if not code:
        outside = _CODE.search((words.replace(url, " ") if url else words).lower())
        code = outside[1] if outside else ""
    return Destination(code, server) if code or server else None


def is_open_race(code: str) -> bool:
    """Return whether a destination is an open race and not a table."""
    return re.fullmatch(OPEN_ID, code) is not None


def _split(url: str) -> tuple[str, str]:
    """Return the server and the table's code in a URL, each empty if missing."""
    try:
        parts = urlsplit(url.rstrip(".,;:!?)/"))
        # reading the port checks it
        is_valid = bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_valid = False
    if not is_valid or parts.scheme not in WEBSOCKET_SCHEMES:
        return "", ""
    folder, _, last = parts.path.rpartition("/")
    # paths may be case-sensitive behind a proxy; host names never are
    if found := re.search(f"/(?:c/([a-z2-7]{{16}})|(day/{GAME}/[0-9-]{{10}}))$", parts.path):
        code, path = found[1] or found[2], parts.path[: found.start()]
    else:
        code = last.lower() if re.fullmatch(TABLE_CODE, last.lower()) else ""
        path = folder if code else parts.path
    return f"{WEBSOCKET_SCHEMES[parts.scheme]}://{parts.netloc.lower()}{path.rstrip('/')}", code


@dataclass(frozen=True, slots=True, kw_only=True)
class Inviter:
    """The author of the invitations to the tables of a server."""

    server: str
    """The address by which friends reach the server."""
    install: str = ""
    """The command that installs the program; empty for the line `FROM_A_CLONE`."""

    def page(self, table: events.Table) -> str:
        """Return the address at which friends' browsers show the table."""
        return Destination(table.code, self.server).page

    def lines(self, table: events.Table) -> tuple[str, ...]:
        """Return the text for friends, with the table's present settings."""
        settings = table.settings
        cap = f"{settings.cap} minutes" if settings.cap else "no time limit"
        return (
            f"Race me at patience: {game_title(settings.game)}, {cap}, the same deal for everyone.",
            f"In a browser: {self.page(table)}",
            f"  {self.install}" if self.install else FROM_A_CLONE,
            f"  {table_command('join', table.code, self.server)}",
        )


async def inviter_for(settings: Settings, friends: str = "") -> Inviter:
    """Return the author of invitations to a server; `friends` is its address for them, if known."""
    return Inviter(
        server=friends or await friends_address(settings.server_url),
        install=settings.install,
    )


QUIET: Final = 2
"""The width in modules of the empty edge; readers need it to find the code."""

_HALVES: Final = {(0, 0): " ", (1, 0): "▀", (0, 1): "▄", (1, 1): "█"}


def qr_lines(text: str, *, ascii_only: bool = False, on_dark: bool = True) -> tuple[str, ...]:
    """Return the lines of the QR code of a text, all of one width.

    `on_dark`: characters are light on a dark ground, so they draw the light parts of the code. Two
    rows of modules share a line; with ASCII only, a module takes a line and two characters.
    """
    import segno  # a tenth of the program's start

    code = segno.make_qr(text, error="l")
    rows = [
        [bool(module) is not on_dark for module in row] for row in code.matrix_iter(border=QUIET)
    ]
    if ascii_only:
        return tuple("".join("##" if module else "  " for module in row) for row in rows)
    pairs = zip_longest(rows[::2], rows[1::2], fillvalue=[False] * len(rows[0]))
    return tuple(
        "".join(_HALVES[upper, lower] for upper, lower in zip(*pair, strict=True)) for pair in pairs
    )
