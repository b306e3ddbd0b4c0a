"""The append-only files of an embedded store: the check before a start, and the rewrite."""

import asyncio
import shlex
import shutil
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final

from saratoga_server.ports import StoreRefused

if TYPE_CHECKING:
    from redis.asyncio import Redis

FOLDER: Final = "appendonlydir"
MANIFEST: Final = "appendonly.aof.manifest"
SNAPSHOT: Final = "dump.rdb"
"""The name that the store gives its snapshot."""

OLD_AFTER: Final = 60 * 86_400.0
"""Seconds after which a store is copied before it is used again."""

EMPTY_BASE: Final = 256
"""The most bytes of a base file without keys; with keys it has the Functions too."""

_FIRST_PAUSE: Final = 0.005
_LONGEST_PAUSE: Final = 0.1
"""The longest pause, in seconds, between two checks of a child process of the store."""


def check_files(folder: Path) -> bool:
    """Return whether a store's folder holds data.

    Raises `StoreRefused` if Valkey would ignore data there and start empty.
    """
    files = folder / FOLDER
    if (files / MANIFEST).exists():
        return True
    if (folder / SNAPSHOT).exists():
        raise StoreRefused(
            f"{folder / SNAPSHOT} is a snapshot, which the embedded store does not load. Nothing was started. "
            + remedy_for(folder)
        )
    every = [*files.glob("*.aof"), *files.glob("*.rdb")]
    # a first start that was interrupted leaves a base file without keys
    if any(path.stat().st_size > (EMPTY_BASE if ".base." in path.name else 0) for path in every):
        raise StoreRefused(
            f"{files / MANIFEST} is missing, so the store would start empty beside the files that "
            f"are left. Nothing was started or changed. {remedy_for(folder)}"
        )
    return False


def copy_if_old(folder: Path, last_used: float, now: float) -> Path | None:
    """Copy a store unused for `OLD_AFTER` to `before-DATE` beside its folder; return the copy.

    What expires meanwhile is gone when the store starts, and the machine's clock may be wrong. Only
    the newest copy is kept. Times are seconds since 1970. Raises `OSError`.
    """
    if now - last_used < OLD_AFTER:
        return None
    copy = folder.with_name(f"before-{datetime.fromtimestamp(now, UTC):%Y-%m-%d}")
    with TemporaryDirectory(prefix=".copying-", dir=folder.parent) as scratch:
        begun = Path(scratch, "store")
        shutil.copytree(folder, begun, ignore=shutil.ignore_patterns("*.sock", "*.lock", "temp-*"))
        for older in folder.parent.glob("before-*"):
            shutil.rmtree(older)
        begun.rename(copy)
    return copy


def delete_temporary_files(folder: Path) -> None:
    """Delete the unfinished files that a killed store left."""
    for path in folder.glob("temp-*"):
        path.unlink()


def remedy_for(folder: Path) -> str:
    """Return what to do about a store's damaged files."""
    return (
        f"Move {folder} away. `saratoga-server admin --data {shlex.quote(str(folder.parent))} "
        "restore BACKUP` then creates a store from a backup; without it, the server begins with "
        "an empty one."
    )


async def rewrite(url: str) -> None:
    """Make the store rewrite its files from its memory, and wait. Raises `StoreRefused`.

    After a crash the store may have read from the page cache what the disk does not hold. New moves
    behind such a hole would be lost with it in a power cut. The new files hold everything, and are
    flushed.
    """
    # not needed by most starts
    from redis.exceptions import ResponseError

    from saratoga_server.store.client import opened_client

    async with opened_client(url, "the store did not rewrite its files") as client:
        try:
            await client.bgrewriteaof()
        except ResponseError as error:
            if "in progress" not in str(error):
                raise
        info = await wait_for_child(client, "aof_rewrite_in_progress", "aof_rewrite_scheduled")
    if info["aof_last_bgrewrite_status"] != "ok":
        raise StoreRefused(
            "The embedded store could not rewrite its files, which needs room for a second copy "
            "of the data. Is the disk full? store.log says why."
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
