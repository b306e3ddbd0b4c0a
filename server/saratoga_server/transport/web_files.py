"""The files of the page, read and compressed once when the server starts.

All of them are served in one folder whose name is a hash over all of them, so that browsers may
keep them for ever and relative imports between modules work. Comments, a fifth of what a browser
would load, are left out. The document has what the page knows of each game, read from the rules.
"""

import gzip
import hashlib
import re
from collections.abc import Mapping
from dataclasses import astuple
from pathlib import Path
from typing import Any, Final

import msgspec
from msgspec import Struct

from saratoga_rules.game import Game
from saratoga_rules.games import GAMES, RULES_VERSION
from saratoga_rules.money import CARD_PRIZE, price
from saratoga_rules.piles import Pile
from saratoga_rules.records.digest_words import WORDS
from saratoga_rules.records.record import VOID_REASONS
from saratoga_rules.vocabulary.building import Pairing
from saratoga_rules.vocabulary.deal_steps import ToReserve
from saratoga_rules.vocabulary.stocks import UNLIMITED
from saratoga_server.transport.http_responses import TEXT

KINDS: Final[Mapping[str, str]] = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".webmanifest": "application/manifest+json",
    ".txt": TEXT,
}
"""The content types by suffix; files with other suffixes are not served."""

PACKAGE: Final = Path(__file__).parents[1]
"""The folder of the server's package."""
INDEX: Final = "index.html"
STATIC: Final = "/static/"
NO_FACTS: Final = re.compile(rb'(?<=id="facts">)\s*{}\s*(?=</script>)')
"""The place in the index for what the page knows of the games."""

COMMENTED: Final = frozenset({".js", ".css"})
"""The suffixes of files without multi-line text; their comments and indents are left out."""

_COMMENT: Final = re.compile(
    r"^[ \t]*(?:/\*(?:(?!\*/).)*\*/|//[^\n]*)[ \t]*$", re.MULTILINE | re.DOTALL
)
"""A comment that has its lines for itself; in a template literal it would be text."""
_INDENT: Final = re.compile("^ +", re.MULTILINE)

_DIGITS: Final = 20
"""The length of the folder's name in hexadecimal digits."""


class WebFile(Struct, frozen=True, kw_only=True):
    """A file of the page."""

    body: bytes
    compressed: bytes
    """The body compressed by gzip; empty if that is not smaller."""
    kind: str
    """The content type."""
    tag: str
    """A hash of the body."""


class WebFiles(Struct, frozen=True):
    """The files of the page."""

    version: str
    """The hash over all files, which is the name of their folder."""
    index: WebFile
    files: Mapping[str, WebFile]
    """The other files by their path in the folder."""


def web_folder(package: Path = PACKAGE) -> Path | None:
    """Return the folder of the page: in the package or in the checkout."""
    for folder in (package / "web", package.parents[1] / "client" / "web"):
        if (folder / INDEX).is_file():
            return folder
    return None


def load_web_files(folder: Path | None) -> WebFiles | None:
    """Read the page's files; return `None` if there is no folder. Raises `OSError`.

    The index names its files as `/static/NAME`; it is served with the folder's hash in that path,
    and with the facts of the games.
    """
    if folder is None:
        return None
    bodies = {
        path.relative_to(folder).as_posix(): _read(path)
        for path in sorted(folder.rglob("*"))
        if path.suffix in KINDS and not path.name.startswith(".") and path.is_file()
    }
    index = bodies.pop(INDEX)
    version = _hash(*(part for name, body in bodies.items() for part in (name.encode(), body)))
    hashed = index.replace(f'"{STATIC}'.encode(), f'"{STATIC}{version}/'.encode())
    whole = NO_FACTS.sub(lambda _: game_facts(), hashed)
    return WebFiles(
        version=version,
        index=web_file(whole, KINDS[".html"]),
        files={name: web_file(body, KINDS[Path(name).suffix]) for name, body in bodies.items()},
    )


def _read(path: Path) -> bytes:
    body = path.read_bytes()
    if path.suffix in COMMENTED:
        body = _INDENT.sub("", without_comments(body.decode())).encode()
    return body


def without_comments(text: str) -> str:
    """Return a script or style without comments that stand alone, with the same lines."""
    return _COMMENT.sub(lambda comment: "\n" * comment[0].count("\n"), text)


def web_file(body: bytes, kind: str) -> WebFile:
    """Return a file with its hash and its compressed body."""
    compressed = gzip.compress(body, mtime=0)
    return WebFile(
        body=body,
        compressed=compressed if len(compressed) < len(body) else b"",
        kind=kind,
        tag=_hash(body),
    )


def _hash(*parts: bytes) -> str:
    lengths = (len(part).to_bytes(8) for part in parts)
    whole = b"".join(length + part for length, part in zip(lengths, parts, strict=True))
    return hashlib.sha256(whole).hexdigest()[:_DIGITS]


def game_facts() -> bytes:
    """Return the facts of all games, and words, as a JSON text that can stand inside an HTML element."""
    facts = {
        "prize": CARD_PRIZE,
        "rules": RULES_VERSION,
        "words": " ".join(WORDS),
        "void_reasons": VOID_REASONS,
        "games": {name: _facts(game) for name, game in GAMES.items()},
    }
    return msgspec.json.encode(facts).replace(b"<", b"\\u003c")


def _facts(game: Game) -> dict[str, Any]:
    stock = game.stock
    return {
        "title": game.title,
        "short": _in_short(game),
        "packs": game.packs,
        "price": price(game),
        "columns": game.columns.count,
        "up": game.up.piles,
        "down": game.down.piles if game.down else 0,
        "reserve": any(isinstance(step, ToReserve) for step in game.deal),
        "draw": stock.draw if stock.onto is Pile.WASTE else 0,  # 0: a card to each column
        "passes": 0 if stock.passes == UNLIMITED else stock.passes,  # 0: any number
        "in_suit": game.columns.build.pairing is Pairing.SAME_SUIT,
        "deal": [_step(step) for step in game.deal],
    }


def _in_short(game: Game) -> list[str]:
    """Return how to build columns, fill an empty one and turn the stock, a sentence each."""
    space = game.columns.space
    fills = f"takes {space.admits}"
    if space.filled_from is not None:
        fills = f"is filled from {space.filled_from}"
    return [
        f"Build columns {game.columns.build.brief}.",
        f"An empty column {fills}.",
        f"Turn the stock: {game.stock}.",
    ]


def _step(step: Any) -> list[Any]:
    """Return a step of the deal as its name and its numbers."""
    return [type(step).__name__, *astuple(step)]
