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
import time
from collections.abc import Callable, Sequence
from typing import cast

import msgspec

from kit.raw_client import BINARY, PING, PONG, frame, handshake
from saratoga_protocol import commands, events
from saratoga_protocol.codec import CODECS, MSGPACK


class LeanSocket(asyncio.Protocol):
    """A client connection that passes every binary message to `on_message`."""

    def __init__(self) -> None:
        self.on_message: Callable[[bytes], None] = lambda message: None
        self.on_lost: Callable[[], None] = lambda: None
        """Called when the connection has ended."""
        self.opened: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.received = 0
        """The number of bytes received."""
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
        self.received += len(data)
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


async def connect(host: str, port: int) -> LeanSocket:
    """Open a connection. Raise `ConnectionError` if the server refuses."""
    loop = asyncio.get_running_loop()
    _, socket = await loop.create_connection(LeanSocket, host, port)
    await socket.opened
    return socket


ANSWERED_WITHIN = 60.0
"""Longest time in seconds to wait for a response; a bound, not a measurement."""

MOVE_ON = frozenset({"board_over", "race_over", "not_racing", "no_such_race", "wrong_phase"})
"""Codes of refusals of a move that arrived after its board had ended."""

_ENCODE = msgspec.msgpack.Encoder().encode

CODEC = CODECS[MSGPACK]

SEATS = 4
CAP = 20
"""The time limit of a race in minutes, longer than any race of a benchmark."""

AT_ONCE = 16
"""The number of tables that are seated concurrently; more would only wait for one another."""

_IS_MOVE = b"\xa4type\xa5board\xa2re"
"""The first bytes of the response to a move, after the byte that counts its fields."""

Choice = Callable[["LeanRacer"], str | None]
"""A function that returns the next move of a racer; `None` if there is none."""


class Board(msgspec.Struct):
    """The fields of a board that the next move needs."""

    race: str
    count: int
    state: str
    legal: list[str] | None = None


class Moved(msgspec.Struct):
    """The fields of the response to a move that the next move needs."""

    board: Board


DECODE_MOVED = msgspec.msgpack.Decoder(Moved).decode


class LeanRacer:
    """A racer with one connection; every call of `move` sends one move."""

    def __init__(self, socket: LeanSocket, seed: int, choice: Choice) -> None:
        self.socket = socket
        self.chance = random.Random(seed)
        self.board: Board | None = None
        self.table: events.Table | None = None
        self.dealt: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.on_moved: Callable[[int, float], None] = lambda size, wait: None
        """Called at each response to a move, with its size in bytes and its latency in seconds."""
        self.on_over: Callable[[], None] = lambda: None
        """Called once when the board has ended."""
        self.on_fault: Callable[[Exception], None] = lambda fault: None
        """Called with an unexpected refusal or the end of the connection."""
        self._choice = choice
        self._asked = 0.0
        self._last_id = 0
        self._answers: dict[int, asyncio.Future[events.Event]] = {}
        self._nonce = b""
        self._revealing: asyncio.Future[events.Event] | None = None
        self._is_over = False
        socket.on_message = self._receive
        socket.on_lost = self._lost

    def send(self, kind: type[commands.Command], **fields: object) -> int:
        """Send a command without waiting for the response; returns its size in bytes."""
        self._last_id += 1
        encoded = _ENCODE(kind(id=self._last_id, **fields))
        self.socket.send(encoded)
        return len(encoded)

    async def ask(self, kind: type[commands.Command], **fields: object) -> events.Event:
        """Send a command and wait for the response."""
        answer: asyncio.Future[events.Event] = asyncio.get_running_loop().create_future()
        self._answers[self._last_id + 1] = answer
        self.send(kind, **fields)
        return await asyncio.wait_for(answer, ANSWERED_WITHIN)

    # gathering

    async def hello(self, *, legal: bool) -> None:
        name = "Racer " + "".join(secrets.choice("abcdefghkmnprstuwxyz") for _ in range(12))
        answer = await self.ask(commands.Hello, token=secrets.token_hex(32), name=name, legal=legal)
        assert isinstance(answer, events.Welcome), answer

    async def get_ready(self) -> None:
        """Send `ready` for the table's race, with a new nonce."""
        assert self.table is not None
        self._nonce = secrets.token_bytes(16)
        done = await self.ask(
            commands.Ready,
            table=self.table.code,
            commitment=self.table.commitment,
            nonce_hash=hashlib.sha256(self._nonce).hexdigest(),
        )
        assert isinstance(done, events.Done), done

    # racing

    def move(self) -> int:
        """Send the next move; returns its size in bytes, or 0 if the board is over."""
        board = self.board
        if self._is_over or board is None:
            return 0
        text = self._choice(self) if board.state == "racing" else None
        if text is None:
            self._end()
            return 0
        self._asked = time.perf_counter()
        return self.send(commands.MakeMove, race=board.race, after=board.count, move=text)

    def cash_out(self) -> None:
        """End the board; the response comes like that to a move."""
        assert self.board is not None
        self._asked = time.perf_counter()
        self.send(commands.CashOut, race=self.board.race)

    def disconnect(self) -> None:
        """Close the connection."""
        self.socket.on_lost = lambda: None
        self.socket.close()

    def _end(self) -> None:
        if not self._is_over:
            self._is_over = True
            self.on_over()

    # Received events

    def _receive(self, message: bytes) -> None:
        if message.startswith(_IS_MOVE, 1):
            self._moved(DECODE_MOVED(message).board, len(message))
            return
        event = CODEC.decode_event(message)
        match event:
            case events.BoardChanged(re=int()):
                self._moved(_board(event.board), len(message))
            case events.BoardChanged(entries=[]):
                self.board = _board(event.board)
                self.dealt.set_result(None)
            case events.BoardChanged():
                self._end()
            case events.TableChanged():
                self._update_table(event.table)
            case _:
                self._handle_other(event)

    def _moved(self, board: Board, size: int) -> None:
        wait = time.perf_counter() - self._asked
        self.board = board
        self.on_moved(size, wait)

    def _update_table(self, table: events.Table) -> None:
        self.table = table
        if table.phase == "countdown" and self._revealing is None:
            nonce = self._nonce.hex()
            asking = self.ask(commands.Reveal, table=table.code, nonce=nonce)
            self._revealing = asyncio.ensure_future(asking)
            # a lost connection is reported elsewhere
            self._revealing.add_done_callback(lambda shown: shown.cancelled() or shown.exception())

    def _handle_other(self, event: events.Event) -> None:
        if isinstance(event, events.Snapshot):
            self._update_table(event.table)
        waiter = self._answers.pop(event.re, None) if event.re is not None else None
        if waiter is not None:
            if not waiter.done():
                waiter.set_result(event)
        elif isinstance(event, events.Refused) and event.code in MOVE_ON:
            self._end()
        elif isinstance(event, events.Refused):
            self.on_fault(RuntimeError(f"a move was refused: {event.code}, {event.message}"))

    def _lost(self) -> None:
        fault = ConnectionError("the server closed a racer's connection")
        for waiter in self._answers.values():
            if not waiter.done():
                waiter.set_exception(fault)
        self.on_fault(fault)


