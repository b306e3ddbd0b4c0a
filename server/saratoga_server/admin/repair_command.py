"""`saratoga-server admin repair`: recover what can be read of an embedded store's damaged files."""

import datetime
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import click

from saratoga_server.admin.backup_commands import refuse_other_stores, run
from saratoga_server.admin.commands import StoreAccess
from saratoga_server.admin.repair import Repair, damaged_name, put_in_place
from saratoga_server.admin.repair import repair as repair_files
from saratoga_server.admin.terminal import failure, say

_MOST_NAMED: Final = 10
"""The most damaged things that are named."""


@click.command()
@click.option("--yes", is_flag=True, help="Put the repaired store in place of the damaged one.")
@click.pass_obj
def repair(access: StoreAccess, yes: bool) -> None:
    """Recover what can be read of an embedded store's damaged files, into a new folder beside them.

    Stop the server first. The damaged files are not changed. Give their folder with --data, as for the server.
    """
    refuse_other_stores(access, "the store's own tools")
    folder = access.folder.absolute()
    done = run(repair_files(folder))
    for line in _report(done):
        say(line)
    if done.folder is None:
        say(f"Nothing is damaged or missing in {folder}, so nothing was written.")
        return
    if not yes:
        say(f"The repaired store is in {done.folder}. To put it in place:")
        say(f"  mv {_quoted(folder)} {_quoted(damaged_name(folder, done.stamp))}")
        say(f"  mv {_quoted(done.folder)} {_quoted(folder)}")
        return
    try:
        damaged = put_in_place(folder, done.folder, done.stamp)
    except OSError as fault:
        raise failure(
            f"The repaired store stays in {done.folder}: it cannot be put in place ({fault})."
        ) from None
    say(f"The repaired store is in place in {folder}; the damaged one is in {damaged}.")


def _report(done: Repair) -> Iterator[str]:
    """Yield the lines that say what is recovered and what is missing."""
    census = done.census
    yield (
        f"Recovered: {census.tables} tables, {census.records} finished races, {census.running} running "
        f"races with {census.boards} boards, {census.moves} moves, {census.players} players, "
        f"{census.results} results on the leaderboards."
    )
    if done.lost_base:
        yield (
            "Lost: everything that was written before the last rewrite of the files, because the file "
            "that held it is missing or damaged."
        )
    if done.bytes_left_out:
        yield (
            f"Left out: {done.bytes_left_out} bytes, because they are damaged or follow a damaged place."
        )
    if done.bytes_missing:
        yield f"Missing: the last {done.bytes_missing} bytes of the files; a copy of them may have broken off."
    yield _newest(done)
    if census.newer:
        yield (
            f"Not read: {census.newer} of the tables, which only a newer release can read. They are recovered "
            "too; use that release."
        )
    for what in census.damaged[:_MOST_NAMED]:
        yield f"Damaged: {what}."
    if len(census.damaged) > _MOST_NAMED:
        yield f"Damaged: {len(census.damaged) - _MOST_NAMED} more."
    if any(" in race " in what for what in census.damaged):
        yield "The server voids a running race with a damaged board."


def _newest(done: Repair) -> str:
    """Return the sentence about the newest write recovered."""
    found = "unknown" if not done.found.at else _time(done.found.at)
    if done.known is None:
        return f"Newest write recovered: {found}. There is no ledger file, so it is not known what is missing."
    missing = done.missing_millis
    if missing is None:
        return (
            f"Newest write recovered: {found}. The ledger file is of other data, written until "
            f"{_time(done.known.at)}."
        )
    if not missing and done.found.sequence >= done.known.sequence:
        return f"Newest write recovered: {found}, as new as the ledger file knows."
    seconds = max(1, round(missing / 1000))
    return (
        f"Newest write recovered: {found}. The store was written until {_time(done.known.at)}: the last "
        f"{seconds} s are missing."
    )


def _time(millis: int) -> str:
    return datetime.datetime.fromtimestamp(millis / 1000, datetime.UTC).strftime(
        "%Y-%m-%d %H:%M:%S UTC"
    )


def _quoted(path: Path) -> str:
    return shlex.quote(str(path))
