"""Repair of really damaged files: as much as a store can load, on a copy, in a folder that the server accepts."""

import asyncio
import errno
import hashlib
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec import structs

from kit.tables import ANN, BEN, CODE, running
from saratoga_rules.dealing.deal import deal_for_key
from saratoga_server.admin.repair import Repair, put_in_place, repair
from saratoga_server.domain.tables import TableState, unpack
from saratoga_server.domain.tables.restored import LEAST_GAP
from saratoga_server.domain.tables.writes import write_of
from saratoga_server.embedded_store.append_files import (
    FOLDER,
    MANIFEST,
    present_files,
    wait_for_child,
)
from saratoga_server.embedded_store.embedded import EmbeddedStore
from saratoga_server.embedded_store.ledger_file import (
    LedgerNote,
    read_ledger,
    read_note,
    write_note,
)
from saratoga_server.embedded_store.writes_in_file import ends_of_writes
from saratoga_server.live.stored_logs import game_of
from saratoga_server.ports import (
    BoardCommit,
    CommitStatus,
    Millis,
    PlayerRow,
    RaceOpening,
    StoreRefused,
)
from saratoga_server.store.clients import open_client
from saratoga_server.store.opening import Store, open_store

MOVES = 12
"""Moves of each of two boards in the damaged store, behind a rewrite of the files after the first half."""

TABLE = running(ANN, BEN)
BANKED = deal_for_key(game_of(TABLE), bytes.fromhex(TABLE.deal_key)).banked


async def drawn(store: Store, player: str, after: int) -> None:
    commit = BoardCommit(
        table=CODE,
        race=1,
        player=player,
        epoch=0,
        command_id=after + 1,
        after=after,
        entries=("draw",),
        banked=BANKED,
        state="racing",
        rises=False,
    )
    assert (await store.commits.commit(commit)).status is CommitStatus.DONE


async def started(store: Store) -> None:
    """Store two players, and a table with a running race."""
    now = await store.tables.now()
    table: TableState = structs.replace(TABLE, start_at=now, deadline=Millis(now + 600_000))
    opening = RaceOpening(
        race=1, start_at=now, deadline=table.deadline, banked=BANKED, epochs={ANN: 1, BEN: 1}
    )
    write = structs.replace(write_of(0, None, table), opening=opening)
    assert await store.tables.save_table(write)
    for player in (ANN, BEN):
        await store.players.create_player(PlayerRow(player=player, token_hash="0" * 64))


