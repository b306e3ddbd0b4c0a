"""`saratoga-server admin backup` and `restore`, for the embedded store."""

import asyncio
from collections.abc import Coroutine
from pathlib import Path
from typing import Any, Final, TypeVar

import click

from saratoga_server.admin import backups
from saratoga_server.admin.backups import BackupNote
from saratoga_server.admin.commands import StoreAccess, failure, say
from saratoga_server.config import without_password
from saratoga_server.ports import StoreRefused, StoreUnavailable

_T = TypeVar("_T")

_FAULTS: Final = (backups.BadBackup, StoreRefused, StoreUnavailable, OSError)


@click.command()
@click.argument("folder", type=click.Path(file_okay=False, resolve_path=True, path_type=Path))
@click.option("--keep", type=click.IntRange(min=1), metavar="N",
    help="Delete all but the newest N backups in FOLDER afterwards.  [default: keep all]")  # fmt: skip
@click.pass_obj
def backup(access: StoreAccess, folder: Path, keep: int | None) -> None:
    """Back up the running server's embedded store into FOLDER, while races go on.

    Give each store a folder of its own.
    """
    refuse_other_stores(access, "valkey-cli --rdb FILE")
    path, note = run(backups.take(access.folder, folder))
    say(f"{path}: {_described(note)}")
    for later in backups.dated_later(path):
        say(f"{later}: its date is later than that of the new backup; a clock was or is wrong")
    if keep is not None:
        try:
            deleted = backups.prune(path, keep)
        except OSError as fault:
            raise failure(fault) from None
        for old in deleted:
            say(f"{old}: deleted")


@click.command()
@click.argument("source", metavar="BACKUP",
    type=click.Path(exists=True, resolve_path=True, path_type=Path))  # fmt: skip
@click.option("--check", is_flag=True, help="Only verify the backup's checksum.")
@click.pass_obj
def restore(access: StoreAccess, source: Path, check: bool) -> None:
    """Create an embedded store from BACKUP, in a data folder that has none.

    Give the folder with --data, as for the server. Start the server afterwards.
    """
    if check:
        try:
            note = backups.examine(source)
        except backups.BadBackup as fault:
            raise failure(fault) from None
        say(f"{source}: complete, {_described(note)}")
        return
    refuse_other_stores(access, "the store's own tools")
    keys, note = run(backups.restore(source, access.folder))
    say(f"{keys} keys restored into {access.folder}, as of {note.taken}.")


def refuse_other_stores(access: StoreAccess, instead: str) -> None:
    """Refuse a command for the embedded store, and name the right one, if the store is another."""
    if access.redis is not None:
        raise failure(
            f"This command is for the embedded store, but the server's store is "
            f"{without_password(access.redis)}. Use {instead} (deploy/RUNBOOK.md, Backups). "
            "For the embedded store of a folder, give --data."
        )


def run(work: Coroutine[Any, Any, _T]) -> _T:
    """Run a command's work and return its result; exit with the reason if it fails (code 1)."""
    try:
        return asyncio.run(work)
    except _FAULTS as fault:
        raise failure(fault) from None


def _described(note: BackupNote) -> str:
    return f"{note.size} bytes, {note.store_version}, {note.taken}"
