"""Load a server with hostile clients and hostile bytes while two friends race there.

Afterwards the server must be the same process and hold no more connections and tasks than before.
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

from kit.hostile_bytes import HostileBytes
from kit.hostile_client import BOUND, HostileClient, HostileFigures, SharedKnowledge
from kit.mutations import TRACE
from kit.server_process import ServerProcess
from saratoga_client.bots.player import Report, TablePlayer
from saratoga_client.bots.strengths import CHOOSERS, Strength
from saratoga_client.local.identity import new_token
from saratoga_client.net.connection import Connection
from saratoga_protocol.commands import CreateTable, JoinTable
from saratoga_protocol.events import Snapshot

LISTENING = "0A"
"""The state of a listening socket in `/proc/net/tcp`."""


@dataclass
class HostileLoad:
    """Counts of hostile frames, connections and responses."""

    figures: HostileFigures = field(default_factory=HostileFigures)
    statuses: Counter[int] = field(default_factory=Counter)
    bare_connections: int = 0
    bare_frames: int = 0
    reports: list[Report] = field(default_factory=list)
    """The friends' races, one report each."""

    @property
    def frames(self) -> int:
        return self.figures.frames + self.bare_frames


async def load_with_hostile_clients(
    server_process: ServerProcess, *, frames: int, clients: int, bare: int, races: int, seed: str
) -> HostileLoad:
    """Send at least this many hostile frames, and open `bare` TCP connections, while two friends race."""
    load, known, random = HostileLoad(), SharedKnowledge(), Random(seed)
    pid, tasks = server_process.pid, await tasks_of(server_process)
    async with asyncio.TaskGroup() as group:
        friends = group.create_task(_raced(server_process, known, races))
        for _ in range(clients):
            client = HostileClient(server_process.url, known, load.figures, Random(random.random()))
            group.create_task(client.send_random(frames // clients, lambda: not friends.done()))
        group.create_task(
            _open_bare_connections(server_process.port, load, bare, Random(random.random()))
        )
    load.reports = friends.result()
    assert (server_process.pid, (await server_process.get("/healthz"))[0]) == (pid, 200)
    await connections_closed(pid)
    await tasks_at_most(tasks, server_process)
    assert not TRACE.search(server_process.log.read_text())
    return load


async def _raced(server_process: ServerProcess, known: SharedKnowledge, races: int) -> list[Report]:
    """Let two friends race at a table whose code the hostile clients know; return a report for each friend."""
    one, other = new_token(), new_token()
    async with (
        Connection(server_process.url, one, name=f"Anna {one[:8]}") as anna,
        Connection(server_process.url, other, name=f"Bert {other[:8]}") as bert,
    ):
        game = "canfield-aisleriot"
        snapshot = await anna.ask(partial(CreateTable, game=game, cap=3, seats=2), Snapshot)
        await bert.ask(partial(JoinTable, table=snapshot.table.code), Snapshot)
        known.learn(snapshot)
        players = [
            TablePlayer(each, CHOOSERS[Strength.WEAK], pace=40, races=races, starts_with=2)
            for each in (anna, bert)
        ]
        return list(await asyncio.gather(*(player.stay() for player in players)))


async def _open_bare_connections(
    port: int, load: HostileLoad, connections: int, random: Random
) -> None:
    hostile = HostileBytes(port, random)
    for _ in range(connections):
        await hostile.connect()
    load.statuses = hostile.answers
    load.bare_connections = hostile.connections
    load.bare_frames = hostile.frames


def open_connections(pid: int) -> int:
    """Count the TCP connections of a process, except listening sockets."""
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
    """Return the number of tasks that the server last measured; it measures them every two seconds."""
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


async def tasks_at_most(tasks: int, server_process: ServerProcess) -> None:
    """Wait until the server has at most this many tasks."""
    async with asyncio.timeout(BOUND):
        while await tasks_of(server_process) > tasks:
            await asyncio.to_thread(time.sleep, 0.1)


async def connections_closed(pid: int, left: int = 0) -> None:
    """Wait until a server process holds `left` TCP connections; its store uses a Unix socket instead."""
    async with asyncio.timeout(BOUND):
        while open_connections(pid) != left:
            await asyncio.to_thread(time.sleep, 0.05)
