"""Players that move at a steady pace on cheap sockets, as load that lasts for hours.

Four players visit a server again and again: they connect, open a table, race a few times, and
disconnect. So connections, tables and races come and go as on a server in use.
"""

import asyncio
import random
import secrets
import time
from array import array
from dataclasses import dataclass, field

from kit.lean_racers import (
    ANSWERED_WITHIN,
    MOVE_ON,
    REPEATED_AFTER,
    LeanRequests,
    connect,
    is_unavailable,
)
from saratoga_protocol import commands, events
from saratoga_protocol.codec import CODECS, MSGPACK

CODEC = CODECS[MSGPACK]

SEATS = 4
CAP = 20
"""The time limit of a race in minutes; no race lasts so long."""

RACES = (1, 3)
"""The fewest and the most races of a visit."""

MOVES = (120, 260)
"""The fewest and the most moves after which a player cashes out."""

AWAY = (0.5, 5.0)
"""The shortest and the longest time in seconds between two visits of the same players."""


@dataclass
class Load:
    """The pace of the players, and counts of what they did."""

    pace: float
    """Moves a second that each player makes."""
    moments: "array[float]" = field(default_factory=lambda: array("d"))
    """Times of the acknowledgements of all moves, by `time.perf_counter()`."""
    waits: "array[float]" = field(default_factory=lambda: array("f"))
    """Seconds from each move to its acknowledgement."""
    races: int = 0
    visits: int = 0
    repeats: int = 0
    """Commands repeated because the server could not reach its store."""
    late: int = 0
    """Moves sent later than planned by more than one pause: the load cannot keep its pace."""
    is_over: bool = False

    def acknowledged(self, wait: float, now: float) -> None:
        self.moments.append(now)
        self.waits.append(wait)


