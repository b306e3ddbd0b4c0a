"""A power cut after an I/O error of the disk keeps every acknowledged move.

The embedded store runs on a simulated disk (`kit/volatile_disk.py`), one of its syncs fails, and the store
exits. Some time later the power is cut: server and store are killed, and a new server starts on what is on
the disk. The bots' notes are compared with it at the end.
"""

import asyncio
import os
import signal
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

import pytest

from kit.altered_server import QUICK
from kit.programs import note
from kit.racing_bots import RacingBots, racing_bots_at
from kit.server_process import ServerProcess, running_server
from kit.stores import StoreServer
from kit.volatile_disk import NEVER, TracedStoreProgram, VolatileDisk

PACE = 60.0
"""Moves a second of each player."""

SYNCS_BEFORE = (20, 150)
"""The least and the greatest number of successful syncs before the one that fails."""

ROUNDS = 30
"""The number of power cuts of the long tests."""

MOVES_AFTER = (1, 60)
"""The least and the greatest number of moves awaited between the I/O error and the power cut."""


@dataclass
class PowerCuts:
    """Races on a server whose disk fails and loses power again and again."""

    bots: RacingBots
    store_program: TracedStoreProgram
    random: Random
    with_errors: bool
    """Whether a sync fails before each power cut."""
    moves_after: list[int] = field(default_factory=list)
    """The number of moves acknowledged between each I/O error and the power cut."""
    _ended: int = 0

    @property
    def server_process(self) -> ServerProcess:
        return self.bots.server_process

    def moves(self) -> int:
        return sum(len(player.notes.acknowledged) for player in self.bots.players)

    def _store_endings(self) -> int:
        return sum(event["event"] == "store_ended" for event in self.server_process.events())

    async def until_store_ended(self) -> None:
        """Wait until the store has exited because of the I/O error."""
        before = self._ended
        await self.bots.until(lambda: self._store_endings() > before)

    async def until_moves(self, moves: int) -> None:
        """Wait until this many further moves are acknowledged."""
        until = self.moves() + moves
        await self.bots.until(lambda: self.moves() >= until)

    async def round(self) -> None:
        """Let the disk fail if it is to, play on, cut the power, and wait until everybody is back."""
        if self.with_errors:
            await self.until_store_ended()
        before = self.moves()
        await self.until_moves(self.random.randint(*MOVES_AFTER))
        self.moves_after.append(self.moves() - before)
        await asyncio.to_thread(self.cut)
        await self.restart()

    def write_program(self) -> None:
        """Choose the sync that fails next."""
        at = self.random.randint(*SYNCS_BEFORE) if self.with_errors else NEVER
        self.store_program.write(at)

    def cut(self) -> None:
        """Cut the power: kill the store, then the server, and leave what is on the disk."""
        server = self.server_process
        os.kill(server.pid, signal.SIGSTOP)
        with suppress(OSError):
            os.kill(server.store_pid(), signal.SIGKILL)
        os.kill(server.pid, signal.SIGKILL)
        disk = self.store_program.disk
        disk.cut_power(self.random)
        assert bool(disk.failed_syncs) == self.with_errors

    async def restart(self) -> None:
        self._ended = self._store_endings()
        self.write_program()
        since = time.monotonic()
        await self.server_process.kill()
        await self.server_process.start()
        await self.bots.all_back(since, time.monotonic(), by_connection=True)


async def cut_power_repeatedly(
    folder: Path,
    rounds: int,
    games: tuple[str, ...],
    *,
    with_errors: bool,
) -> str:
    """Cut the power in `rounds` rounds; return the figures after the audit."""
    random = Random(f"power cuts {rounds}")
    store_program = program_on_volatile_disk(folder, folder / "server" / "data" / "store")
    store_program.write(SYNCS_BEFORE[1] if with_errors else NEVER)
    async with (
        running_server(
            *("--rate", "0", "--log-level", "warning"),
            folder=folder / "server",
            before=store_program.before_server,
            module=QUICK,
        ) as server,
        racing_bots_at(server.url, games, PACE, server, None) as bots,
    ):
        cuts = PowerCuts(bots, store_program, random, with_errors)
        for _ in range(rounds):
            await cuts.round()
        races, moves = await bots.audited()
    return (
        f"{rounds} power cuts{' after I/O errors' if with_errors else ''}, "
        f"{sum(cuts.moves_after)} moves acknowledged shortly before; "
        f"{races} races, {moves} acknowledged moves, 0 lost, 0 played twice"
    )


