"""The folders of the player's files: configuration, state and data.

Each platform has its conventional folders. On Linux these are `~/.config/saratoga`,
`~/.local/state/saratoga` and `~/.local/share/saratoga`, unless `XDG_` variables name others.
`SARATOGA_HOME` puts all files into one folder.
"""

import contextlib
import os
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import platformdirs

HOME_VARIABLE: Final = "SARATOGA_HOME"
"""The environment variable that names one folder for all files."""

PROGRAM: Final = "saratoga"


def config_path() -> Path:
    """Return the path of the settings file, which the player edits and which may not exist."""
    folder = _named() or platformdirs.user_config_path(PROGRAM, appauthor=False, roaming=False)
    return folder / "config.toml"


def state_folder() -> Path:
    """Return the folder of files that may be deleted, such as error reports."""
    return _named() or platformdirs.user_state_path(PROGRAM, appauthor=False, roaming=False)


def data_folder() -> Path:
    """Return the folder of files that must not be lost: the secret, race evidence, records."""
    return _named() or platformdirs.user_data_path(PROGRAM, appauthor=False, roaming=False)


def _named() -> Path | None:
    named = os.environ.get(HOME_VARIABLE)
    return Path(named).expanduser() if named else None


OWNER_ONLY: Final = 0o600
"""The mode of a file that only its owner may read."""

PUBLIC: Final = 0o666
"""The mode of an ordinary file; the process's umask removes permissions from it."""


def replace_file(path: Path, content: bytes, *, mode: int = PUBLIC, durable: bool = True) -> None:
    """Write a file; a replaced file keeps those of its permissions that are in `mode`.

    A new file has the permissions `mode`. Missing folders are created, accessible to the owner
    only. Without `durable` the call skips `fsync`, so a power failure may lose the content. Raises
    `OSError`.
    """
    with _draft(path, content, mode, durable) as draft:
        with contextlib.suppress(FileNotFoundError):
            draft.chmod(path.stat().st_mode & mode)
        draft.replace(path)


def create_file(path: Path, content: bytes, *, mode: int = PUBLIC) -> None:
    """Write a file that does not exist yet; raises `FileExistsError`, `OSError`."""
    with _draft(path, content, mode, durable=True) as draft:
        try:
            path.hardlink_to(draft)
        except FileExistsError:
            raise
        except OSError:
            # A file system without hard links. On Windows `rename` refuses an existing name too.
            if path.exists():
                raise FileExistsError(path) from None
            draft.rename(path)


def delete_oldest(folder: Path, pattern: str, kept: int) -> None:
    """Delete the matching files of a folder except the `kept` newest; ignore failures."""
    for path in newest_first(folder, pattern)[kept:]:
        with contextlib.suppress(OSError):
            path.unlink()


def newest_first(folder: Path, pattern: str) -> list[Path]:
    """Return the matching files of a folder, the last changed first."""

    def changed_at(path: Path) -> tuple[int, str]:
        with contextlib.suppress(OSError):
            return path.stat().st_mtime_ns, path.name
        return 0, path.name

    return sorted(folder.glob(pattern), key=changed_at, reverse=True)


@contextlib.contextmanager
def _draft(path: Path, content: bytes, mode: int, durable: bool) -> Iterator[Path]:
    """Yield a temporary file with the content, next to `path`; delete it unless it is renamed."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            if durable:
                file.flush()
                os.fsync(file.fileno())
        yield draft
    finally:
        draft.unlink(missing_ok=True)
