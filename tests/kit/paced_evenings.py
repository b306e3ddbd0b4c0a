"""Evenings of players who keep a pace, on sockets that cost little: load for hours, not for a moment.

A table of four races some races and goes home; the same four come again a little later, and open
another table. So connections, tables and races come and go as they do at a real house.
"""

import asyncio
import random
import secrets
import time
from array import array
from collections.abc import Callable
from dataclasses import dataclass, field

from kit.lean_socket import connect
from kit.lean_talk import AGAIN_AFTER, ANSWERED_WITHIN, MOVE_ON, LeanTalk, is_away
from saratoga_protocol import commands as said
from saratoga_protocol import events
from saratoga_protocol.codec import CODECS, UnknownEvent
from saratoga_protocol.version import MSGPACK

CODEC = CODECS[MSGPACK]

SEATS = 4
CAP = 20
"""Minutes; no race lasts so long."""

RACES = (1, 3)
"""Of an evening, at least and at most."""

MOVES = (120, 260)
"""After which a player cashes out."""

AWAY = (0.5, 5.0)
"""Seconds between two evenings of the same four."""


@dataclass
class Load:
    """What was asked for, and what came of it."""

    pace: float
    """Moves a second of every player."""
    moments: "array[float]" = field(default_factory=lambda: array("d"))
    """When each move was acknowledged, by `time.perf_counter()`."""
    waits: "array[float]" = field(default_factory=lambda: array("f"))
    """Seconds from each move to its acknowledgement."""
    races: int = 0
    evenings: int = 0
    again: int = 0
    """Commands that were said again because the store was away."""
    late: int = 0
    """Moves sent later than their time by more than a whole pause: the load cannot keep its pace."""
    is_over: bool = False

    def acknowledged(self, wait: float, now: float) -> None:
        self.moments.append(now)
        self.waits.append(wait)


