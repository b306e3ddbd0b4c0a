"""Who the player is to each house: a token of its own, made from one secret that no house is told.

    token = HMAC-SHA-256(key = secret, message = "saratoga house " + origin of the house)

So whoever runs a house can be its players there and nowhere else. The secret is made here, at the
first need. For a house where one is somebody else, a token lies in a file of that house's own.
"""

import hashlib
import hmac
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import quote, unquote

from saratoga_client.local import key_files
from saratoga_client.local.key_files import UnusableToken, new_key
from saratoga_client.local.origins import origin_of
from saratoga_client.local.paths import data_folder

__all__ = ["UnusableToken", "new_token", "token_for"]

SECRET_FILE: Final = "secret"  # noqa: S105 - a file's name
OLD_TOKEN_FILE: Final = "token"  # noqa: S105 - a file's name
"""Saratoga 0.1 showed this one token to every house: it is no secret, and none is made from it."""
HOUSES_FOLDER: Final = "houses"

HOUSE_TAG: Final = b"saratoga house "

new_token = new_key


@dataclass(frozen=True, slots=True)
class Given:
    """A house where one is somebody by a token that was brought there."""

    origin: str
    path: Path


def home() -> Path:
    """The folder for what a player must not lose; it may not be there yet."""
    return data_folder()


def secret_path() -> Path:
    """Where the secret of this machine's player lies."""
    return home() / SECRET_FILE


def old_token_path() -> Path:
    """Where Saratoga 0.1 kept its token."""
    return home() / OLD_TOKEN_FILE


def has_only_old_token(server: str) -> bool:
    """Whether nobody went to this house, or another, from here since Saratoga 0.1."""
    known = secret_path().exists() or server_token_path(origin_of(server)).exists()
    return old_token_path().exists() and not known


def server_token_path(origin: str) -> Path:
    """Where a token for one house lies, if one was brought there."""
    return home() / HOUSES_FOLDER / f"{quote(origin, safe='')}.token"


def given_tokens() -> list[Given]:
    """Every house with a token in a file of its own."""
    folder = home() / HOUSES_FOLDER
    return [Given(unquote(path.stem), path) for path in sorted(folder.glob("*.token"))]


def token_for(server: str) -> str:
    """The token that the house at this address is told; raises `UnusableToken`, `ValueError`."""
    origin = origin_of(server)
    try:
        return key_files.load(server_token_path(origin))
    except FileNotFoundError:
        return derived(key_files.load_or_create(secret_path()), origin)


def derived(secret: str, origin: str) -> str:
    """The token for the house of that origin: nobody finds the secret, or another token, from it."""
    message = HOUSE_TAG + origin.encode()
    return hmac.new(bytes.fromhex(secret), message, hashlib.sha256).hexdigest()
