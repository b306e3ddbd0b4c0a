"""Files with a secret or a token: 64 hexadecimal digits, readable by their owner only."""

import contextlib
import os
import re
import secrets
import stat
import time
from pathlib import Path
from typing import Final

from saratoga_client.local.paths import HOME_VARIABLE, OWNER_ONLY, create_file, link_or_rename

KEY_BYTES: Final = 32

_KEY: Final = re.compile(r"[0-9a-f]{64}")


class UnusableToken(Exception):
    """The error for an unusable file of a secret or token; `what` and `remedy` are sentences."""

    def __init__(self, what: str, remedy: str) -> None:
        super().__init__(what, remedy)
        self.what = what
        self.remedy = remedy

    def __str__(self) -> str:
        return f"{self.what} {self.remedy}"


def new_key() -> str:
    """Return 32 random bytes in hexadecimal."""
    return secrets.token_hex(KEY_BYTES)


def is_key(text: str) -> bool:
    """Return whether a text has the form of a secret or token."""
    return _KEY.fullmatch(text) is not None


def load(path: Path) -> str:
    """Read a secret or token; raises `UnusableToken`, or `FileNotFoundError` without a file."""
    try:
        with path.open(encoding="utf-8") as file:
            _refuse_if_shared(path, os.fstat(file.fileno()))
            text = file.read(1024).strip()
    except FileNotFoundError:
        raise
    except (OSError, UnicodeDecodeError) as error:
        raise UnusableToken(
            f"The secret or token in {path} cannot be read: {error}.",
            f"Restore the file or its permissions, or set {HOME_VARIABLE} to another folder.",
        ) from None
    if not is_key(text):
        raise UnusableToken(
            f"{path} does not contain a secret or token of 64 hexadecimal digits.",
            "Restore the right one, or move the file away to start as a new player.",
        )
    return text


def load_or_create(path: Path) -> str:
    """Read a secret, or create one without a file; raises `UnusableToken`."""
    try:
        return load(path)
    except FileNotFoundError:
        return _create(path)


def write_new(path: Path, text: str) -> None:
    """Write a new file that only its owner may read; raises `FileExistsError`, `OSError`."""
    create_file(path, f"{text}\n".encode(), mode=OWNER_ONLY)


def take(path: Path, key: str, *, replace: bool) -> Path | None:
    """Write `key` to a file; return the new path of the file that it replaces, or `None`.

    Raises `UnusableToken` if another key is there and `replace` is false, or if writing fails.
    """
    with contextlib.suppress(FileNotFoundError, UnusableToken):
        if load(path) == key:
            return None
    try:
        if path.exists() and not replace:
            raise UnusableToken(
                f"This machine has another key already, in {path}: that is another player.",
                "To use the new one, repeat with --replace; the old file is renamed.",
            )
        aside = put_aside(path)
        write_new(path, key)
    except OSError as error:
        raise UnusableToken(
            f"The key cannot be saved in {path}: {error}.",
            f"Check that {path.parent} is writable and has free space, and repeat the command. An old "
            f"key, if any, is still there, as {path.name} or {path.name}.before-DATE.",
        ) from None
    return aside


def put_aside(path: Path) -> Path | None:
    """Rename the file and return its new path; `None` if there is no file. Raises `OSError`."""
    if not path.exists():
        return None
    aside = path.with_name(f"{path.name}.before-{time.strftime('%Y%m%d-%H%M%S')}")
    link_or_rename(path, aside)
    path.unlink(missing_ok=True)
    return aside


def _refuse_if_shared(path: Path, status: os.stat_result) -> None:
    """Raise `UnusableToken` for a file that other users may read; Windows is exempt."""
    if os.name == "posix" and stat.S_IMODE(status.st_mode) & 0o077:
        raise UnusableToken(
            f"Other users of this machine can read the secret or token in {path}.",
            f"Change that with: chmod 600 {path}",
        )


def _create(path: Path) -> str:
    """Create a secret and return it; return another process's secret if that was created first."""
    key = new_key()
    try:
        write_new(path, key)
    except FileExistsError:
        return load(path)
    except OSError as error:
        raise UnusableToken(
            f"The secret cannot be saved in {path}: {error}.",
            f"Make {path.parent} writable, or set {HOME_VARIABLE} to another folder.",
        ) from None
    return key