class PacedPlayer:
    """A player that keeps one token and opens a new connection for each visit."""

    def __init__(self, load: Load, chance: random.Random) -> None:
        self.table: events.Table | None = None
        self.changed = asyncio.Event()
        self._load = load
        self._chance = chance
        self._token = secrets.token_hex(32)
        self._name = "Racer " + "".join(chance.choices("abcdefghkmnprstuwxyz", k=12))
        self._requests = LeanRequests()
        self._requests.on_unavailable = self._count_repeat
        self.ask = self._requests.ask
        self._board: events.BoardView | None = None
        self._left = 0
        self._sent = 0.0
        self._due = 0.0
        self._ended: asyncio.Future[None] | None = None

    # Connection

    async def sign_in(self, port: int) -> None:
        """Connect and say hello; repeat if the server closes the connection before it answers."""
        async with asyncio.timeout(ANSWERED_WITHIN):
            welcome = await self._say_hello(port)
            while welcome is None:
                self._count_repeat()
                await asyncio.sleep(REPEATED_AFTER)
                welcome = await self._say_hello(port)
        assert isinstance(welcome, events.Welcome), welcome
        self._requests.last_id = max(self._requests.last_id, welcome.next_id)

    async def _say_hello(self, port: int) -> events.Event | None:
        """Return the response to a hello; `None` if the server has closed the connection."""
        socket = self._requests.socket = await connect("127.0.0.1", port)
        socket.on_message = self._receive
        socket.on_lost = lambda: self._requests.fail(
            ConnectionError("the server closed the connection")
        )
        self.table = self._board = None
        try:
            return await self.ask(commands.Hello, token=self._token, name=self._name, legal=True)
        except ConnectionError:
            return None

    def _count_repeat(self) -> None:
        self._load.repeats += 1

    def disconnect(self) -> None:
        assert self._requests.socket is not None
        self._requests.socket.close()
        self._requests.socket = None

    async def until_phase(self, *phases: str) -> events.Table:
        """Wait until the table is in one of these phases."""
        async with asyncio.timeout(ANSWERED_WITHIN * 20):
            while self.table is None or self.table.phase not in phases:
                self.changed.clear()
                await self.changed.wait()
        return self.table

    async def get_ready(self) -> None:
        assert self.table is not None
        await self._requests.get_ready(self.table)
        self._ended = asyncio.get_running_loop().create_future()

    async def board_ended(self) -> None:
        """Wait until this player's board has ended."""
        assert self._ended is not None
        async with asyncio.timeout(ANSWERED_WITHIN * 20):
            await self._ended

    # Racing

    def _begin(self, board: events.BoardView) -> None:
        self._board = board
        self._left = self._chance.randint(*MOVES)
        self._due = time.perf_counter() + self._pause() * self._chance.random()
        self._wait_and_move()

    def _pause(self) -> float:
        return 1 / self._load.pace

    def _wait_and_move(self) -> None:
        wait = self._due - time.perf_counter()
        if wait > 0:
            asyncio.get_running_loop().call_later(wait, self._move)
        else:
            self._load.late += -wait > self._pause()
            self._move()

    def _move(self) -> None:
        board = self._board
        if self._requests.socket is None or board is None or board.state != "racing":
            self._end()
            return
        self._sent = time.perf_counter()
        self._due = max(self._due, self._sent - self._pause()) + self._pause() * (
            0.5 + self._chance.random()
        )
        self._left -= 1
        if self._left <= 0 or not board.legal:
            self._requests.send(commands.CashOut, race=board.race)
            return
        move = self._choice(board.legal)
        self._requests.send(commands.MakeMove, race=board.race, after=board.count, move=move)

    def _choice(self, legal: list[str]) -> str:
        """Choose a move that banks a card, else any legal move, so that a race lasts long."""
        for move in legal:
            if move.endswith((">up", ">down")):
                return move
        return self._chance.choice(legal)

    def _end(self) -> None:
        if self._ended is not None and not self._ended.done():
            self._ended.set_result(None)

    # Received events

    def _receive(self, message: bytes) -> None:
        event = CODEC.decode_event(message)
        match event:
            case events.BoardChanged(re=int()):
                now = time.perf_counter()
                self._load.acknowledged(now - self._sent, now)
                self._board = event.board
                if event.board.state == "racing":
                    self._wait_and_move()
                else:
                    self._end()
            case events.BoardChanged(entries=[]):
                self._begin(event.board)
            case events.BoardChanged():
                self._board = event.board
                self._end()
            case events.TableChanged():
                self._update_table(event.table)
            case _:
                self._handle_other(event)

    def _handle_other(self, event: events.Event) -> None:
        if isinstance(event, events.Snapshot):
            self._update_table(event.table)
        if self._requests.is_answer(event) or not isinstance(event, events.Refused):
            return
        if is_unavailable(event):
            assert event.re is not None
            self._requests.repeat_newest(event.re)
        else:
            # the server ended the board before the move arrived
            assert event.code in MOVE_ON, event
            self._end()

    def _update_table(self, table: events.Table) -> None:
        before, self.table = self.table, table
        was_counting = before is not None and before.phase == "countdown"
        if table.phase == "countdown" and not was_counting:
            self._requests.reveal(table)
        self.changed.set()


async def race_repeatedly(load: Load, port: int, game: str, number: int) -> None:
    """Let four players visit the server again and again until the load is over; `number` is the seed."""
    chance = random.Random(number)
    players = [PacedPlayer(load, chance) for _ in range(SEATS)]
    while not load.is_over:
        for player in players:
            await player.sign_in(port)
        await _race_once(load, players, game, chance.randint(*RACES))
        for player in players:
            player.disconnect()
        load.visits += 1
        await asyncio.sleep(chance.uniform(*AWAY))


async def _race_once(load: Load, players: list[PacedPlayer], game: str, races: int) -> None:
    host, *others = players
    opened = await host.ask(commands.CreateTable, game=game, cap=CAP, seats=SEATS)
    assert isinstance(opened, events.Snapshot), opened
    code = opened.table.code
    for player in others:
        await player.ask(commands.JoinTable, table=code)
    for race in range(races):
        for player in players:
            await player.until_phase("gathering")
            await player.get_ready()
        started = await host.ask(commands.Start, table=code)
        assert isinstance(started, events.Done), started
        await asyncio.gather(*(player.board_ended() for player in players))
        await host.until_phase("over")
        load.races += 1
        if race + 1 < races and not load.is_over:
            await host.ask(commands.NextRace, table=code)
    for player in players:
        await player.ask(commands.LeaveTable, table=code)