def program_on_volatile_disk(folder: Path, data: Path) -> TracedStoreProgram:
    return TracedStoreProgram(VolatileDisk(data, folder / "traces"), folder / "program")


@pytest.mark.needs("strace")
async def test_a_power_cut_after_an_io_error_loses_no_acknowledged_move(tmp_path: Path) -> None:
    await cut_power_repeatedly(tmp_path, 1, ("canfield-aisleriot",), with_errors=True)


@pytest.mark.long
@pytest.mark.needs("strace")
@pytest.mark.parametrize("with_errors", [True, False])
async def test_many_power_cuts_lose_no_acknowledged_move(tmp_path: Path, with_errors: bool) -> None:
    games = ("lady-palk", "canfield")
    note(await cut_power_repeatedly(tmp_path, ROUNDS, games, with_errors=with_errors))


# The simulated disk


@pytest.fixture
def traced_store(tmp_path: Path) -> Iterator[tuple[StoreServer, TracedStoreProgram]]:
    """A store that is not started yet, on the simulated disk, and its program."""
    folder = tmp_path / "store"
    folder.mkdir()
    store_program = program_on_volatile_disk(tmp_path, folder)
    store = StoreServer(str(store_program.path), folder)
    try:
        yield store, store_program
    finally:
        store.kill()


def append_until_it_exits(store: StoreServer) -> int:
    """Return the number of acknowledged writes before the I/O error."""
    assert store.process is not None
    written = 0
    while store.ask("RPUSH", "log", "entry"):
        written += 1
        assert written < 1_000, "no flush failed"
    assert store.process.wait(timeout=30) == 1
    return written


@pytest.mark.needs("strace")
@pytest.mark.parametrize("is_rewritten", [True, False])
def test_after_an_io_error_only_a_rewritten_file_survives_a_power_cut(
    traced_store: tuple[StoreServer, TracedStoreProgram], is_rewritten: bool
) -> None:
    store, store_program = traced_store
    store_program.write(failing_sync=20)
    store.start()
    written = append_until_it_exits(store)
    store_program.write(NEVER)
    store.start()
    # the write that was not acknowledged is in the page cache, so the store has it
    assert store.ask("LLEN", "log") == b":%d" % (written + 1)
    if is_rewritten:
        store.ask("BGREWRITEAOF")
        store.wait_for("INFO", "persistence", says=b"aof_rewrites:1\r")
        store.wait_for("INFO", "persistence", says=b"aof_rewrite_in_progress:0\r")
    assert store.ask("RPUSH", "log", "entry") == b":%d" % (written + 2)
    store.kill()
    store_program.disk.cut_power(Random(1))
    if is_rewritten:
        store.start()
        assert store.ask("LLEN", "log") == b":%d" % (written + 2)
    else:
        with pytest.raises(AssertionError, match="Bad file format"):
            store.start()


@pytest.mark.needs("strace")
@pytest.mark.parametrize(("appendfsync", "kept"), [("always", b":1"), ("no", b":0")])
def test_a_power_cut_loses_what_was_not_synced(
    traced_store: tuple[StoreServer, TracedStoreProgram], appendfsync: str, kept: bytes
) -> None:
    store, store_program = traced_store
    store_program.write(NEVER)
    store.settings["appendfsync"] = appendfsync
    store.start()
    assert store.ask("SET", "key", "value") == b"+OK"
    store.kill()
    store_program.disk.cut_power(Random(1))
    store.start()
    assert store.ask("EXISTS", "key") == kept
