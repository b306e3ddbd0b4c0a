"""What a judged, durable, acknowledged move costs, beside a bare echo in the same run.

Closed loop: every player sends the next move when the last one is acknowledged. The measure is the
server process's own CPU time (user and system) a message, which a busy machine disturbs least;
the echo gets and gives as many bytes a message as the house did in the same line.

    python tests/benchmarks/house_bench.py [--game canfield] [--durability safe] [--tables 1,16,64,256]
"""

import argparse
import asyncio
import hashlib
import os
import random
import secrets
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import msgspec
import uvloop

sys.path.insert(0, str(Path(__file__).parent.parent))

from kit.lean_socket import LeanSocket, connect
from saratoga_protocol import commands as said
from saratoga_protocol import events
from saratoga_protocol.codec import CODECS, UnknownEvent
from saratoga_protocol.version import MSGPACK

CODEC = CODECS[MSGPACK]
TICKS = os.sysconf("SC_CLK_TCK")
HERE = Path(__file__).parent
SECONDS = 4.0
"""How long each line is measured, if the races last so long."""


def cpu_seconds(pid: int) -> float:
    """User and system time that a process has used."""
    text = Path(f"/proc/{pid}/stat").read_text()
    fields = text.rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def child_of(pid: int, name: str) -> int | None:
    """The process with this in its command line that `pid` has started."""
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            if parent == pid and name in (entry / "cmdline").read_text():
                return int(entry.name)
        except OSError:
            continue
    return None


@dataclass
class Load:
    """What one measured line saw."""

    messages: int = 0
    sent: int = 0
    """Bytes of payload."""
    answered: int = 0
    """Bytes of payload, of the answers alone."""
    latencies: list[float] = field(default_factory=list)
    seconds: float = 0.0
    server: float = 0.0
    store: float = 0.0
    load: float = 0.0

    def row(self) -> str:
        ordered = sorted(self.latencies)
        p50, p99 = (ordered[int(len(ordered) * part)] * 1000 for part in (0.5, 0.99))
        return (
            f"{self.messages:>8} {self.messages / self.seconds:>9.0f} {self.micros:>8.1f} "
            f"{p50:>8.2f} {p99:>8.2f} {self.store / self.messages * 1e6:>8.1f} "
            f"{self.load / self.seconds:>6.0%}"
        )

    @property
    def micros(self) -> float:
        """Server CPU a message."""
        return self.server / self.messages * 1e6


@contextmanager
def measured(load: Load, server: int, store: int | None) -> Iterator[None]:
    before = (cpu_seconds(server), cpu_seconds(store) if store else 0.0)
    began, mine = time.perf_counter(), time.process_time()
    yield
    load.seconds = time.perf_counter() - began
    load.load = time.process_time() - mine
    load.server = cpu_seconds(server) - before[0]
    load.store = (cpu_seconds(store) - before[1]) if store else 0.0


