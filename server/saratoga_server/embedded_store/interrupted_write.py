"""An interrupted last write: what a crash leaves of a write at the end of the embedded store's newest file.

A store does not load such a file. The write was never acknowledged, so it is cut off, and the file as it was is kept as
a copy. Whatever else a store cannot load is damage, and is refused.
"""

import datetime
import os
import shutil
from pathlib import Path
from typing import Final, NamedTuple

from saratoga_server.embedded_store.append_files import FOLDER
from saratoga_server.embedded_store.damaged_files import of_manifest
from saratoga_server.embedded_store.writes_in_file import interrupted_at

COPIES_KEPT: Final = 3
"""The number of copies that are kept; another one replaces the oldest."""
_MARK: Final = ".cut-"


class CutFile(NamedTuple):
    """A file whose interrupted last write was cut off."""

    path: Path
    copy: Path
    """The file as it was before."""
    bytes: int
    """The number of bytes that were cut off."""

    def undo(self) -> None:
        """Put the file back as it was before."""
        self.copy.replace(self.path)


def cut_interrupted_write(folder: Path) -> CutFile | None:
    """Cut an interrupted last write off a store's newest file; `None` if there is none.

    The copy is on the disk before the file is changed. Raises `OSError` if the copy cannot be written.
    """
    files = of_manifest(folder)
    if files is None or not files.writes:
        return None
    path = folder / FOLDER / files.writes[-1]
    content = path.read_bytes()
    length = interrupted_at(content)
    if length is None:
        return None
    copy = path.with_name(f"{path.name}{_MARK}{datetime.datetime.now(datetime.UTC):%Y%m%dT%H%M%SZ}")
    try:
        shutil.copyfile(path, copy)
        _flush(copy)
        _flush(copy.parent)
    except OSError:
        copy.unlink(missing_ok=True)
        raise
    os.truncate(path, length)
    _flush(path)
    return CutFile(path, copy, len(content) - length)


def delete_old_copies(folder: Path, newest: Path) -> None:
    """Delete all but the newest copies in a store's folder. `newest` is kept, whatever the others' dates are."""
    others = [path for path in (folder / FOLDER).glob(f"*{_MARK}*") if path != newest]
    others.sort(key=lambda path: path.name.rpartition(_MARK)[2])
    for copy in others[: 1 - COPIES_KEPT]:
        copy.unlink()


def _flush(path: Path) -> None:
    opened = os.open(path, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)
