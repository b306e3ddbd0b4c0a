"""`saratoga-server admin backup` and `restore`: the store, out into a folder and back again."""

import asyncio
from collections.abc import Coroutine
from pathlib import Path
from typing import Any, Final, TypeVar

import click

from saratoga_server.admin import backups
from saratoga_server.admin.backups import BackupNote
from saratoga_server.admin.commands import Office
from saratoga_server.embedded_store.embedded import EmbeddedStore, running_url
from saratoga_server.ports import StoreRefused, StoreUnavailable

_T = TypeVar("_T")

_FAULTS: Final = (backups.BadBackup, StoreRefused, StoreUnavailable, OSError)


@click.command()
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path))
@click.option("--keep", type=click.IntRange(min=1), metavar="N",
    help="Throw away all but the newest N backups afterwards.  [default: all stay]")  # fmt: skip
@click.pass_obj
def backup(office: Office, folder: Path, keep: int | None) -> None:
    """Back up the running store into FOLDER, while races go on.

    The backup is read again before it counts.
    """
    path, note = _done(_backed_up(office, folder))
    click.echo(f"{path}: {_told(note)}")
    if keep is not None:
        for old in backups.prune(folder, keep):
            click.echo(f"{old}: thrown away")


@click.command()
@click.argument("source", metavar="BACKUP", type=click.Path(exists=True, path_type=Path))
@click.option("--check", is_flag=True, help="Only hold the backup against its checksums.")
@click.pass_obj
def restore(office: Office, source: Path, check: bool) -> None:
    """Restore BACKUP into an empty store on which no house runs.

    That is the store of --redis, or else the embedded one of --data, which is made.
    """
    if check:
        try:
            note = backups.examine(source)
        except backups.BadBackup as fault:
            raise click.ClickException(str(fault)) from None
        click.echo(f"{source}: whole, {_told(note)}")
        return
    copied, note = _done(_restored(office, source))
    gone = note.keys - copied
    click.echo(f"{copied} keys restored; {gone} have expired since {note.taken}.")


def _done(act: Coroutine[Any, Any, _T]) -> _T:
    try:
        return asyncio.run(act)
    except _FAULTS as fault:
        raise click.ClickException(str(fault)) from None


async def _backed_up(office: Office, folder: Path) -> tuple[Path, BackupNote]:
    url = office.redis or await running_url(office.folder)
    if url is None:
        raise StoreRefused(
            f"No server runs on {office.folder}. Start it, or say where its store is with "
            "--data or --redis."
        )
    return await backups.take(url, folder)


async def _restored(office: Office, source: Path) -> tuple[int, BackupNote]:
    if office.redis is not None:
        return await backups.restore(source, office.redis)
    async with EmbeddedStore(office.folder) as url:
        return await backups.restore(source, url)


def _told(note: BackupNote) -> str:
    size = sum(each.size for each in note.snapshots)
    return f"{note.keys} keys, {size} bytes, {note.product} {note.store_version}, {note.taken}"