class PacedPlayer:
    """One player, with a token for good and a connection for an evening."""

    def __init__(self, load: Load, chance: random.Random) -> None:
        self.table: events.Table | None = None
        self.news = asyncio.Event()
        self._load = load
        self._chance = chance
        self._token = secrets.token_hex(32)
        self._name = "Racer " + "".join(chance.choices("abcdefghkmnprstuwxyz", k=12))
        self._talk = LeanTalk()
        self._talk.on_away = self._away
        self.ask = self._talk.ask
        self._board: events.BoardView | None = None
        self._left = 0
        self._sent = 0.0
        self._due = 0.0
        self._raced: asyncio.Future[None] | None = None

    # Coming and going

    async def arrive(self, port: int) -> None:
        """Connect and say hello; anew if the house is so slow that it takes us for silent."""
        async with asyncio.timeout(ANSWERED_WITHIN):
            welcome = await self._welcomed(port)
            while welcome is None:
                self._away()
                await asyncio.sleep(AGAIN_AFTER)
                welcome = await self._welcomed(port)
        assert isinstance(welcome, events.Welcome), welcome
        self._talk.last_id = max(self._talk.last_id, welcome.next_id)

    async def _welcomed(self, port: int) -> events.AnyEvent | None:
        """The answer to a hello; `None` if the house has closed the connection."""
        socket = self._talk.socket = await connect("127.0.0.1", port)
        socket.on_message = self._hear
        socket.on_lost = lambda: self._talk.fail(ConnectionError("the house closed it"))
        self.table = self._board = None
        try:
            return await self.ask(said.Hello, token=self._token, name=self._name, legal=True)
        except ConnectionError:
            return None

    def _away(self) -> None:
        self._load.again += 1

    def go(self) -> None:
        assert self._talk.socket is not None
        self._talk.socket.close()
        self._talk.socket = None

    async def until_phase(self, *phases: str) -> events.Table:
        """Wait until the table is in one of these phases."""
        async with asyncio.timeout(ANSWERED_WITHIN * 20):
            while self.table is None or self.table.phase not in phases:
                self.news.clear()
                await self.news.wait()
        return self.table

    async def get_ready(self) -> None:
        assert self.table is not None
        await self._talk.get_ready(self.table)
        self._raced = asyncio.get_running_loop().create_future()

    async def raced(self) -> None:
        """Wait until this player's board has ended."""
        assert self._raced is not None
        async with asyncio.timeout(ANSWERED_WITHIN * 20):
            await self._raced

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
        if self._talk.socket is None or board is None or board.state != "racing":
            self._end()
            return
        self._sent = time.perf_counter()
        self._due = max(self._due, self._sent - self._pause()) + self._pause() * (
            0.5 + self._chance.random()
        )
        self._left -= 1
        if self._left <= 0 or not board.legal:
            self._talk.send(said.CashOut, race=board.race)
            return
        move = self._choice(board.legal)
        self._talk.send(said.MakeMove, race=board.race, after=board.count, move=move)

    def _choice(self, legal: list[str]) -> str:
        """Mostly draw, so that a race lasts; bank what comes by."""
        for move in legal:
            if move.endswith((">up", ">down")):
                return move
        return self._chance.choice(legal)

    def _end(self) -> None:
        if self._raced is not None and not self._raced.done():
            self._raced.set_result(None)

    # Hearing

    def _hear(self, message: bytes) -> None:
        event = CODEC.decode_event(message)
        match event:
            case events.MoveMade():
                now = time.perf_counter()
                self._load.acknowledged(now - self._sent, now)
                self._board = event.board
                if event.board.state == "racing":
                    self._wait_and_move()
                else:
                    self._end()
            case events.Dealt():
                self._begin(event.board)
            case events.BoardEnded():
                self._board = event.board
                self._end()
            case events.TableChanged():
                self._see(event.table)
            case UnknownEvent():
                pass
            case _:
                self._answer(event)

    def _answer(self, event: events.AnyEvent) -> None:
        if isinstance(event, events.Snapshot):
            self._see(event.table)
        if self._talk.is_answer(event) or not isinstance(event, events.Refused):
            return
        if is_away(event):
            assert event.re is not None
            self._talk.say_again(event.re)
        else:
            # a board that the house ended while a move was on its way
            assert event.code in MOVE_ON, event
            self._end()

    def _see(self, table: events.Table) -> None:
        before, self.table = self.table, table
        was_counting = before is not None and before.phase == "countdown"
        if table.phase == "countdown" and not was_counting:
            self._talk.reveal(table)
        self.news.set()


async def evenings(
    load: Load, port: int, game: str, number: int, on_race: Callable[[], None] = lambda: None
) -> None:
    """Four players who meet again and again, until the load is over."""
    chance = random.Random(number)
    players = [PacedPlayer(load, chance) for _ in range(SEATS)]
    while not load.is_over:
        for player in players:
            await player.arrive(port)
        await _evening(load, players, game, chance.randint(*RACES), on_race)
        for player in players:
            player.go()
        load.evenings += 1
        await asyncio.sleep(chance.uniform(*AWAY))


async def _evening(
    load: Load, players: list[PacedPlayer], game: str, races: int, on_race: Callable[[], None]
) -> None:
    host, *others = players
    opened = await host.ask(said.CreateTable, game=game, cap=CAP, seats=SEATS)
    assert isinstance(opened, events.Snapshot), opened
    code = opened.table.code
    for player in others:
        await player.ask(said.JoinTable, table=code)
    for race in range(races):
        for player in players:
            await player.until_phase("gathering")
            await player.get_ready()
        started = await host.ask(said.Start, table=code)
        assert isinstance(started, events.Done), started
        on_race()
        await asyncio.gather(*(player.raced() for player in players))
        await host.until_phase("over")
        load.races += 1
        if race + 1 < races and not load.is_over:
            await host.ask(said.NextRace, table=code)
    for player in players:
        await player.ask(said.LeaveTable, table=code)