def _board(view: events.BoardView) -> Board:
    return Board(view.race, view.count, view.state, view.legal)


def plausible(racer: LeanRacer) -> str | None:
    """Choose a move that banks a card, else any legal move, so that races last long; `None` if none is."""
    assert racer.board is not None
    legal = racer.board.legal
    banking = [move for move in legal or () if move.endswith((">up", ">down"))]
    return (banking or [racer.chance.choice(legal)])[0] if legal else None


def dawdling(racer: LeanRacer) -> str | None:
    """Choose to draw from the stock most of the time, so that races last much longer."""
    assert racer.board is not None
    legal = racer.board.legal
    if legal and racer.chance.random() < 0.8:
        for move in ("draw", "redeal"):
            if move in legal:
                return move
    return plausible(racer)


async def seated(ports: Sequence[int], game: str, choice: Choice) -> list[LeanRacer]:
    """Connect four racers, one to each port, seat them at a new table, and start the countdown."""
    racers = [
        LeanRacer(await connect("127.0.0.1", port), secrets.randbits(32), choice) for port in ports
    ]
    for racer in racers:
        await racer.hello(legal=True)
    host, *others = racers
    opened = await host.ask(commands.CreateTable, game=game, cap=CAP, seats=SEATS)
    assert isinstance(opened, events.Snapshot), opened
    for racer in others:
        joined = await racer.ask(commands.JoinTable, table=opened.table.code)
        assert isinstance(joined, events.Snapshot), joined
    for racer in racers:
        await racer.get_ready()
    started = await host.ask(commands.Start, table=opened.table.code)
    assert isinstance(started, events.Done), started
    return racers


async def racing_tables(
    count: int,
    ports: Callable[[int], Sequence[int]],
    game: str,
    choice: Choice = plausible,
) -> list[list[LeanRacer]]:
    """Start races at `count` tables of four; `ports` maps a table's number to its ports."""
    tables: list[list[LeanRacer]] = []
    for first in range(0, count, AT_ONCE):
        some = range(first, min(count, first + AT_ONCE))
        tables += await asyncio.gather(*(seated(ports(number), game, choice) for number in some))
    async with asyncio.timeout(ANSWERED_WITHIN):
        await asyncio.gather(*(racer.dealt for racers in tables for racer in racers))
    return tables
