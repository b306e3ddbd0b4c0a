"""A house under siege: hostile guests and bare bytes at its door, while two friends race inside.

Afterwards it must be the same process, and hold no connection and no task more than before.
"""

import asyncio
import re
import time
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from random import Random
from urllib.request import urlopen

from kit.decoding import TRACE
from kit.hostile_bytes import HostileBytes
from kit.hostile_guests import BOUND, HostileGuest, Known, Tally
from kit.server_process import ServerProcess
from saratoga_client.bots.player import Report, TablePlayer
from saratoga_client.bots.strengths import CHOOSERS, Strength
from saratoga_client.local.identity import new_token
from saratoga_client.net.connection import Connection
from saratoga_protocol.commands import CreateTable, JoinTable
from saratoga_protocol.events import Snapshot

LISTENING = "0A"
"""A state in `/proc/net/tcp`."""


@dataclass
class Siege:
    """What was done to the house, and what came of it."""

    tally: Tally = field(default_factory=Tally)
    statuses: Counter[int] = field(default_factory=Counter)
    bare_connections: int = 0
    bare_frames: int = 0
    reports: list[Report] = field(default_factory=list)
    """Of the friends, one each."""

    @property
    def frames(self) -> int:
        return self.tally.frames + self.bare_frames


async def besiege(
    server_process: ServerProcess, *, frames: int, guests: int, bare: int, races: int, seed: str
) -> Siege:
    """So many hostile frames and bare connections, while the friends race to the end."""
    siege, known, chance = Siege(), Known(), Random(seed)
    pid, tasks = server_process.pid, await tasks_of(server_process)
    async with asyncio.TaskGroup() as group:
        friends = group.create_task(_raced(server_process, known, races))
        for _ in range(guests):
            attacker = HostileGuest(server_process.url, known, siege.tally, Random(chance.random()))
            group.create_task(attacker.send(frames // guests, lambda: not friends.done()))
        group.create_task(_knock(server_process.port, siege, bare, Random(chance.random())))
    siege.reports = friends.result()
    assert (server_process.pid, (await server_process.get("/healthz"))[0]) == (pid, 200)
    await all_closed(pid)
    await at_most(tasks, server_process)
    assert not TRACE.search(server_process.log.read_text())
    return siege


async def _raced(server_process: ServerProcess, known: Known, races: int) -> list[Report]:
    """Two friends at a table for two, whose code everybody knows; how they came out."""
    one, other = new_token(), new_token()
    async with (
        Connection(server_process.url, one, name=f"Anna {one[:8]}") as anna,
        Connection(server_process.url, other, name=f"Bert {other[:8]}") as bert,
    ):
        game = "canfield-aisleriot"
        snapshot = await anna.ask(partial(CreateTable, game=game, cap=3, seats=2), Snapshot)
        await bert.ask(partial(JoinTable, table=snapshot.table.code), Snapshot)
        known.hear(snapshot)
        players = [
            TablePlayer(each, CHOOSERS[Strength.WEAK], pace=40, races=races, starts_with=2)
            for each in (anna, bert)
        ]
        return list(await asyncio.gather(*(player.stay() for player in players)))


async def _knock(port: int, siege: Siege, connections: int, chance: Random) -> None:
    knocking = HostileBytes(port, chance)
    for _ in range(connections):
        await knocking.connect()
    siege.statuses = knocking.answers
    siege.bare_connections = knocking.connections
    siege.bare_frames = knocking.frames


def open_connections(pid: int) -> int:
    """TCP connections that a process holds, in whatever state but listening."""
    held = set()
    for handle in (Path("/proc") / str(pid) / "fd").iterdir():
        with suppress(FileNotFoundError):
            held.add(str(handle.readlink()))
    rows = [
        line.split()
        for table in ("tcp", "tcp6")
        for line in (Path("/proc/net") / table).read_text().splitlines()[1:]
    ]
    return sum(row[3] != LISTENING and f"socket:[{row[9]}]" in held for row in rows)


async def tasks_of(server_process: ServerProcess) -> int:
    """How many tasks its loop had when it last looked, which is every two seconds."""
    (port,) = [
        event["port"] for event in server_process.events() if event["event"] == "metrics_open"
    ]
    async with asyncio.timeout(BOUND):
        while True:
            text = await asyncio.to_thread(_read, f"http://127.0.0.1:{port}/metrics")
            found = re.search(r"^saratoga_tasks ([0-9]+)", text, re.MULTILINE)
            assert found is not None, text
            if float(found[1]):
                return int(found[1])
            await asyncio.to_thread(time.sleep, 0.1)


def _read(url: str) -> str:
    with urlopen(url, timeout=BOUND) as answer:
        text: bytes = answer.read()
    return text.decode()


async def at_most(tasks: int, server_process: ServerProcess) -> None:
    """Wait until it has no more tasks than that."""
    async with asyncio.timeout(BOUND):
        while await tasks_of(server_process) > tasks:
            await asyncio.to_thread(time.sleep, 0.1)


async def all_closed(pid: int) -> None:
    """Wait until it holds none: its store is reached over a Unix socket."""
    async with asyncio.timeout(BOUND):
        while open_connections(pid):
            await asyncio.to_thread(time.sleep, 0.05)
