"""The append-only files of an embedded store: checks before a start, what a start cut off, and the rewrite.

Valkey starts empty if the manifest is missing, and then overwrites the other files. So they are checked first.
"""

import asyncio
import re
import shlex
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from redis.asyncio import Redis
from redis.exceptions import RedisError, ResponseError

from saratoga_server.ports import StoreRefused
from saratoga_server.store.clients import open_client

FOLDER: Final = "appendonlydir"
MANIFEST: Final = "appendonly.aof.manifest"
SNAPSHOT: Final = "dump.rdb"
"""The name that the store gives its snapshot."""
FILE_NAME: Final = re.compile(r"appendonly\.aof\.([0-9]+)\.(base|incr)\.(rdb|aof)")
"""Matches the name of an append-only file: its number in the sequence, its kind, its format."""

EMPTY_BASE: Final = 256
"""The most bytes of a base file without keys; with keys it also has the functions, which take thousands."""

NO_FILES: Final[Mapping[str, int]] = MappingProxyType({})

_FIRST_PAUSE: Final = 0.005
_LONGEST_PAUSE: Final = 0.1
"""The longest pause, in seconds, between two checks of whether the rewrite has ended."""


def check_files(
    folder: Path, *, is_known: bool, noted: Mapping[str, int] = NO_FILES, is_clean: bool = False
) -> bool:
    """Return whether a store's folder holds data; raise `StoreRefused` if files are missing or shortened.

    `is_known`: the ledger file says that there are data; `noted`: the files that it names (`present_files`);
    `is_clean`: it says that the store was shut down in order.
    """
    if not (folder / FOLDER / MANIFEST).exists() and (folder / SNAPSHOT).exists():
        raise StoreRefused(
            f"{folder / SNAPSHOT} is a snapshot, which the embedded store does not load. Nothing was started. Move "
            f"{folder} away, and run `saratoga-server admin --data {shlex.quote(str(folder.parent))} restore BACKUP` "
            "with the folder of the backup."
        )
    damage = find_damage(folder, is_known=is_known, noted=noted, is_clean=is_clean)
    if damage is not None:
        raise StoreRefused(
            f"The embedded store's files are damaged: {damage}. Nothing was started or changed. "
            + remedy_for(folder)
        )
    return (folder / FOLDER / MANIFEST).exists()


def find_damage(
    folder: Path, *, is_known: bool, noted: Mapping[str, int], is_clean: bool = False
) -> str | None:
    """Return what is wrong with a store's files that the store itself would not refuse, or not well."""
    files = folder / FOLDER
    manifest = files / MANIFEST
    if not manifest.exists():
        every = [*files.glob("*.aof"), *files.glob("*.rdb")]
        # the first start was cut short
        left = [path for path in every if path.stat().st_size > _size_without_data(path)]
        return f"{manifest} is missing" if is_known or left else None
    named = named_files(manifest)
    if not named:
        return f"{manifest} names no file"
    for name, kind in named.items():
        if FILE_NAME.fullmatch(name) is None:
            return f"{manifest} names {name!r}, which is no file of a store"
        path = files / name
        # history files are being deleted
        if kind != "h" and not path.exists():
            return f"{path} is missing"
        if kind == "b" and path.stat().st_size == 0:
            return f"{path} is empty"
    return (
        _unnamed(files, named)
        or lost_name(folder, noted)
        or _shortened(files, named, noted, is_clean=is_clean)
    )


def _size_without_data(path: Path) -> int:
    return EMPTY_BASE if ".base." in path.name else 0


def _unnamed(files: Path, named: Mapping[str, str]) -> str | None:
    """Return which file with data the manifest should name, but does not."""
    base = max((sequence(name) for name, kind in named.items() if kind == "b"), default=None)
    for path in sorted(files.iterdir()):
        match = FILE_NAME.fullmatch(path.name)
        if match is None or path.name in named or not path.is_file():
            continue
        # a rewrite that was cut short leaves its base file, or an empty file for further writes
        is_left_over = (
            path.stat().st_size == 0
            if match[2] == "incr"
            else base is not None and int(match[1]) <= base + 1
        )
        if not is_left_over:
            return f"{files / MANIFEST} does not name {path.name}"
    return None


def lost_name(folder: Path, noted: Mapping[str, int]) -> str | None:
    """Return which noted file a store's manifest does not name any more, although no rewrite has replaced it."""
    manifest = folder / FOLDER / MANIFEST
    named = named_files(manifest)
    bases = [sequence(name) for name, kind in named.items() if kind == "b"]
    noted_bases = [sequence(name) for name in noted if ".base." in name]
    if not bases and noted_bases:
        return f"{manifest} names no base file"
    if max(bases, default=0) > max(noted_bases, default=0):
        return None
    lost = [name for name in noted if named.get(name, "h") == "h"]
    return f"{manifest} does not name {lost[0]}" if lost else None


