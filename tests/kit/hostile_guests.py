"""Guests who mean no good, over real sockets: each says what chance tells them, and checks every answer.

A `HostileGuest` comes in like anybody, sits down, races, watches, and in between sends frames that are
spoilt, repeated, out of order, or another session's. The house takes a connection's commands one
after another, and every frame gets exactly one answer: so behind every batch goes a heartbeat, and
when it is answered the answers before it are counted.
"""

import asyncio
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from random import Random
from typing import Any, Final, cast, get_args

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed
from websockets.typing import Subprotocol

from kit.decoding import TRACE
from kit.mutations import Spoiler
from kit.tables import nonce, nonce_hash
from saratoga_protocol import commands
from saratoga_protocol.codec import CODECS, Codec, Frame
from saratoga_protocol.commands import AnyCommand
from saratoga_protocol.events import AnyEvent, Refused, Snapshot, TableChanged, Welcome
from saratoga_protocol.refusals import REASONS
from saratoga_protocol.version import SUBPROTOCOLS
from saratoga_rules.games import GAMES

BOUND: Final = 60.0
"""Seconds: a bound for what is awaited, never a measure."""

MARKS: Final = 9_007_000_000_000_000
"""Ids of the heartbeats behind batches begin here; those of other commands end before."""

BATCH: Final = 25
"""Frames between two heartbeats."""

DOCUMENTED_CLOSES: Final = frozenset(
    {1000, 1002, 1003, 1007, 1009, 4000, 4001, 4500, 4501, 4502, 4503, 4504}
)
"""Codes with which the house may end a connection (protocol/README.md); 1011 is a fault of its own."""

EVENTS: Final = get_args(AnyEvent)


@dataclass
class Tally:
    """What was sent, and what came of it."""

    frames: int = 0
    answers: Counter[str] = field(default_factory=Counter)
    closes: Counter[int] = field(default_factory=Counter)
    connections: int = 0


@dataclass
class Known:
    """What all hostile guests have heard, and share: codes, races, commitments, players, frames."""

    codes: list[str] = field(default_factory=lambda: ["mint-otter-42"])
    races: list[str] = field(default_factory=lambda: ["mint-otter-42/1"])
    commitments: list[str] = field(default_factory=lambda: ["c0" * 32])
    players: list[str] = field(default_factory=lambda: ["abcdefghijklmnop"])
    frames: list[Frame] = field(default_factory=list)
    """Sent before by somebody: to be sent again by somebody else."""

    def hear(self, event: AnyEvent) -> None:
        if isinstance(event, Snapshot | TableChanged):
            table = event.table
            _keep(self.codes, table.code)
            _keep(self.races, table.race)
            _keep(self.commitments, table.commitment)
            for seat in table.seats:
                _keep(self.players, seat.player)


def _keep(known: list[Any], new: Any) -> None:
    if new not in known[-8:]:
        known.append(new)
        del known[:-40]


