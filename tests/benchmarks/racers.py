"""A WebSocket client and racers that use little processor time, so that benchmarks do not measure them.

The client masks with zeros, which leaves the payload unchanged, and supports neither fragments nor
compression. It suits only our own servers on this machine. The racers decode only those fields of a
response to a move that the next move needs; the benchmark decides when they move.
"""

import asyncio
import hashlib
import random
import secrets
import struct
from collections.abc import Callable
from typing import Any, cast

import msgspec

from kit.gateways import BINARY, PING, PONG, frame, handshake
from saratoga_protocol import commands, events
from saratoga_protocol.codec import CODECS, MSGPACK


class LeanSocket(asyncio.Protocol):
    """A client connection that passes every binary message to `on_message`."""

    def __init__(self) -> None:
        self.on_message: Callable[[bytes], None] = lambda message: None
        self.on_lost: Callable[[], None] = lambda: None
        """Called when the connection has ended."""
        self.opened: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._transport: asyncio.Transport | None = None
        self._waiting = b""
        self._open = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # uvloop's transports do not derive from asyncio's
        self._transport = cast("asyncio.Transport", transport)
        self._transport.write(handshake())

    def connection_lost(self, exc: Exception | None) -> None:
        if not self.opened.done():
            self.opened.set_exception(ConnectionError("closed in the handshake"))
        self.on_lost()

    def send(self, payload: bytes) -> None:
        assert self._transport is not None
        if not self._transport.is_closing():
            self._transport.write(frame(payload))

    def close(self) -> None:
        if self._transport is not None:
            self._transport.abort()

    def data_received(self, data: bytes) -> None:
        data = self._waiting + data if self._waiting else data
        if not self._open:
            head, found, data = data.partition(b"\r\n\r\n")
            if not found:
                self._waiting = head
                return
            if not head.startswith(b"HTTP/1.1 101"):
                self.opened.set_exception(ConnectionError(head.decode(errors="replace")))
                return
            self._open = True
            if not self.opened.done():
                self.opened.set_result(None)
        self._waiting = self._read_frames(data)

    def _read_frames(self, data: bytes) -> bytes:
        """Deliver every complete frame; return the remaining bytes."""
        start, end = 0, len(data)
        while end - start >= 2:
            kind, size, payload = data[start] & 15, data[start + 1], start + 2
            if size == 126:
                if end - start < 4:
                    break
                (size,) = struct.unpack_from("!H", data, start + 2)
                payload = start + 4
            if end - payload < size:
                break
            start = payload + size
            if kind == BINARY:
                self.on_message(data[payload:start])
            elif kind == PING and self._transport is not None:
                self._transport.write(frame(data[payload:start], PONG))
        return data[start:]


async def connect(port: int) -> LeanSocket:
    """Open a connection to this machine. Raises `ConnectionError` if the server refuses."""
    loop = asyncio.get_running_loop()
    _, socket = await loop.create_connection(LeanSocket, "127.0.0.1", port)
    await socket.opened
    return socket


ANSWERED_WITHIN = 60.0
"""Longest time in seconds to wait for a response; a bound, not a measurement."""

MOVE_ON = frozenset({"board_over", "race_over", "not_racing", "no_such_race", "wrong_phase"})
"""Codes of refusals of a move that arrived after its board had ended."""

CODEC = CODECS[MSGPACK]

GAME = "canfield"
SEATS = 4
CAP = 20
"""The time limit of a race in minutes, longer than any race of a benchmark."""

AT_ONCE = 16
"""The number of tables that are seated concurrently; more would only wait for one another."""

_IS_MOVE = b"\xa4type\xa5board\xa2re"
"""The first bytes of the response to a move, after the byte that counts its fields."""


class Board(msgspec.Struct):
    """The fields of a board that the next move needs."""

    race: str
    count: int
    state: str
    legal: list[str] | None = None


class Moved(msgspec.Struct):
    """The fields of a board event that the next move needs."""

    board: Board


DECODE_MOVED = msgspec.msgpack.Decoder(Moved).decode


