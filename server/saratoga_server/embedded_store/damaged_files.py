"""Damaged append-only files: which of them belong together, and where they can be cut.

The store's data are a base file (a snapshot) and the files of the writes since then, in order; a manifest
names them. A store loads them only as a whole, so whatever follows a damaged place is left out.
"""

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from saratoga_server.embedded_store.append_files import (
    FILE_NAME,
    FOLDER,
    MANIFEST,
    NO_FILES,
    lost_name,
    named_files,
    sequence,
)
from saratoga_server.embedded_store.writes_in_file import ends_of_writes


class StoreFiles(NamedTuple):
    """Append-only files that belong together, by their names in the store's folder."""

    base: str | None
    """The snapshot with which they begin; `None` if it is lost."""
    writes: tuple[str, ...]
    """The files of the writes since then, oldest first."""


class Cut(NamedTuple):
    """A place in the writes of a store: everything behind it is left out."""

    file: int
    """The index of the file in `StoreFiles.writes`; later files are left out."""
    length: int
    """The number of bytes of that file that are kept."""


def candidates(folder: Path, noted: Mapping[str, int] = NO_FILES) -> list[StoreFiles]:
    """Return the files that may make up the store in a folder, the most promising first.

    These are the files of the manifest if it names no missing ones, and has lost none of the noted ones. Otherwise
    all files of writes follow the oldest base, because a base is deleted before the writes that it holds. The last
    resort has no base.
    """
    files = folder / FOLDER
    found = sorted(
        (int(match[1]), match[2], path.name)
        for path in (files.iterdir() if files.is_dir() else ())
        if (match := FILE_NAME.fullmatch(path.name)) and path.is_file()
    )
    # a store takes an empty base for no data
    bases = [name for _, kind, name in found if kind == "base" and (files / name).stat().st_size]
    writes = tuple(name for _, kind, name in found if kind == "incr")
    every = [StoreFiles(base, writes) for base in (*bases, None) if base or writes]
    named = of_manifest(folder)
    if named is not None and lost_name(folder, noted) is None:
        every = [named, *(each for each in every if each != named)]
    return every


def of_manifest(folder: Path) -> StoreFiles | None:
    """Return the files in a store's manifest; `None` if there is none, or it names no files of a store.

    A damaged manifest can name anything, such as a path out of the folder, a missing file, or an empty base.
    """
    files = folder / FOLDER
    if not (files / MANIFEST).is_file():
        return None
    named = named_files(files / MANIFEST)
    bases = [name for name, kind in named.items() if kind == "b"]
    writes = tuple(name for name, kind in named.items() if kind == "i")
    if not named or not all(map(FILE_NAME.fullmatch, named)):
        return None
    if not all((files / name).is_file() for name in (*bases, *writes)):
        return None
    if any((files / name).stat().st_size == 0 for name in bases):
        return None
    return StoreFiles(bases[0] if bases else None, writes)


def lay_out(source: Path, target: Path, files: StoreFiles, cut: Cut | None = None) -> None:
    """Copy the files of the store in `source` to `target`, replacing what is there, with a new manifest."""
    there, here = source / FOLDER, target / FOLDER
    shutil.rmtree(here, ignore_errors=True)
    here.mkdir(mode=0o700)
    lines = []
    if files.base is not None:
        shutil.copyfile(there / files.base, here / files.base)
        lines.append(f"file {files.base} seq {sequence(files.base)} type b\n")
    for index, name in enumerate(files.writes):
        if cut is not None and index > cut.file:
            break
        shutil.copyfile(there / name, here / name)
        if cut is not None and index == cut.file:
            with (here / name).open("r+b") as file:
                file.truncate(cut.length)
        lines.append(f"file {name} seq {sequence(name)} type i\n")
    (here / MANIFEST).write_text("".join(lines))


def size(folder: Path, files: StoreFiles) -> int:
    """Return the number of bytes in files of writes."""
    return sum((folder / FOLDER / name).stat().st_size for name in files.writes)


def cuts(folder: Path, files: StoreFiles) -> list[Cut]:
    """Return every place behind a complete write, up to the first place that is no write."""
    found = [Cut(0, 0)] if files.writes else []
    for index, name in enumerate(files.writes):
        content = (folder / FOLDER / name).read_bytes()
        ends = list(ends_of_writes(content))
        found += [Cut(index, end) for end in ends]
        if (ends[-1] if ends else 0) != len(content):
            break
    return found