class HostileGuest:
    """One connection after another, for as many frames as wanted."""

    def __init__(self, url: str, known: Known, tally: Tally, chance: Random) -> None:
        self._url = url
        self._name = f"M{chance.randrange(10**9)}"
        self._known = known
        self._tally = tally
        self._chance = chance
        self._token = chance.randbytes(32).hex()
        self._player = "a" * 16
        self._next_id = 1
        self._count = 0
        self._race = "mint-otter-42/1"
        self._legal: list[str] = ["draw"]
        self._table = ""
        self._commitment = ""

    async def send(self, frames: int, goes_on: Callable[[], bool]) -> None:
        """Send so many frames, over as many connections as it takes, and more while it `goes_on`."""
        sent = 0
        while sent < frames or goes_on():
            sent += await self._connection(self._chance.choice((20, 200, 1500)))

    async def _connection(self, frames: int) -> int:
        """One connection; returns how many frames it took."""
        subprotocol = self._chance.choice(SUBPROTOCOLS)
        self._tally.connections += 1
        async with connect(
            self._url,
            subprotocols=[Subprotocol(subprotocol)],
            compression=None,
            max_size=4 * 1024 * 1024,
            ping_interval=None,
            open_timeout=BOUND,
            close_timeout=BOUND,
        ) as socket:
            talk = _Talk(socket, subprotocol, self._hear)
            sent = 0
            try:
                if self._chance.random() < 0.9:
                    await talk.exchange([self._hello(subprotocol)])
                    await self._sit_down(talk, CODECS[subprotocol])
                while sent < frames:
                    batch = [self._frame(subprotocol) for _ in range(BATCH)]
                    sent += len(batch)
                    await talk.exchange(batch)
                if self._chance.random() < 0.05:
                    # longer than a command may be
                    with suppress(ConnectionClosed):
                        await socket.send(
                            "x" * 9000 if self._chance.random() < 0.5 else b"\x91" * 9000
                        )
            except ConnectionClosed:
                pass
            finally:
                await talk.end()
                self._tally.frames += talk.sent
                self._tally.answers.update(talk.answers)
        code = socket.close_code or 0
        self._tally.closes[code] += 1
        assert code in DOCUMENTED_CLOSES, (code, socket.close_reason)
        return max(1, sent)

    def _hello(self, subprotocol: str) -> Frame:
        chance = self._chance
        if chance.random() < 0.1:
            self._token, self._name = chance.randbytes(32).hex(), f"M{chance.randrange(10**9)}"
        return CODECS[subprotocol].encode_command(
            commands.Hello(
                id=1,
                token=self._token,
                name=self._name if chance.random() < 0.9 else None,
                bot=chance.random() < 0.2,
                legal=True,
            )
        )

    async def _sit_down(self, talk: "_Talk", codec: Codec) -> None:
        """Come back to one's race, or start one: some attacks need a board."""
        if self._table:
            await self._say(talk, codec, commands.Resume, table=self._table)
            await self._say(talk, codec, commands.NextRace, table=self._table)
        else:
            game = self._chance.choice(list(GAMES))
            await self._say(talk, codec, commands.CreateTable, game=game)
        if self._table:
            here, hashed = {"table": self._table}, nonce_hash(self._player)
            await self._say(
                talk, codec, commands.Ready, **here, commitment=self._commitment, nonce_hash=hashed
            )
            await self._say(talk, codec, commands.Start, **here)
            await self._say(talk, codec, commands.Reveal, **here, nonce=nonce(self._player))

    async def _say(self, talk: "_Talk", codec: Codec, kind: type[Any], **fields: object) -> None:
        self._next_id += 1
        await talk.exchange([codec.encode_command(kind(id=min(self._next_id, MARKS), **fields))])

    def _hear(self, event: AnyEvent) -> None:
        self._known.hear(event)
        if isinstance(event, Welcome):
            self._player, self._table = event.player, event.table or ""
        if isinstance(event, Snapshot | TableChanged) and any(
            seat.player == self._player for seat in event.table.seats
        ):
            self._table, self._commitment = event.table.code, event.table.commitment
        self._next_id = max(self._next_id, getattr(event, "next_id", 0))
        board = getattr(event, "board", None)
        if board is not None:
            self._race, self._count, self._legal = board.race, board.count, board.legal or ["draw"]
            _keep(self._known.races, board.race)

    def _frame(self, subprotocol: str) -> Frame:
        """Legal, illegal, repeated, somebody else's, or spoilt."""
        chance, known = self._chance, self._known
        kind = chance.random()
        if kind < 0.06 and known.frames:
            return chance.choice(known.frames)
        command = self._command()
        if kind < 0.55:
            frame = CODECS[subprotocol].encode_command(command)
            if chance.random() < 0.05:
                known.frames.append(frame)
                del known.frames[:-200]
            return frame
        return Spoiler(chance, subprotocol).frame(command if kind < 0.85 else None)

    def _command(self) -> AnyCommand:
        """A command as one might say it here and now, or just not."""
        chance, known = self._chance, self._known
        if chance.random() < 0.85:
            self._next_id += 1
        is_next = chance.random() < 0.9 and self._next_id < MARKS
        ident = self._next_id if is_next else chance.randrange(1, MARKS)
        code, race = chance.choice(known.codes), chance.choice(known.races)
        move = chance.choice([*self._legal, "draw", "redeal", "w>up", "t1>t2", "r>t9", "?"])
        after = max(0, self._count + chance.choice((0, 0, 0, 1, -1)))
        game = chance.choice([*GAMES, "whist"])
        makes: list[Callable[[], AnyCommand]] = [
            lambda: commands.CreateTable(
                id=ident, game=game, cap=chance.choice((0, 3, 5, 7)), public=chance.random() < 0.5
            ),
            lambda: commands.JoinTable(id=ident, table=code),
            lambda: commands.JoinTable(id=ident, table=code),
            lambda: commands.Resume(id=ident, table=code),
            lambda: commands.LeaveTable(
                id=ident, table=code if chance.random() < 0.2 else "mint-otter-42"
            ),
            lambda: commands.WatchTable(id=ident, table=code),
            lambda: commands.UnwatchTable(id=ident, table=code),
            lambda: commands.ChangeSettings(
                id=ident, table=code, game=game, seats=chance.choice((None, 1, 16))
            ),
            lambda: commands.Kick(id=ident, table=code, player=chance.choice(known.players)),
            lambda: commands.Ready(
                id=ident,
                table=code,
                commitment=known.commitments[-1],
                nonce_hash=nonce_hash(self._player),
            ),
            lambda: commands.Ready(
                id=ident,
                table=known.codes[-1],
                commitment=chance.choice(known.commitments),
                nonce_hash=nonce_hash(self._player),
            ),
            lambda: commands.NotReady(id=ident, table=code),
            lambda: commands.Start(id=ident, table=code),
            lambda: commands.Reveal(id=ident, table=code, nonce=nonce(self._player)),
            lambda: commands.MakeMove(id=ident, race=race, after=after, move=move),
            lambda: commands.MakeMove(id=ident, race=self._race, after=after, move=move),
            *(lambda: commands.MakeMove(id=ident, race=self._race, after=self._count, move=move),)
            * 4,
            lambda: commands.CashOut(id=ident, race=race),
            lambda: commands.NextRace(id=ident, table=code),
            lambda: commands.ListTables(id=ident),
            lambda: commands.GetLeaderboard(
                id=ident, game=game, offset=chance.randrange(3), around_me=chance.random() < 0.5
            ),
            lambda: commands.SubscribeLeaderboard(id=ident, game=game),
            lambda: commands.UnsubscribeLeaderboard(id=ident),
            lambda: commands.GetRecord(id=ident, race=race),
            lambda: commands.ClaimName(
                id=ident, name=chance.choice(("Anna", "x", self._name, "Ω"))
            ),
            lambda: commands.Heartbeat(id=ident),
        ]
        return chance.choice(makes)()