class Player:
    """A connection that sets a table up, and then plays as fast as it is answered."""

    def __init__(self, socket: LeanSocket, seed: int) -> None:
        self.socket = socket
        self.chance = random.Random(seed)
        self.id = 0
        self.table: events.Table | None = None
        self.board: events.BoardView | None = None
        self.dealt = asyncio.get_running_loop().create_future()
        self._answers: dict[int, asyncio.Future[object]] = {}
        self._nonce = secrets.token_bytes(16)
        self._stop: Callable[[], bool] = lambda: True
        self._done: asyncio.Future[None] | None = None
        self._load = Load()
        self._asked = 0.0
        self._move_size = 0
        socket.on_message = self._hear

    async def ask(self, kind: type[said.Command], **fields: object) -> object:
        self.id += 1
        answer = self._answers[self.id] = asyncio.get_running_loop().create_future()
        command = kind(id=self.id, **fields)
        self.socket.send(msgspec.msgpack.encode(command))
        return await answer

    async def get_ready(self) -> None:
        assert self.table is not None
        await self.ask(
            said.Ready,
            table=self.table.code,
            commitment=self.table.commitment,
            nonce_hash=hashlib.sha256(self._nonce).hexdigest(),
        )

    def play(self, load: Load, stop: Callable[[], bool]) -> "asyncio.Future[None]":
        """Play until `stop` says so or the board has ended."""
        self._load, self._stop = load, stop
        self._done = asyncio.get_running_loop().create_future()
        self._next()
        return self._done

    def _next(self) -> None:
        board = self.board
        assert board is not None
        assert self._done is not None
        if self._stop() or not board.legal:
            self._done.set_result(None)
            return
        self.id += 1
        move = said.MakeMove(
            id=self.id, race=board.race, after=board.count, move=self._choice(board.legal)
        )
        frame = msgspec.msgpack.encode(move)
        self._load.sent += len(frame)
        self._asked = time.perf_counter()
        self.socket.send(frame)

    def _choice(self, legal: list[str]) -> str:
        """Bank at once, else mostly draw: a plausible player whose race lasts."""
        for move in legal:
            if move.endswith((">up", ">down")):
                return move
        return self.chance.choice(legal)

    def _hear(self, message: bytes) -> None:
        event = CODEC.decode_event(message)
        match event:
            case events.MoveMade():
                self.board = event.board
                load = self._load
                load.messages += 1
                load.answered += len(message)
                load.latencies.append(time.perf_counter() - self._asked)
                self._next()
            case events.Dealt():
                self.board = event.board
                self.dealt.set_result(None)
            case events.TableChanged():
                self.table = event.table
                if event.table.phase == "countdown" and not self.dealt.done():
                    self.id += 1
                    self.socket.send(
                        msgspec.msgpack.encode(
                            said.Reveal(id=self.id, table=event.table.code, nonce=self._nonce.hex())
                        )
                    )
                    self.dealt.add_done_callback(lambda _: None)
            case UnknownEvent():
                pass
            case _:
                if isinstance(event, events.Snapshot):
                    self.table = event.table
                if event.re is not None and event.re in self._answers:
                    self._answers.pop(event.re).set_result(event)


async def seat_table(port: int, number: int, game: str) -> list[Player]:
    """Four players at a table of their own, in a race that has started."""
    players = []
    for seat in range(4):
        player = Player(await connect("127.0.0.1", port), number * 4 + seat)
        name = f"Racer {secrets.token_hex(4)}".replace("0", "o").replace("1", "i")
        answer = await player.ask(said.Hello, token=secrets.token_hex(32), name=name, legal=True)
        assert isinstance(answer, events.Welcome), answer
        players.append(player)
    host, *others = players
    answer = await host.ask(said.CreateTable, game=game, cap=20)
    assert isinstance(answer, events.Snapshot), answer
    for player in others:
        await player.ask(said.JoinTable, table=answer.table.code)
    for player in players:
        await player.get_ready()
    started = await host.ask(said.Start, table=answer.table.code)
    assert isinstance(started, events.Done), started
    return players


async def house_load(port: int, pids: tuple[int, int | None], tables: int, game: str) -> Load:
    """Race at that many tables at once.

    A table whose first board has ended makes way for one that waits, so that neither the end of
    a race nor boards at rest are measured.
    """
    spare = max(12, tables)
    seated: list[list[Player]] = []
    for first in range(0, tables + spare, 8):
        numbers = range(first, min(first + 8, tables + spare))
        seated += await asyncio.gather(*(seat_table(port, n, game) for n in numbers))
    everyone = [player for players in seated for player in players]
    await asyncio.gather(*(player.dealt for player in everyone))
    load = Load()
    waiting = seated[tables:]
    with measured(load, *pids):
        until = time.perf_counter() + SECONDS

        async def keep_racing(players: list[Player]) -> None:
            while time.perf_counter() < until:
                over = asyncio.Event()

                def stop(over: asyncio.Event = over) -> bool:
                    return over.is_set() or time.perf_counter() >= until

                def ended(_: object, over: asyncio.Event = over) -> None:
                    over.set()

                playing = [player.play(load, stop) for player in players]
                for done in playing:
                    done.add_done_callback(ended)
                await asyncio.gather(*playing)
                if not waiting:
                    return
                players = waiting.pop()

        await asyncio.gather(*(keep_racing(players) for players in seated[:tables]))
    for player in everyone:
        player.socket.close()
    return load


