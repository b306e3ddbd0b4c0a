"""Players at a house, with everything they were sent: the same words in memory and over sockets.

A `Guest` says commands and keeps every frame. In memory it holds a `Session` of its own, whose line
writes down what the house sends; nothing is awaited but the house itself.
"""

import asyncio
import hashlib
from dataclasses import dataclass, field
from typing import Any, TypeVar, cast

from msgspec import structs

from kit.tables import nonce, nonce_hash
from saratoga_protocol.codec import CODECS, Codec
from saratoga_protocol.commands import AnyCommand, CashOut, Hello, MakeMove, Ready, Reveal
from saratoga_protocol.events import (
    AnyEvent,
    BoardView,
    MoveMade,
    Refused,
    Snapshot,
    Table,
    TableChanged,
    Welcome,
)
from saratoga_protocol.refusals import CloseCode
from saratoga_protocol.version import MSGPACK
from saratoga_server.live.session import Session
from saratoga_server.transport.commands import Commands

HEARD_WITHIN = 20.0
"""Seconds: a bound for what is awaited, never a measure."""

E = TypeVar("E")


def token_of(name: str) -> str:
    """The token that the player of that name always has."""
    return hashlib.sha256(f"token of {name}".encode()).hexdigest()


class SentAway(Exception):
    """The house closed the connection, and nothing more will be heard."""

    def __init__(self, code: int, reason: str) -> None:
        super().__init__(code, reason)
        self.code = code


class Heard:
    """Everything that one connection was sent, frame by frame."""

    def __init__(self, codec: Codec) -> None:
        self.codec = codec
        self.frames: list[bytes | str] = []
        self.events: list[AnyEvent] = []
        self._more = asyncio.Event()
        self._end: SentAway | None = None

    def add(self, frame: bytes | str) -> None:
        self.frames.append(frame)
        self.events.append(cast(AnyEvent, self.codec.decode_event(frame)))
        self._tell()

    def end(self, how: SentAway) -> None:
        """Nothing comes any more: whoever waits for something is told."""
        self._end = how
        self._tell()

    def _tell(self) -> None:
        more, self._more = self._more, asyncio.Event()
        more.set()

    def all(self, kind: type[E], since: int = 0) -> list[E]:
        """Every event of that kind, from the `since`-th event on."""
        return [event for event in self.events[since:] if isinstance(event, kind)]

    async def next(self, kind: type[E], since: int, **wanted: object) -> E:
        """The first event of that kind with these fields, from the `since`-th event on.

        Raises `SentAway` if the connection ends without it.
        """
        async with asyncio.timeout(HEARD_WITHIN):
            while True:
                for event in self.all(kind, since):
                    if all(getattr(event, name) == value for name, value in wanted.items()):
                        return event
                if self._end is not None:
                    raise self._end
                since = len(self.events)
                await self._more.wait()


@dataclass
class RecordingLine:
    """A line that writes down what goes over it."""

    heard: Heard
    closed: list[CloseCode] = field(default_factory=list)
    is_open: bool = True

    def send(self, frame: bytes | str) -> None:
        self.heard.add(frame)

    def close(self, code: CloseCode) -> None:
        self.closed.append(code)

    leave = close