class _Talk:
    """What goes over one connection, both ways."""

    def __init__(
        self, socket: ClientConnection, subprotocol: str, hear: Callable[[AnyEvent], None]
    ) -> None:
        self._socket = socket
        self._codec = CODECS[subprotocol]
        self._hear = hear
        self.sent = 0
        self.answers: Counter[str] = Counter()
        self._mark = MARKS
        """The id of the heartbeat behind the last batch."""

    async def exchange(self, frames: list[Frame]) -> None:
        """Send these; returns when each has had its answer. Raises `ConnectionClosed`."""
        self._mark += 1
        mark = commands.Heartbeat(id=self._mark)
        for frame in frames:
            await self._socket.send(frame)
            self.sent += 1
        await self._socket.send(self._codec.encode_command(mark))
        answers = 0
        async with asyncio.timeout(BOUND):
            while True:
                event = self._read(await self._socket.recv())
                if getattr(event, "re", None) == self._mark:
                    break
                if isinstance(event, Refused) or getattr(event, "re", None) is not None:
                    answers += 1
        assert answers == len(frames), (answers, frames)

    def _read(self, frame: Frame) -> AnyEvent:
        event = self._codec.decode_event(frame)
        assert isinstance(event, EVENTS), frame
        if isinstance(event, Refused):
            assert event.code in REASONS, event
            assert event.code != "server_fault", event
            assert not TRACE.search(event.message), event
            self.answers[event.code] += 1
        else:
            self.answers[type(event).__name__] += 1
        heard = cast(AnyEvent, event)
        self._hear(heard)
        return heard

    async def end(self) -> None:
        """Hang up, and read what still came."""
        await self._socket.close()
        with suppress(ConnectionClosed):
            async with asyncio.timeout(BOUND):
                while True:
                    self._read(await self._socket.recv())
