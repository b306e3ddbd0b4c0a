"""A bot's identity: a name and a secret, stored like a player's, used by one process at a time.

A bot that returns under its name is the same player on the bots' leaderboards. Two processes
cannot use one identity: the second takes another free name, or fails if its name was given.
"""

import contextlib
import sys
from binascii import crc32
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Final

from saratoga_client.local import key_files
from saratoga_client.local.identity import derived, home
from saratoga_client.local.origins import origin_of

FOLDER: Final = "bots"

NAMES: Final = (
    "Otto",
    "Mabel",
    "Ferris",
    "Greta",
    "Hugo",
    "Ida",
    "Jasper",
    "Klara",
    "Linus",
    "Marta",
    "Nils",
    "Olive",
    "Pavel",
    "Romy",
    "Silas",
    "Thea",
)
"""Names for bots whose user gave no name."""


@contextmanager
def claim_identity(name: str, server: str, folder: Path | None = None) -> Iterator[str | None]:
    """Yield a bot's token for a server; `None` if another process uses this identity.

    Raises `key_files.UnusableToken`, or `ValueError` if `server` is not a server's address.
    """
    folder = home() / FOLDER if folder is None else folder
    path = folder / f"{_file_name(name)}.secret"
    token = derived(key_files.load_or_create(path), origin_of(server))
    with path.with_suffix(".lock").open("wb") as lock:
        if not _lock(lock):
            yield None
            return
        try:
            yield token
        finally:
            _unlock(lock)


def variation_of(name: str) -> int:
    """Return the number, derived from a bot's name, that varies its weights; never 0, which varies nothing."""
    return crc32(name.encode()) or 1


def _file_name(name: str) -> str:
    """Return a valid file name for a bot; names with special characters become hexadecimal."""
    return name.encode().hex() if not (name.isascii() and name.isalnum()) else name.lower()


if sys.platform == "win32":
    import msvcrt

    def _lock(file: IO[bytes]) -> bool:
        try:
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

    def _unlock(file: IO[bytes]) -> None:
        with contextlib.suppress(OSError):
            msvcrt.locking(file.fileno(), msvcrt.LK_UNLCK, 1)

else:
    import fcntl

    def _lock(file: IO[bytes]) -> bool:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
        return True

    def _unlock(file: IO[bytes]) -> None:
        fcntl.flock(file, fcntl.LOCK_UN)
