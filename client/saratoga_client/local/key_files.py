"""Secrets in files of one's own: 32 bytes that nobody can guess, readable by their owner alone."""

import contextlib
import os
import re
import secrets
import stat
import time
from pathlib import Path
from typing import Final

from saratoga_client.local.paths import HOME_VARIABLE

KEY_BYTES: Final = 32

_KEY: Final = re.compile(r"[0-9a-f]{64}")


class UnusableToken(Exception):
    """A secret's file cannot be used: `what` is wrong, and the `remedy`."""

    def __init__(self, what: str, remedy: str) -> None:
        super().__init__(what, remedy)
        self.what = what
        self.remedy = remedy

    def __str__(self) -> str:
        return f"{self.what} {self.remedy}"


def new_key() -> str:
    """32 bytes that nobody can guess, in hexadecimal."""
    return secrets.token_hex(KEY_BYTES)


def is_key(text: str) -> bool:
    """Whether this is how a secret, or a token, looks."""
    return _KEY.fullmatch(text) is not None


def load(path: Path) -> str:
    """Read a secret; raises `UnusableToken`, or `FileNotFoundError` if there is none."""
    try:
        with path.open(encoding="utf-8") as file:
            _refuse_if_shared(path, os.fstat(file.fileno()))
            text = file.read(1024).strip()
    except FileNotFoundError:
        raise
    except (OSError, UnicodeDecodeError) as error:
        raise UnusableToken(
            f"The secret in {path} cannot be read: {error}.",
            f"Mend that, or name another folder with {HOME_VARIABLE}.",
        ) from None
    if not is_key(text):
        raise UnusableToken(
            f"{path} does not hold a secret of 64 hexadecimal digits.",
            "Put the right one back, or move the file away to begin as a new player.",
        )
    return text


def load_or_create(path: Path) -> str:
    """Read a secret, made and kept if there is none; raises `UnusableToken`."""
    try:
        return load(path)
    except FileNotFoundError:
        return _create(path)


def write_new(path: Path, text: str) -> None:
    """Write a line whole or not at all, for its owner alone; raises `FileExistsError`, `OSError`."""
    draft = path.with_name(f"{path.name}.{secrets.token_hex(4)}")
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(f"{text}\n")
            file.flush()
            os.fsync(file.fileno())
        _put_in_place(draft, path)
    finally:
        with contextlib.suppress(FileNotFoundError):
            draft.unlink()


def take(path: Path, key: str, *, replace: bool) -> Path | None:
    """Make `key` what this file holds; returns where the one before it was put aside, if any was.

    Raises `UnusableToken` if another is there and must not be replaced, or nothing can be written.
    """
    with contextlib.suppress(FileNotFoundError, UnusableToken):
        if load(path) == key:
            return None
    try:
        if path.exists() and not replace:
            raise UnusableToken(
                f"This machine has another one already, in {path}: it is another player.",
                "To become the one you bring, say --replace; the old file is put aside.",
            )
        aside = put_aside(path)
        write_new(path, key)
    except OSError as error:
        raise UnusableToken(
            f"It cannot be kept in {path}: {error}.",
            "Nothing was lost: what was there is in that folder.",
        ) from None
    return aside


def put_aside(path: Path) -> Path | None:
    """Give the file another name, which is returned; `None` if there is none. Raises `OSError`."""
    if not path.exists():
        return None
    aside = path.with_name(f"{path.name}.before-{time.strftime('%Y%m%d-%H%M%S')}")
    _put_in_place(path, aside)
    path.unlink(missing_ok=True)
    return aside


def _refuse_if_shared(path: Path, status: os.stat_result) -> None:
    """As ssh does with its keys. Windows has no such bits; there the user's folder guards it."""
    if os.name == "posix" and stat.S_IMODE(status.st_mode) & 0o077:
        raise UnusableToken(
            f"Others on this machine can read the secret in {path}.",
            f"Take that away with: chmod 600 {path}",
        )


def _create(path: Path) -> str:
    """Make a secret; if another program was faster, its secret counts."""
    key = new_key()
    try:
        write_new(path, key)
    except FileExistsError:
        return load(path)
    except OSError as error:
        raise UnusableToken(
            f"The secret cannot be kept in {path}: {error}.",
            f"Name another folder with {HOME_VARIABLE}.",
        ) from None
    return key


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
