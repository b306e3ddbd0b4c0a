"""The player's identity: one secret on this machine, and a token per server derived from it.

    token = HMAC-SHA-256(key = secret, message = "saratoga house " + origin of the server)

No server gets the secret, so a server's operator cannot impersonate its players at other servers.
The first use creates the secret. An imported token for one server has a separate file. A file of a
secret or token has 64 hexadecimal digits and is readable by its owner only.
"""

import contextlib
import hashlib
import hmac
import os
import re
import secrets
import stat
from pathlib import Path
from typing import Final
from urllib.parse import quote, unquote

from saratoga_client.local.origins import origin_of
from saratoga_client.local.paths import HOME_VARIABLE, OWNER_ONLY, create_file, data_folder
from saratoga_client.problems import Exit, Problem

SECRET_FILE: Final = "secret"  # noqa: S105 - a file's name
TOKENS_FOLDER: Final = "houses"

TOKEN_TAG: Final = b"saratoga house "

_KEY: Final = re.compile(r"[0-9a-f]{64}")


def secret_path() -> Path:
    """Return the path of the player's secret."""
    return data_folder() / SECRET_FILE


def server_token_path(server: str) -> Path:
    """Return the path of an imported token for a server; the file may not exist. Raises `ValueError`."""
    return data_folder() / TOKENS_FOLDER / f"{quote(origin_of(server), safe='')}.token"


def imported_tokens() -> dict[str, Path]:
    """Return the files of the imported tokens by the origin of their server."""
    folder = data_folder() / TOKENS_FOLDER
    return {unquote(path.stem): path for path in sorted(folder.glob("*.token"))}


def token_for(server: str) -> str:
    """Return the token for the server at an address; raises `Problem`, `ValueError`."""
    try:
        return load(server_token_path(server))
    except FileNotFoundError:
        return derived(load_or_create(secret_path()), origin_of(server))


def derived(secret: str, origin: str) -> str:
    """Return the token for a server, which reveals neither the secret nor other tokens."""
    message = TOKEN_TAG + origin.encode()
    return hmac.new(bytes.fromhex(secret), message, hashlib.sha256).hexdigest()


def new_token() -> str:
    """Return a new secret or token: 32 random bytes in hexadecimal."""
    return secrets.token_hex(32)


def export_line(key: str, server: str = "") -> str:
    """Return the line that moves a secret, or the token for one server, to another device."""
    return f"saratoga token {server} {key}" if server else f"saratoga secret {key}"


def read_export(line: str) -> tuple[str, str] | None:
    """Return the key of an exported line and its server's origin, empty for a secret; `None` for other text."""
    match line.split():
        case ["saratoga", "secret", key] if _KEY.fullmatch(key):
            return key, ""
        case ["saratoga", "token", server, key] if _KEY.fullmatch(key):
            with contextlib.suppress(ValueError):
                return key, origin_of(server)
    return None


def load(path: Path) -> str:
    """Read a secret or token; raises `Problem`, or `FileNotFoundError` without a file."""
    try:
        with path.open(encoding="utf-8") as file:
            mode = stat.S_IMODE(os.fstat(file.fileno()).st_mode)
            text = file.read(1024).strip()
    except FileNotFoundError:
        raise
    except (OSError, UnicodeDecodeError) as error:
        raise Problem(
            f"The secret or token in {path} cannot be read: {error}.",
            f"Restore the file or its permissions, or set {HOME_VARIABLE} to another folder.",
            Exit.UNEXPECTED,
        ) from None
    # on Windows these bits say nothing
    if os.name == "posix" and mode & 0o077:
        raise Problem(
            f"Other users of this machine can read the secret or token in {path}.",
            f"Change that with: chmod 600 {path}",
            Exit.UNEXPECTED,
        )
    if not _KEY.fullmatch(text):
        raise Problem(
            f"{path} does not contain a secret or token of 64 hexadecimal digits.",
            "Restore the right one, or move the file away to start as a new player.",
            Exit.UNEXPECTED,
        )
    return text


def load_or_create(path: Path) -> str:
    """Read a secret; without a file create one, or take that of another process. Raises `Problem`."""
    with contextlib.suppress(FileNotFoundError):
        return load(path)
    key = new_token()
    try:
        write_new(path, key)
    except FileExistsError:
        return load(path)
    except OSError as error:
        raise Problem(
            f"The secret cannot be saved in {path}: {error}.",
            f"Make {path.parent} writable, or set {HOME_VARIABLE} to another folder.",
            Exit.UNEXPECTED,
        ) from None
    return key


def write_new(path: Path, text: str) -> None:
    """Write a new file that only its owner may read; raises `FileExistsError`, `OSError`."""
    create_file(path, f"{text}\n".encode(), mode=OWNER_ONLY)