class LeanRacer:
    """A racer with one connection; every call of `move` sends one move."""

    def __init__(self, socket: LeanSocket, *, dawdles: bool = False) -> None:
        """`dawdles`: draw from the stock most of the time, so that races last much longer."""
        self.socket = socket
        self.dawdles = dawdles
        self.board: Board | None = None
        self.table: events.Table | None = None
        self.dealt: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.on_moved: Callable[[int], None] = lambda size: None
        """Called at each response to a move, with its size in bytes."""
        self.on_over: Callable[[], None] = lambda: None
        """Called when the board has ended."""
        self.on_fault: Callable[[Exception], None] = lambda fault: None
        """Called with an unexpected refusal or the end of the connection."""
        self._last_id = 0
        self._answers: dict[int, asyncio.Future[events.Event]] = {}
        self._nonce = secrets.token_bytes(16)
        self._revealing: asyncio.Future[events.Event] | None = None
        socket.on_message = self._receive
        socket.on_lost = self._lost

    def send(self, kind: type[commands.Command], **fields: object) -> int:
        """Send a command without waiting for the response; returns its size in bytes."""
        self._last_id += 1
        encoded = msgspec.msgpack.encode(kind(id=self._last_id, **fields))
        self.socket.send(encoded)
        return len(encoded)

    async def ask(self, kind: type[commands.Command], **fields: object) -> Any:
        """Send a command and wait for the response; raises `RuntimeError` if it is refused."""
        answer: asyncio.Future[events.Event] = asyncio.get_running_loop().create_future()
        self._answers[self._last_id + 1] = answer
        self.send(kind, **fields)
        event = await asyncio.wait_for(answer, ANSWERED_WITHIN)
        if isinstance(event, events.Refused):
            raise RuntimeError(f"a {kind.__name__} was refused: {event.code}, {event.message}")
        return event

    async def get_ready(self) -> None:
        """Send `ready` for the table's race."""
        assert self.table is not None
        hashed = hashlib.sha256(self._nonce).hexdigest()
        code, commitment = self.table.code, self.table.commitment
        await self.ask(commands.Ready, table=code, commitment=commitment, nonce_hash=hashed)

    def move(self) -> int:
        """Send the next move; returns its size in bytes, or 0 if the board is over."""
        board = self.board
        assert board is not None
        text = self._chosen(board.legal or []) if board.state == "racing" else None
        if text is None:
            self.on_over()
            return 0
        return self.send(commands.MakeMove, race=board.race, after=board.count, move=text)

    def _chosen(self, legal: list[str]) -> str | None:
        """Choose a move that banks a card, else any legal move, so that races last long."""
        if self.dawdles and random.random() < 0.8:
            legal = [move for move in legal if move in ("draw", "redeal")] or legal
        banking = [move for move in legal if move.endswith((">up", ">down"))]
        return (banking or [random.choice(legal)])[0] if legal else None

    def cash_out(self) -> None:
        """End the board; the response comes like that to a move."""
        assert self.board is not None
        self.send(commands.CashOut, race=self.board.race)

    def disconnect(self) -> None:
        self.socket.on_lost = lambda: None
        self.socket.close()

    def _receive(self, message: bytes) -> None:
        if message.startswith(_IS_MOVE, 1):
            self.board = DECODE_MOVED(message).board
            self.on_moved(len(message))
            return
        event = CODEC.decode_event(message)
        match event:
            case events.BoardChanged(entries=[]):
                self.board = DECODE_MOVED(message).board
                self.dealt.set_result(None)
            case events.BoardChanged():
                self.on_over()
            case events.TableChanged() | events.Snapshot():
                self._update_table(event.table)
            case _:
                pass
        waiter = self._answers.pop(event.re, None) if event.re is not None else None
        if waiter is not None:
            if not waiter.done():
                waiter.set_result(event)
        elif isinstance(event, events.Refused) and event.code in MOVE_ON:
            self.on_over()
        elif isinstance(event, events.Refused):
            self.on_fault(RuntimeError(f"a move was refused: {event.code}, {event.message}"))

    def _update_table(self, table: events.Table) -> None:
        self.table = table
        if table.phase == "countdown" and self._revealing is None:
            asking = self.ask(commands.Reveal, table=table.code, nonce=self._nonce.hex())
            self._revealing = asyncio.ensure_future(asking)
            # a lost connection is reported elsewhere
            self._revealing.add_done_callback(lambda shown: shown.cancelled() or shown.exception())

    def _lost(self) -> None:
        fault = ConnectionError("the server closed a racer's connection")
        for waiter in self._answers.values():
            if not waiter.done():
                waiter.set_exception(fault)
        self.on_fault(fault)


async def greeted(port: int, *, dawdles: bool = False) -> LeanRacer:
    """Connect a racer, under a new name."""
    racer = LeanRacer(await connect(port), dawdles=dawdles)
    name = "Racer " + "".join(random.choices("abcdefghkmnprstuwxyz", k=12))
    await racer.ask(commands.Hello, token=secrets.token_hex(32), name=name, legal=True)
    return racer


async def seated(port: int, game: str = GAME, *, dawdles: bool = False) -> list[LeanRacer]:
    """Connect four racers, seat them at a new table, and start the countdown."""
    racers = [await greeted(port, dawdles=dawdles) for _ in range(SEATS)]
    host, *others = racers
    opened = await host.ask(commands.CreateTable, game=game, cap=CAP, seats=SEATS)
    for racer in others:
        await racer.ask(commands.JoinTable, table=opened.table.code)
    for racer in racers:
        await racer.get_ready()
    await host.ask(commands.Start, table=opened.table.code)
    return racers


async def racing_tables(
    count: int,
    port: int,
    game: str = GAME,
    *,
    dawdles: bool = False,
) -> list[list[LeanRacer]]:
    """Start races at `count` tables of four."""
    tables: list[list[LeanRacer]] = []
    for first in range(0, count, AT_ONCE):
        some = range(first, min(count, first + AT_ONCE))
        seating = (seated(port, game, dawdles=dawdles) for _ in some)
        tables += await asyncio.gather(*seating)
    async with asyncio.timeout(ANSWERED_WITHIN):
        await asyncio.gather(*(racer.dealt for racers in tables for racer in racers))
    return tables
