"""What friends are sent so that they find the table, and how that is read again.

Pure. A table is found by its code where the house is known, such as `mint-otter-42`, and anywhere by
its URL, `ws://192.168.1.7:7470/mint-otter-42`: the house's address with the code behind it.
"""

import re
import shlex
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from saratoga_client import codes
from saratoga_client.local.hosting import friends_address
from saratoga_client.local.installation import install_line
from saratoga_client.local.settings import Settings
from saratoga_protocol import events
from saratoga_rules.games import GAMES

_CODE: Final = re.compile(rf"(?<![a-z0-9-])({codes.TABLE_CODE})(?![a-z0-9-])")
_URL: Final = re.compile(r"(?:wss?|https?)://[^\s\"'<>]+", re.IGNORECASE)
_BARE: Final = re.compile(r"(?:\[[0-9a-f:]+\]|[a-z0-9.-]+):[0-9]{1,5}(?:/\S*)?", re.IGNORECASE)
_SCHEMES: Final = {"ws": "ws", "wss": "wss", "http": "ws", "https": "wss"}


@dataclass(frozen=True, slots=True)
class Destination:
    """Where somebody is asked to come."""

    code: str
    """Of the table; empty: only a house was named."""
    server: str = ""
    """The house's address; empty: the house one goes to anyway."""

    @property
    def url(self) -> str:
        """Both in one word."""
        return f"{self.server.rstrip('/')}/{self.code}"


def destination(text: str) -> Destination | None:
    """Read a code, a URL, or a whole line in which they stand, as friends paste it.

    Capitals and what surrounds it are forgiven; `None` if no table and no house is named.

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
    server, code = _split(url)
    if not code:
        outside = _CODE.search((words.replace(url, " ") if url else words).lower())
        code = outside[1] if outside else ""
    return Destination(code, server) if code or server else None


def _split(url: str) -> tuple[str, str]:
    """A URL's house and table, each empty if it is not there."""
    try:
        parts = urlsplit(url.rstrip(".,;:!?)/"))
        # reading the port checks it
        is_valid = bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_valid = False
    if not is_valid or parts.scheme not in _SCHEMES:
        return "", ""
    folder, _, last = parts.path.rpartition("/")
    code = last.lower() if re.fullmatch(codes.TABLE_CODE, last.lower()) else ""
    # a proxy may tell capitals from small letters in its paths; nobody does in a host's name
    path = folder if code else parts.path
    return f"{_SCHEMES[parts.scheme]}://{parts.netloc.lower()}{path.rstrip('/')}", code


def join_command(where: Destination) -> str:
    """The line that leads there. It is made to be pasted into a shell, and the house says the code.

    >>> join_command(Destination("mint-otter-42", "ws://10.0.0.2:7470"))
    'saratoga join ws://10.0.0.2:7470/mint-otter-42'
    >>> join_command(Destination("mint-otter-42; rm -rf ~"))
    "saratoga join 'mint-otter-42; rm -rf ~'"
    """
    return f"saratoga join {shlex.quote(where.url if where.server else where.code)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Invitation:
    """To a table of one's own."""

    where: Destination
    game: str
    """As people call it."""
    cap: int
    """Minutes; 0 is no cap."""
    install: str
    """The line that makes a friend's machine ready."""

    @property
    def command(self) -> str:
        """What brings a friend to the table."""
        return join_command(self.where)

    def lines(self) -> tuple[str, ...]:
        """The text to send, a line each."""
        cap = f"{self.cap} minutes" if self.cap else "no time limit"
        return (
            f"Race me at patience: {self.game}, {cap}, the same deal for everyone.",
            f"  {self.install}",
            f"  {self.command}",
        )


async def invitation_to(
    table: events.Table, settings: Settings, friends: str = ""
) -> tuple[str, ...]:
    """What friends are sent to come to a table; `friends` is how they reach the house, if known."""
    game = table.settings.game
    return Invitation(
        where=Destination(table.code, friends or await friends_address(settings.server_url)),
        game=GAMES[game].title if game in GAMES else game,
        cap=table.settings.cap,
        install=settings.install or install_line(),
    ).lines()
