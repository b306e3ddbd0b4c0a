"""Who a bot is: a name and a secret of its own, kept like a person's, one process at a time.

A bot that comes again under its name is the same player, with the same standing on the bots'
leaderboards. Two processes cannot be the same bot: the second takes the next free name.
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
"""What bots are called who were given no name."""


@contextmanager
def claimed(name: str, server: str, folder: Path | None = None) -> Iterator[str | None]:
    """The token of the bot of that name for that house; `None` if another process is that bot now.

    Raises `key_files.UnusableToken`, `ValueError` if that is no address of a house.
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


def temper_of(name: str) -> int:
    """A bot's own way to play; never 0, which is nobody's."""
    return crc32(name.encode()) or 1


def _file_name(name: str) -> str:
    """A name may hold what a file's name may not."""
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