def _shortened(
    files: Path, named: Mapping[str, str], noted: Mapping[str, int], *, is_clean: bool
) -> str | None:
    # a crash may shorten the last file; the ledger tells whether too much is missing
    last = [name for name, kind in named.items() if kind == "i"][-1:]
    for name, size in noted.items():
        if named.get(name, "h") == "h" or (name in last and not is_clean):
            continue
        if (found := (files / name).stat().st_size) < size:
            return f"{files / name} has only {found} of {size} bytes"
    return None


def missing_bytes(folder: Path, noted: Mapping[str, int]) -> dict[str, int]:
    """Return how many bytes each of a store's files is shorter than noted."""
    found = {name: folder / FOLDER / name for name in noted}
    return cut(noted, {name: path.stat().st_size for name, path in found.items() if path.exists()})


def named_files(manifest: Path) -> dict[str, str]:
    """Return the files in a manifest, each with its type: base (b), incremental (i) or history (h)."""
    found: dict[str, str] = {}
    for line in manifest.read_text(errors="replace").splitlines():
        words = line.split()
        fields = dict(zip(words[::2], words[1::2], strict=False))
        if "file" in fields:
            found[fields["file"].strip('"')] = fields.get("type", "")
    return found


def present_files(folder: Path) -> dict[str, int]:
    """Return the files that make up a store, with their sizes.

    Raises `FileNotFoundError` if one is missing, or the store is just replacing its files.
    """
    files = folder / FOLDER
    named = named_files(files / MANIFEST)
    return {name: (files / name).stat().st_size for name, kind in named.items() if kind != "h"}


def missing_files(folder: Path) -> list[str]:
    """Return which files of a running store are gone; the store itself does not notice, and goes on writing."""
    files, before = folder / FOLDER, None
    while True:
        try:
            named = named_files(files / MANIFEST)
        except (FileNotFoundError, NotADirectoryError):
            return [MANIFEST]
        gone = [name for name, kind in named.items() if kind != "h" and not (files / name).exists()]
        # the store may just have replaced them
        if not gone or named == before:
            return gone
        before = named


def delete_temporary_files(folder: Path) -> None:
    """Delete what a store that was killed has left of the files that it was writing anew."""
    for path in folder.glob("temp-*"):
        path.unlink()


def sequence(name: str) -> int:
    """Return the number in a file's name; 0 if it is not of that form."""
    match = FILE_NAME.fullmatch(name)
    return int(match[1]) if match else 0


def remedy_for(folder: Path) -> str:
    """Return what to do about a store's damaged files."""
    return (
        f"Move {folder} away. `saratoga-server admin --data {shlex.quote(str(folder.parent))} restore BACKUP` then creates "
        "a store from a backup; without it, the server begins with an empty one."
    )


def sizes(folder: Path) -> dict[str, int]:
    """Return the size of each of a store's append-only files."""
    return {path.name: path.stat().st_size for path in (folder / FOLDER).glob("*.aof")}


def cut(before: Mapping[str, int], after: Mapping[str, int]) -> dict[str, int]:
    """Return the number of bytes that each file has become shorter; files that were replaced are left out."""
    return {
        name: size - after[name] for name, size in before.items() if after.get(name, size) < size
    }


async def rewrite(url: str) -> None:
    """Let the store write its files anew from its memory, and wait; raise `StoreRefused` if that fails.

    After a crash the store may have read from the system's memory what the disk does not hold. New moves
    behind such a hole would be lost with it in a power cut. The new files hold everything, and are flushed.
    """
    client = open_client(url)
    try:
        try:
            await client.bgrewriteaof()
        except ResponseError as error:
            if "in progress" not in str(error):
                raise
        info = await wait_for_child(client, "aof_rewrite_in_progress", "aof_rewrite_scheduled")
    except RedisError as error:
        raise StoreRefused(f"The embedded store did not write its files anew: {error}.") from error
    finally:
        await client.aclose(close_connection_pool=True)
    if info["aof_last_bgrewrite_status"] != "ok":
        raise StoreRefused(
            "The embedded store could not write its files anew. Is the disk full? store.log says why."
        )


async def wait_for_child(client: "Redis", *until_not: str) -> dict[str, Any]:
    """Wait until none of the named fields is set; return the store's INFO on persistence."""
    pause = _FIRST_PAUSE
    while True:
        info: dict[str, Any] = await client.info("persistence")
        if not any(info[name] for name in until_not):
            return info
        await asyncio.sleep(pause)
        pause = min(2 * pause, _LONGEST_PAUSE)
