"""The player's identity: one secret on this machine, and a token per server derived from it.

    token = HMAC-SHA-256(key = secret, message = "saratoga house " + origin of the server)

No server gets the secret, so a server's operator cannot impersonate its players at other servers.
The first use creates the secret. An imported token for one server has a separate file.
"""

import hashlib
import hmac
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import quote, unquote

from saratoga_client.local import key_files
from saratoga_client.local.key_files import is_key, new_key
from saratoga_client.local.origins import origin_of
from saratoga_client.local.paths import data_folder

SECRET_FILE: Final = "secret"  # noqa: S105 - a file's name
TOKENS_FOLDER: Final = "houses"

TOKEN_TAG: Final = b"saratoga house "

new_token = new_key


@dataclass(frozen=True, slots=True)
class ImportedToken:
    """A token that was imported for one server, and its file."""

    origin: str
    path: Path


def home() -> Path:
    """Return the folder of files that must not be lost; it may not exist yet."""
    return data_folder()


def secret_path() -> Path:
    """Return the path of the player's secret."""
    return home() / SECRET_FILE


def server_token_path(server: str) -> Path:
    """Return the path of an imported token for a server; the file may not exist. Raises `ValueError`."""
    return home() / TOKENS_FOLDER / f"{quote(origin_of(server), safe='')}.token"


def imported_tokens() -> list[ImportedToken]:
    """Return the imported tokens, one per server."""
    folder = home() / TOKENS_FOLDER
    return [ImportedToken(unquote(path.stem), path) for path in sorted(folder.glob("*.token"))]


def token_for(server: str) -> str:
    """Return the token for the server at an address; raises `UnusableToken`, `ValueError`."""
    try:
        return key_files.load(server_token_path(server))
    except FileNotFoundError:
        return derived(key_files.load_or_create(secret_path()), origin_of(server))


def derived(secret: str, origin: str) -> str:
    """Return the token for a server, which reveals neither the secret nor other tokens."""
    message = TOKEN_TAG + origin.encode()
    return hmac.new(bytes.fromhex(secret), message, hashlib.sha256).hexdigest()


PROGRAM: Final = "saratoga"


@dataclass(frozen=True, slots=True)
class ExportedKey:
    """A secret, or the token for one server."""

    key: str
    is_secret: bool
    """True for the secret, false for a token."""
    origin: str = ""
    """The origin of the token's server; empty for a secret."""

    def __repr__(self) -> str:
        """Return a description without the key, so that logs never show the key."""
        return f"ExportedKey(is_secret={self.is_secret}, origin={self.origin!r})"

    @property
    def line(self) -> str:
        if self.is_secret:
            return f"{PROGRAM} secret {self.key}"
        return f"{PROGRAM} token {self.origin} {self.key}"


def read_export(line: str) -> ExportedKey | None:
    """Parse an exported line; return `None` for any other text."""
    match line.split():
        case ["saratoga", "secret", key] if is_key(key):
            return ExportedKey(key, is_secret=True)
        case ["saratoga", "token", server, key] if is_key(key):
            try:
                return ExportedKey(key, is_secret=False, origin=origin_of(server))
            except ValueError:
                return None
        case _:
            return None
