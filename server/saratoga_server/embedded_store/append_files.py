"""The append-only files of an embedded store: checks before a start, what a start cut off, and the rewrite.

Valkey starts empty if the manifest is missing, and then overwrites the other files. So they are checked first.
"""

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from redis.asyncio import Redis
from redis.exceptions import RedisError, ResponseError

from saratoga_server.embedded_store.ledger_file import remedy_for
from saratoga_server.ports import StoreRefused
from saratoga_server.store.clients import open_client

FOLDER: Final = "appendonlydir"
MANIFEST: Final = "appendonly.aof.manifest"

_FIRST_PAUSE: Final = 0.005
_LONGEST_PAUSE: Final = 0.1
"""The longest pause, in seconds, between two checks of whether the rewrite has ended."""


def check_files(folder: Path, *, is_known: bool) -> bool:
    """Return whether a store's folder holds data; raise `StoreRefused` if files are missing or empty.

    `is_known`: the ledger file says that there are data. Only what the store itself would take for an empty
    store, or would refuse without a remedy, is checked here.
    """
    files = folder / FOLDER
    manifest = files / MANIFEST
    if not manifest.exists():
        left = [*files.glob("*.aof"), *files.glob("*.rdb")]
        if is_known or left:
            raise _damaged(folder, f"{manifest} is missing")
        return False
    named = named_files(manifest)
    if not named:
        raise _damaged(folder, f"{manifest} names no file")
    for name, kind in named.items():
        path = files / name
        # history files are being deleted
        if kind != "h" and not path.exists():
            raise _damaged(folder, f"{path} is missing")
        if kind == "b" and path.stat().st_size == 0:
            raise _damaged(folder, f"{path} is empty")
    return True


def named_files(manifest: Path) -> dict[str, str]:
    """Return the files in a manifest, each with its type: base (b), incremental (i) or history (h)."""
    found: dict[str, str] = {}
    for line in manifest.read_text(errors="replace").splitlines():
        words = line.split()
        fields = dict(zip(words[::2], words[1::2], strict=False))
        if "file" in fields:
            found[fields["file"].strip('"')] = fields.get("type", "")
    return found


def _damaged(folder: Path, what: str) -> StoreRefused:
    return StoreRefused(
        f"The embedded store's files are damaged: {what}. Nothing was started or changed. "
        + remedy_for(folder)
    )


def sizes(folder: Path) -> dict[str, int]:
    """Return the size of each of a store's append-only files."""
    return {path.name: path.stat().st_size for path in (folder / FOLDER).glob("*.aof")}


def cut(before: Mapping[str, int], after: Mapping[str, int]) -> dict[str, int]:
    """Return the number of bytes that a start has cut off each file whose end it could not read."""
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