async def filled(folder: Path) -> None:
    """Run a store on the folder and fill it; its file of writes holds the second half of the moves."""
    async with EmbeddedStore(folder) as url, open_store(url) as store:
        await started(store)
        for after in range(MOVES // 2):
            for player in (ANN, BEN):
                await drawn(store, player, after)
        client = open_client(url)
        await client.bgrewriteaof()
        await wait_for_child(client, "aof_rewrite_in_progress", "aof_rewrite_scheduled")
        for after in range(MOVES // 2, MOVES):
            for player in (ANN, BEN):
                await drawn(store, player, after)
        await client.execute_command(
            "HSET", "{players}:ledger", "generation", "abcdef", "sequence", 7
        )
        await client.hset("{players}:ledger", "at", str(TABLE.start_at))
        await client.aclose()
    write_note(folder, LedgerNote("abcdef", 7, TABLE.start_at, clean=True))


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("whole") / "store"
    asyncio.run(filled(folder))
    return folder


@pytest.fixture
def folder(whole: Path, tmp_path: Path) -> Path:
    """A copy of the filled store's folder, to be damaged."""
    target = tmp_path / "store"
    (target / FOLDER).mkdir(parents=True, mode=0o700)
    target.chmod(0o700)
    for path in (whole / FOLDER).iterdir():
        (target / FOLDER / path.name).write_bytes(path.read_bytes())
    (target / "ledger.json").write_bytes((whole / "ledger.json").read_bytes())
    return target


def file_of(folder: Path, kind: str) -> Path:
    """Return the newest file of that kind (`base` or `incr`)."""
    return max((folder / FOLDER).glob(f"*.{kind}.*"))


def fingerprint(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.suffix != ".lock"
    }


async def repaired(folder: Path) -> Repair:
    """Repair the folder; check that it is unchanged, and that a server accepts the repaired one."""
    before = fingerprint(folder)
    done = await repair(folder)
    assert fingerprint(folder) == before, "the damaged files are evidence"
    if done.folder is not None:
        assert done.folder.stat().st_mode & 0o777 == 0o700
        assert not list(folder.parent.glob("*.unfinished"))
        put_in_place(folder, done.folder, done.stamp)
        note = read_note(folder)
        assert note is not None
        assert note.generation not in ("", "abcdef"), "the ledger accepts it as new data"
        async with EmbeddedStore(folder) as url, open_store(url) as store:
            moves = 0
            stored = await store.tables.load_table(CODE)
            if stored is not None:
                assert unpack(stored[1]).race_gap >= LEAST_GAP, "lost races keep their numbers"
                for player in (ANN, BEN):
                    board = await store.boards.load_board(CODE, 1, player)
                    assert board is not None
                    moves += len(board.entries)
                    await drawn(store, player, len(board.entries))
            assert moves == done.census.moves or done.census.damaged
            client = open_client(url)
            assert (await read_ledger(client)).generation == note.generation
            await client.aclose()
    return done


async def test_a_store_without_damage_is_left_alone(folder: Path) -> None:
    done = await repaired(folder)
    assert done.folder is None
    assert done.is_complete
    census = done.census
    assert (census.tables, census.running, census.boards, census.moves) == (1, 1, 2, 2 * MOVES)
    assert (census.players, census.damaged) == (2, [])
    assert [path.name for path in folder.parent.iterdir()] == ["store"]


async def test_an_older_file_beside_those_of_an_intact_store_repeats_no_move(folder: Path) -> None:
    [newest] = (folder / FOLDER).glob("*.incr.aof")
    older = newest.with_name("appendonly.aof.1.incr.aof")
    assert newest != older
    older.write_bytes(newest.read_bytes())
    done = await repaired(folder)
    assert (done.census.moves, done.census.damaged) == (2 * MOVES, [])


async def test_a_newer_file_that_the_manifest_does_not_name_is_recovered(folder: Path) -> None:
    path = file_of(folder, "incr")
    newer = path.with_name("appendonly.aof.9.incr.aof")
    content = path.read_bytes()
    ends = list(ends_of_writes(content))
    path.write_bytes(content[: ends[MOVES // 2]])
    newer.write_bytes(content[ends[MOVES // 2] :])
    done = await repaired(folder)
    assert (done.census.moves, done.census.damaged) == (2 * MOVES, [])


@pytest.mark.parametrize("kept", [0.0, 0.13, 0.37, 0.61, 0.88, 0.999])
async def test_a_file_cut_anywhere_gives_every_write_before_the_cut(
    folder: Path, kept: float
) -> None:
    path = file_of(folder, "incr")
    content = path.read_bytes()
    path.write_bytes(content[: int(len(content) * kept)])
    done = await repaired(folder)
    assert MOVES <= done.census.moves < 2 * MOVES or kept > 0.9
    assert done.census.damaged == []
    assert done.folder is not None


async def test_a_damaged_byte_in_the_middle_cuts_off_what_follows_it(folder: Path) -> None:
    path = file_of(folder, "incr")
    content = bytearray(path.read_bytes())
    place = content.index(b"$5\r\nRPUSH", len(content) // 2)
    content[place + 1] ^= 0x40
    path.write_bytes(content)
    done = await repaired(folder)
    assert MOVES < done.census.moves < 2 * MOVES
    assert done.bytes_left_out >= len(content) - place


async def test_a_damaged_name_of_a_command_is_found_by_trying(folder: Path) -> None:
    path = file_of(folder, "incr")
    content = bytearray(path.read_bytes())
    place = content.index(b"RPUSH", len(content) // 2)
    content[place] ^= 0x01
    path.write_bytes(content)
    done = await repaired(folder)
    assert MOVES < done.census.moves < 2 * MOVES
    assert 0 < done.bytes_left_out < len(content)


async def test_a_damaged_move_is_named_and_kept(folder: Path) -> None:
    path = file_of(folder, "incr")
    path.write_bytes(path.read_bytes().replace(b" draw\r\n", b" dram\r\n", 1))
    done = await repaired(folder)
    assert done.bytes_left_out == 0
    (damaged,) = done.census.damaged
    assert "dram" in damaged
    assert done.census.moves == MOVES // 2 + MOVES, "the other board, and this one up to the damage"


async def test_without_a_manifest_all_files_are_found(folder: Path) -> None:
    (folder / FOLDER / MANIFEST).unlink()
    done = await repaired(folder)
    assert done.census.moves == 2 * MOVES
    assert (done.lost_base, done.bytes_left_out, done.missing_millis) == (False, 0, 0)


async def test_without_the_file_of_writes_the_snapshot_is_recovered(folder: Path) -> None:
    file_of(folder, "incr").unlink()
    done = await repaired(folder)
    assert done.census.moves == MOVES
    assert (done.census.tables, done.census.players) == (1, 2)


def flip(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 0xFF
    path.write_bytes(content)


@pytest.mark.parametrize(
    "harm", [Path.unlink, lambda path: path.write_bytes(b""), flip],
    ids=["gone", "empty", "damaged"],
)  # fmt: skip
async def test_without_the_snapshot_only_later_writes_are_left(
    folder: Path, harm: Callable[[Path], object]
) -> None:
    harm(file_of(folder, "base"))
    done = await repaired(folder)
    assert done.lost_base
    assert done.census.tables == 0


async def test_what_the_ledger_file_knows_more_is_missing(folder: Path) -> None:
    write_note(folder, LedgerNote("abcdef", 19, TABLE.start_at + 90_000, 90_000))
    done = await repaired(folder)
    assert done.missing_millis == 90_000
    assert done.folder is not None


async def test_writes_that_are_missing_after_a_shutdown_in_order_are_counted(folder: Path) -> None:
    path = file_of(folder, "incr")
    note = read_note(folder)
    assert note is not None
    write_note(folder, structs.replace(note, files=present_files(folder)))
    content = path.read_bytes()
    *_, end, _ = ends_of_writes(content)
    path.write_bytes(content[:end])
    done = await repaired(folder)
    assert (done.bytes_left_out, done.bytes_missing) == (0, len(content) - end)
    assert done.folder is not None


async def test_a_copy_that_cannot_be_written_is_said_with_the_reason(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fill_the_disk(*given: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(shutil, "copyfile", fill_the_disk)
    with pytest.raises(StoreRefused, match=rf"{folder.parent}, and needs as much room"):
        await repair(folder)
    assert [path.name for path in folder.parent.iterdir()] == ["store"]


async def test_a_folder_in_use_is_not_repaired(folder: Path) -> None:
    async with EmbeddedStore(folder):
        with pytest.raises(StoreRefused, match="Stop it, then repair"):
            await repair(folder)


async def test_a_folder_without_files_of_a_store_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StoreRefused, match="no files of a store"):
        await repair(tmp_path)


async def test_files_without_any_write_are_beyond_repair(folder: Path) -> None:
    for kind in ("base", "incr"):
        file_of(folder, kind).write_bytes(b"\xff" * 64)
    done = await repaired(folder)
    assert done.lost_base
    assert (done.census.tables, done.census.moves) == (0, 0)
