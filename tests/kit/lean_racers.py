"""Racers that use little processor time, as load for benchmarks; the benchmark decides when they move.

They decode only those fields of a response to a move that the next move needs.
"""

import asyncio
import random
import secrets
import time
from collections.abc import Callable, Iterator, Sequence

import msgspec

from kit.lean_requests import ANSWERED_WITHIN, MOVE_ON, LeanRequests
from kit.lean_socket import LeanSocket, connect
from saratoga_protocol import commands, events
from saratoga_protocol.codec import CODECS, UnknownEvent
from saratoga_protocol.version import MSGPACK

CODEC = CODECS[MSGPACK]

SEATS = 4
CAP = 20
"""The time limit of a race in minutes, longer than any race of a benchmark."""

AT_ONCE = 16
"""The number of tables that are seated concurrently; more would only wait for one another."""

_IS_MOVE = b"\xa4type\xa9move_made"
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
        self.opening: events.BoardView | None = None
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
        self._requests = LeanRequests()
        self._requests.socket = socket
        self.ask = self._requests.ask
        self._is_over = False
        self._is_counting = False
        socket.on_message = self._receive
        socket.on_lost = self._lost

    # gathering

    async def hello(self, *, legal: bool) -> None:
        name = "Racer " + "".join(secrets.choice("abcdefghkmnprstuwxyz") for _ in range(12))
        answer = await self.ask(commands.Hello, token=secrets.token_hex(32), name=name, legal=legal)
        assert isinstance(answer, events.Welcome), answer

    async def get_ready(self) -> None:
        assert self.table is not None
        await self._requests.get_ready(self.table)

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
        return self._requests.send(commands.MakeMove, race=board.race, after=board.count, move=text)

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
            case events.MoveMade():
                self._moved(_board(event.board), len(message))
            case events.Dealt():
                self.opening, self.board = event.board, _board(event.board)
                self.dealt.set_result(None)
            case events.BoardEnded():
                self._end()
            case events.TableChanged():
                self._update_table(event.table)
            case UnknownEvent():
                pass
            case _:
                self._handle_other(event)

    def _moved(self, board: Board, size: int) -> None:
        wait = time.perf_counter() - self._asked
        self.board = board
        self.on_moved(size, wait)

    def _update_table(self, table: events.Table) -> None:
        self.table = table
        if table.phase == "countdown" and table.racers and not self._is_counting:
            self._is_counting = True
            self._requests.reveal(table)

    def _handle_other(self, event: events.AnyEvent) -> None:
        if isinstance(event, events.Snapshot):
            self._update_table(event.table)
        if self._requests.is_answer(event):
            return
        if isinstance(event, events.Refused) and event.code in MOVE_ON:
            self._end()
        elif isinstance(event, events.Refused):
            self.on_fault(RuntimeError(f"a move was refused: {event.code}, {event.message}"))

    def _lost(self) -> None:
        fault = ConnectionError("the server closed a racer's connection")
        self._requests.fail(fault)
        self.on_fault(fault)


def _board(view: events.BoardView) -> Board:
    return Board(view.race, view.count, view.state, view.legal)


def plausible(racer: LeanRacer) -> str | None:
    """Choose a move that banks a card, else any legal move, so that races last long; `None` if none is."""
    assert racer.board is not None
    legal = racer.board.legal
    if not legal:
        return None
    for move in legal:
        if move.endswith((">up", ">down")):
            return move
    return racer.chance.choice(legal)


def dawdling(racer: LeanRacer) -> str | None:
    """Choose to draw from the stock most of the time, so that races last much longer."""
    assert racer.board is not None
    legal = racer.board.legal
    if legal and racer.chance.random() < 0.8:
        for move in ("draw", "redeal"):
            if move in legal:
                return move
    return plausible(racer)


async def seated(
    ports: Sequence[int], game: str, choice: Choice, *, legal: bool
) -> list[LeanRacer]:
    """Connect four racers, one to each port, seat them at a new table, and start the countdown."""
    racers = [
        LeanRacer(await connect("127.0.0.1", port), secrets.randbits(32), choice) for port in ports
    ]
    for racer in racers:
        await racer.hello(legal=legal)
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
    *,
    legal: bool = True,
) -> list[list[LeanRacer]]:
    """Start races at `count` tables of four; `ports` maps a table's number to its ports."""
    tables: list[list[LeanRacer]] = []
    for some in _portions(range(count), AT_ONCE):
        tables += await asyncio.gather(
            *(seated(ports(number), game, choice, legal=legal) for number in some)
        )
    async with asyncio.timeout(ANSWERED_WITHIN):
        await asyncio.gather(*(racer.dealt for racers in tables for racer in racers))
    return tables


def _portions(numbers: range, size: int) -> Iterator[range]:
    for first in range(0, len(numbers), size):
        yield numbers[first : first + size]
