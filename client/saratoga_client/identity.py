"""Who the player is to the house: a secret token in a file of one's own.

The token is made here, at the first need, and never shown: whoever has it *is* the player. To
play on a second device, carry the file there.
"""

import contextlib
import os
import re
import secrets
import stat
import time
from pathlib import Path
from typing import Final

from saratoga_client.places import HOME_VARIABLE, data_folder

TOKEN_FILE: Final = "token"  # noqa: S105 - a file's name
TOKEN_BYTES: Final = 32

_TOKEN: Final = re.compile(r"[0-9a-f]{64}")


class TokenUnusable(Exception):
    """The token's file cannot be used: `what` is wrong, and the `remedy`."""

    def __init__(self, what: str, remedy: str) -> None:
        super().__init__(what, remedy)
        self.what = what
        self.remedy = remedy

    def __str__(self) -> str:
        return f"{self.what} {self.remedy}"


def home() -> Path:
    """The folder for what a player must not lose; it may not be there yet."""
    return data_folder()


def token_path() -> Path:
    """Where the token of this machine's player lies."""
    return home() / TOKEN_FILE


def new_token() -> str:
    """32 bytes that nobody can guess, in hexadecimal."""
    return secrets.token_hex(TOKEN_BYTES)


def load_or_create_token(path: Path | None = None) -> str:
    """The player's token, made and kept if there is none; raises `TokenUnusable`."""
    path = token_path() if path is None else path
    try:
        return load_token(path)
    except FileNotFoundError:
        return _create_token(path)


def load_token(path: Path) -> str:
    """Read a token; raises `TokenUnusable`, or `FileNotFoundError` if there is none."""
    try:
        with path.open(encoding="utf-8") as file:
            _refuse_if_shared(path, os.fstat(file.fileno()))
            text = file.read(1024).strip()
    except FileNotFoundError:
        raise
    except (OSError, UnicodeDecodeError) as error:
        raise TokenUnusable(
            f"The token in {path} cannot be read: {error}.",
            f"Mend that, or name another folder with {HOME_VARIABLE}.",
        ) from None
    if not _TOKEN.fullmatch(text):
        raise TokenUnusable(
            f"{path} does not hold a token of 64 hexadecimal digits.",
            "Put the right one back, or move the file away to begin as a new player.",
        )
    return text


def _refuse_if_shared(path: Path, status: os.stat_result) -> None:
    """As ssh does with its keys. Windows has no such bits; there the user's folder guards it."""
    if os.name == "posix" and stat.S_IMODE(status.st_mode) & 0o077:
        raise TokenUnusable(
            f"Others on this machine can read the token in {path}.",
            f"Take that away with: chmod 600 {path}",
        )


def is_token(text: str) -> bool:
    """Whether this is how a token looks."""
    return _TOKEN.fullmatch(text) is not None


def write_new(path: Path, token: str) -> None:
    """Write a token whole or not at all, for its owner alone; raises `FileExistsError`, `OSError`."""
    draft = path.with_name(f"{path.name}.{secrets.token_hex(4)}")
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(f"{token}\n")
            file.flush()
            os.fsync(file.fileno())
        _put_in_place(draft, path)
    finally:
        with contextlib.suppress(FileNotFoundError):
            draft.unlink()


def take(path: Path, token: str, *, replace: bool) -> Path | None:
    """Make the token this machine's own; returns where the one before it was put aside, if any was.

    Raises `TokenUnusable` if another is there and must not be replaced, or nothing can be written.
    """
    with contextlib.suppress(FileNotFoundError, TokenUnusable):
        if load_token(path) == token:
            return None
    aside = None
    try:
        if path.exists():
            if not replace:
                raise TokenUnusable(
                    f"This machine has another token already, in {path}: it is another player.",
                    "To become the one you bring, say --replace; the old file is put aside.",
                )
            aside = path.with_name(f"{path.name}.before-{time.strftime('%Y%m%d-%H%M%S')}")
            _put_in_place(path, aside)
            path.unlink(missing_ok=True)
        write_new(path, token)
    except OSError as error:
        raise TokenUnusable(
            f"The token cannot be kept in {path}: {error}.",
            "Nothing was lost: what was there is in that folder.",
        ) from None
    return aside


def _create_token(path: Path) -> str:
    """Make a token; if another program was faster, its token counts."""
    token = new_token()
    try:
        write_new(path, token)
    except FileExistsError:
        return load_token(path)
    except OSError as error:
        raise TokenUnusable(
            f"The token cannot be kept in {path}: {error}.",
            f"Name another folder with {HOME_VARIABLE}.",
        ) from None
    return token


def _put_in_place(draft: Path, path: Path) -> None:
    """Give the file a name unless that is taken; raises `FileExistsError`, `OSError`."""
    try:
        path.hardlink_to(draft)
    except FileExistsError:
        raise
    except OSError:
        # A file system without hard links. On Windows `rename` refuses a taken name too.
        if path.exists():
            raise FileExistsError(path) from None
        draft.rename(path)