class Guest:
    """Somebody who says commands; `_exchange` is how they reach the house."""

    def __init__(self, name: str, heard: Heard, *, bot: bool = False, legal: bool = False) -> None:
        self.name = name
        self.token = token_of(name)
        self.heard = heard
        self.bot = bot
        self.legal = legal
        self.player = ""
        self.last_id = 0

    async def _exchange(self, command: AnyCommand) -> AnyEvent:
        raise AssertionError("said by the kinds of guests")

    async def say(self, command: AnyCommand) -> AnyEvent:
        """Say exactly this; returns the answer."""
        self.last_id = max(self.last_id, command.id)
        return await self._exchange(command)

    async def ask(self, kind: type[Any], **fields: object) -> Any:
        """Say something new; returns the answer."""
        self.last_id += 1
        return await self._exchange(kind(id=self.last_id, **fields))

    async def refused(self, kind: type[Any], **fields: object) -> str:
        """Say something that must be refused; returns the code."""
        answer = await self.ask(kind, **fields)
        assert isinstance(answer, Refused), answer
        assert answer.re == self.last_id
        assert answer.message.endswith(".")
        return answer.code

    async def hello(self, *, name: str | None = None) -> Welcome:
        """Come in under one's name."""
        welcome = await self.ask(
            Hello,
            token=self.token,
            name=self.name if name is None else name,
            bot=self.bot,
            legal=self.legal,
        )
        assert isinstance(welcome, Welcome), welcome
        self.player = welcome.player
        self.last_id = max(self.last_id, welcome.next_id - 1)
        return welcome

    async def at_table(self, kind: type[Any], **fields: object) -> Snapshot:
        """Open, join, resume or watch a table."""
        snapshot = await self.ask(kind, **fields)
        assert isinstance(snapshot, Snapshot), snapshot
        self.last_id = max(self.last_id, snapshot.next_id - 1)
        return snapshot

    # What this guest knows from what it was sent

    @property
    def table(self) -> Table:
        """The newest picture of the table."""
        told = [e for e in self.heard.events if isinstance(e, Snapshot | TableChanged)]
        return told[-1].table

    @property
    def board(self) -> BoardView:
        """The newest picture of one's own board."""
        boards = [getattr(event, "board", None) for event in self.heard.events]
        return cast(BoardView, [board for board in boards if board is not None][-1])

    # What racers say

    async def ready(self) -> AnyEvent:
        table = self.table
        return cast(
            AnyEvent,
            await self.ask(
                Ready,
                table=table.code,
                commitment=table.commitment,
                nonce_hash=nonce_hash(self.player),
            ),
        )

    async def reveal(self) -> AnyEvent:
        answer = await self.ask(Reveal, table=self.table.code, nonce=nonce(self.player))
        return cast(AnyEvent, answer)

    async def move(self, text: str, **fields: object) -> AnyEvent:
        """Make a move after those one knows of."""
        board = self.board
        given = {"race": board.race, "after": board.count, "move": text} | fields
        return cast(AnyEvent, await self.ask(MakeMove, **given))

    async def moves(self, *texts: str) -> MoveMade:
        """Make moves that must be legal; returns the last answer."""
        made: list[MoveMade] = []
        for text in texts:
            answer = await self.move(text)
            assert isinstance(answer, MoveMade), answer
            made.append(answer)
        return made[-1]

    async def cash_out(self) -> MoveMade:
        answer = await self.ask(CashOut, race=self.board.race)
        assert isinstance(answer, MoveMade), answer
        return answer


class GuestInMemory(Guest):
    """A guest without a socket: its commands are handed to the house by the test's own task."""

    def __init__(
        self,
        house: Commands,
        name: str,
        *,
        bot: bool = False,
        legal: bool = False,
        subprotocol: str = MSGPACK,
    ) -> None:
        super().__init__(name, Heard(CODECS[subprotocol]), bot=bot, legal=legal)
        self.house = house
        self.line = RecordingLine(self.heard)
        self.session = Session(connection=self.line, codec=self.heard.codec, address="-", number=1)
        house.connected(self.session)

    async def _exchange(self, command: AnyCommand) -> AnyEvent:
        # through both codecs, as over a socket
        read = self.heard.codec.decode_command(self.heard.codec.encode_command(command))
        answer = await self.house.answer(self.session, read)
        self.session.tell(answer)
        return answer

    async def hang_up(self) -> None:
        """The connection is lost."""
        await self.house.disconnected(self.session)

    @property
    def sent_away(self) -> list[int]:
        """The codes with which the house closed the connection."""
        return [code.code for code in self.line.closed]


def plain(event: Any) -> dict[str, Any]:
    """An event without what differs from connection to connection."""
    return {name: value for name, value in structs.asdict(event).items() if name != "re"}