async def echo_load(port: int, pid: int, like: Load, connections: int) -> Load:
    """As many connections, and messages of the same sizes, as `like` had."""
    question = like.sent // like.messages
    answer = like.answered // like.messages
    payload = answer.to_bytes(2, "big") + bytes(max(0, question - 2))
    sockets = [await connect("127.0.0.1", port) for _ in range(connections)]
    load = Load()
    dones = []
    with measured(load, pid, None):
        until = time.perf_counter() + SECONDS
        for socket in sockets:
            done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            dones.append(done)
            echo_on(socket, payload, load, until, done)
        await asyncio.gather(*dones)
    for socket in sockets:
        socket.close()
    return load


def echo_on(
    socket: LeanSocket, payload: bytes, load: Load, until: float, done: "asyncio.Future[None]"
) -> None:
    asked = time.perf_counter()

    def hear(message: bytes) -> None:
        nonlocal asked
        now = time.perf_counter()
        load.messages += 1
        load.latencies.append(now - asked)
        if now >= until:
            done.set_result(None)
            return
        asked = now
        socket.send(payload)

    socket.on_message = hear
    socket.send(payload)


@contextmanager
def echo_server() -> Iterator[tuple[int, int]]:
    with subprocess.Popen(
        [sys.executable, str(HERE / "echo_server.py")], stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdout is not None
        try:
            yield int(server.stdout.readline()), server.pid
        finally:
            server.terminate()


@contextmanager
def house_server(durability: str) -> Iterator[tuple[int, int, int | None]]:
    with (
        tempfile.TemporaryDirectory(prefix="saratoga-bench-") as folder,
        subprocess.Popen(
            [
                *(sys.executable, "-m", "saratoga_server", "--port", "0", "--data", folder),
                *("--rate", "0", "--metrics-port", "off", "--log-level", "warning"),
                *("--durability", durability),
            ],
            stdout=subprocess.PIPE,
            text=True,
        ) as server,
    ):
        assert server.stdout is not None
        try:
            address = server.stdout.readline()
            yield int(address.rpartition(":")[2]), server.pid, child_of(server.pid, "valkey")
        finally:
            server.terminate()
            server.wait()


async def main(game: str, durability: str, table_counts: list[int]) -> None:
    print(f"game {game}, durability {durability}; CPU of the server process alone")
    print(
        f"{'':>12} {'tables':>6} {'messages':>8} {'a second':>9} {'CPU us':>8} {'p50 ms':>8} "
        f"{'p99 ms':>8} {'store us':>8} {'load':>6}"
    )
    for tables in table_counts:
        with house_server(durability) as (port, pid, store):
            house = await house_load(port, (pid, store), tables, game)
        print(f"{'house':>12} {tables:>6} {house.row()}")
        with echo_server() as (port, pid):
            echo = await echo_load(port, pid, house, tables * 4)
        print(f"{'bare echo':>12} {tables:>6} {echo.row()}")
        print(
            f"{'ratio':>12} {tables:>6} {house.micros / echo.micros:>27.2f}   "
            f"({house.sent // house.messages} bytes asked, {house.answered // house.messages} answered)"
        )


if __name__ == "__main__":
    arguments = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    arguments.add_argument("--game", default="canfield")
    arguments.add_argument("--durability", default="safe", choices=["fast", "safe"])
    arguments.add_argument("--tables", default="1,16,64,256")
    options = arguments.parse_args()
    counts = [int(count) for count in options.tables.split(",")]
    uvloop.run(main(options.game, options.durability, counts))
