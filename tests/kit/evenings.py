"""A real evening at a server in the test's own process, as each client was told it; to be cut, edited and told again.

`played_evening` plays it: a countdown is voided, then two races of a match run to the end, and the
table gathers again. `Told` is what one client received and did, in order. It is told again to a
client's duties (`Client`), to a connection without a network (`replayed`) or on a socket (`retold`).
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from itertools import takewhile
from random import Random
from typing import Any, NamedTuple, cast
from unittest.mock import patch

import pytest
from msgspec import structs

from kit.client_servers import ScriptedPeer, ScriptedServer, scripted_server, welcome
from kit.in_process_server import InProcessServer, open_in_process_server
from kit.players import MemoryPlayer, token_of
from kit.tables import nonce
from saratoga_client.net.connection import Connection
from saratoga_client.net.errors import CommandRefused, LinkState
from saratoga_client.net.websocket import OpenSocket
from saratoga_client.problems import Problem
from saratoga_client.session.fairness import FairnessDuties
from saratoga_client.session.record_keeper import RecordKeeper
from saratoga_client.session.record_store import RecordStore
from saratoga_client.session.state_store import StateStore
from saratoga_client.session.verdict import Proof
from saratoga_client.session.witness import Witness
from saratoga_protocol import commands, events
from saratoga_protocol.codec import CODECS, Codec, Frame
from saratoga_protocol.commands import Command, player_id
from saratoga_protocol.events import Event
from saratoga_protocol.refusals import RETRIED
from saratoga_server.domain.tables.countdown import CALL_MILLIS

ME = "Ben"
"""The racer whose client is lied to."""
WATCHER = "Walter"
HOST, RIVAL = "Anna", "Cleo"
RACERS = (HOST, ME, RIVAL)

MOVES = 14
"""The moves of each racer before the board is cashed out."""


class Item(NamedTuple):
    """An event, and the command that it answers, if any."""

    event: Event
    command: Command | None = None


@dataclass(frozen=True)
class Told:
    """What one client received, in order, and what it needs to know beside it."""

    player: str
    durability: str
    items: tuple[Item, ...]
    records: dict[str, str]
    """The texts of the records that it is sent, by race."""

    def edited(self, change: Callable[[Event], Event | None]) -> "Told":
        """Return the same with every event changed, or left out where the change is `None`."""
        changed = ((change(item.event), item.command) for item in self.items)
        items = [Item(event, command) for event, command in changed if event is not None]
        return replace(self, items=tuple(items))


TABLES = events.Snapshot | events.TableChanged


VOIDED, RACE, LAST = range(3)
"""The races of the evening: a voided countdown, and two races."""


def race_of(told: Told, number: int) -> str:
    races = list(told.records)
    table = races[0].rpartition("/")[0]
    return f"{table}/{number + 1}"


ME_ID, HOST_ID, RIVAL_ID = (player_id(token_of(name)) for name in (ME, HOST, RIVAL))


def is_table(event: Event, race: str, phase: str) -> bool:
    return isinstance(event, TABLES) and event.table.race == race and event.table.phase == phase


def shown_again(told: Told, number: int, phase: str) -> events.Snapshot:
    """Return a snapshot of the table as it was in a phase of a race."""
    race = race_of(told, number)
    there = next(item.event for item in told.items if is_table(item.event, race, phase))
    assert isinstance(there, TABLES)
    return events.Snapshot(table=there.table, now=there.now)


class TapedPlayer(MemoryPlayer):
    """A player who keeps the commands that it sends, each with the number of events that came before it."""

    def __init__(self, *given: Any, **fields: Any) -> None:
        super().__init__(*given, **fields)
        self.sent: dict[int, tuple[Command, int]] = {}

    async def exchange(self, command: Command) -> Event:
        self.sent[command.id] = command, len(self.received.events)
        return await super().exchange(command)


class EveningPlayers:
    """The players of an evening at one server."""

    def __init__(self, server: InProcessServer, seed: int) -> None:
        self.server = server
        self.chance = Random(f"evening {seed}")
        self.players: dict[str, TapedPlayer] = {}

    async def come(self, name: str, **fields: Any) -> TapedPlayer:
        player = TapedPlayer(
            self.server.node.dispatcher,
            name,
            pass_time_until=self.server.pass_time_until,
            legal=True,
            **fields,
        )
        self.players[name] = player
        await player.hello()
        return player

    async def count_down(self, *revealing: str) -> None:
        """Make all racers ready and start; these reveal their nonces."""
        for name in RACERS:
            await self.players[name].ready()
        host = self.players[HOST]
        await host.ask(commands.Start, table=host.table.code)
        await self.server.pass_time(CALL_MILLIS)
        for name in revealing:
            await self.players[name].reveal()
        while host.table.phase == "countdown":
            await self.server.pass_time(500)

    async def race(self) -> None:
        """Play all boards to their ends, some seconds apart."""
        await self.count_down(*RACERS)
        turns = [name for name in RACERS for _ in range(MOVES)]
        self.chance.shuffle(turns)
        for name in turns:
            player = self.players[name]
            if player.board.state != "racing":
                continue
            moves = player.board.legal or []
            banking = [move for move in moves if move.endswith(">up")]
            if moves:
                await player.move(self.chance.choice(banking or moves))
            await self.server.pass_time(self.chance.choice((40, 250, 700)))
        for name in RACERS:
            if self.players[name].board.state == "racing":
                await self.players[name].cash_out()
                await self.server.pass_time(300)
        await self.server.pass_time(1000)

    async def next_race(self) -> None:
        """Open the next race, and let those who voided a countdown race again."""
        host = self.players[HOST]
        if host.table.phase == "over":
            await host.ask(commands.NextRace, table=host.table.code)
        for seat in host.table.seats:
            if seat.blocked:
                await host.ask(commands.AllowReady, table=host.table.code, player=seat.player)


async def played_evening(seed: int, game: str = "canfield") -> dict[str, Told]:
    """Play an evening; return what each client was told, by name."""
    async with open_in_process_server() as server:
        evening = EveningPlayers(server, seed)
        host = await evening.come(HOST)
        with patch("secrets.randbelow", evening.chance.randrange):  # the deal depends on the code
            made = await host.at_table(commands.CreateTable, game=game, races=3)
        code = made.table.code
        for name in (ME, RIVAL):
            player = await evening.come(name, bot=name == RIVAL)
            await player.at_table(commands.JoinTable, table=code)
        watcher = await evening.come(WATCHER)
        await watcher.at_table(commands.JoinTable, table=code, seat=False)
        await evening.count_down(HOST, ME)  # the rival's nonce is missing
        await evening.next_race()
        for _ in range(2):
            await evening.race()
            await evening.next_race()
        await server.settle()
        races = [f"{code}/{number}" for number in (1, 2, 3)]
        texts = [(await host.ask(commands.GetRecord, race=race)).text for race in races]
        records = dict(zip(races, texts, strict=True))
        return {name: told_of(player, records) for name, player in evening.players.items()}


@pytest.fixture(scope="session")
def evening() -> Mapping[str, Told]:
    """An evening in which every lie can be told, as each client was told it."""
    return asyncio.run(played_evening(2))


def told_of(player: TapedPlayer, records: dict[str, str]) -> Told:
    """Return what a player was told, without answers that no client of a table compares."""
    items = []
    for number, event in enumerate(player.received.events):
        # an answer stands before the events that its command has caused
        command, place = player.sent.get(event.re or 0, (None, number))
        if not isinstance(event, events.Welcome | events.Record):
            items.append((place, command is None, number, Item(event, command)))
    told = tuple(item for *_, item in sorted(items, key=lambda each: each[:3]))
    return Told(player.player, "safe", told, dict(records))


class FakeConnection:
    """A connection on which every command is confirmed, unless a test says otherwise."""

    def __init__(self, player: str, durability: str = "safe", welcomed: str = "") -> None:
        self.player = player
        greeting = welcome(commands.Hello(id=1, token="00" * 32))
        self.welcome = structs.replace(greeting, player=welcomed or player, durability=durability)
        self.losses = 0
        self.state = LinkState.CONNECTED
        self.sent: list[Command] = []
        self.reply: Callable[[Command], Event] = lambda command: events.Done(re=command.id)
        """Returns the answer to a command, or raises the error of the request."""
        self.observer: Callable[[Command, Event], None] = lambda command, event: None

    def observe_answers(self, observer: Callable[[Command, Event], None]) -> None:
        self.observer = observer

    async def request(self, draft: Callable[..., Command], within: float = 0.0) -> Event:
        command = draft(id=1)
        self.sent.append(command)
        answer = self.reply(command)
        self.observer(command, answer)
        if isinstance(answer, events.Refused):
            raise CommandRefused(answer)
        return answer

    async def ask(self, draft: Callable[..., Command], kind: object, within: float = 0.0) -> Event:
        return await self.request(draft)


class Client:
    """A client's fairness duties that are told an evening again, without a server."""

    def __init__(
        self,
        told: Told,
        witness: Witness | None = None,
        welcomed: str = "",
        kept: RecordStore | None = None,
    ) -> None:
        self.told = told
        self.kept = kept or RecordStore(in_memory=True)
        self.connection = FakeConnection(told.player, told.durability, welcomed)
        self.witness = witness or Witness(in_memory=True)
        self.restart()

    def restart(self) -> None:
        """Start the player's program, or start it again."""
        connection = cast(Any, self.connection)
        self.duties = FairnessDuties(connection, self.witness)
        self.records = RecordKeeper(connection, self.duties, self.kept, StateStore(lambda: 0))

    @property
    def contradicted(self) -> list[str]:
        """The kinds of the facts about which the server has contradicted itself."""
        return [finding.key[0] for finding in self.duties.findings]

    async def hear(self, *items: Item) -> "Client":
        """Hear events and answers, by default all, and do what the client did then."""
        for event, command in items or self.told.items:
            table = self.duties.table
            match command:
                # without that race, whose event may have been lost, nobody gets ready
                case commands.Ready() if (
                    isinstance(event, events.Done)
                    and table is not None
                    and table.phase in ("gathering", "call")
                ):
                    with patch("secrets.token_hex", lambda _: nonce(self.told.player)):
                        await _settled(self.duties.ready())
                case commands.Reveal() if isinstance(event, events.Done):
                    await _settled(self.duties.reveal())
                case commands.LeaveTable():
                    self.duties.leaving()
                case commands.MakeMove() | commands.CashOut():
                    self.connection.observer(command, event)
                case _:
                    self.duties.see(event)
        return self

    async def check(self) -> dict[str, Proof]:
        """Compare the records of the races that are over with what was seen."""
        found = {}
        for race in self.records.take_due():
            if (text := self.told.records.get(race)) is not None:
                found[race] = await self.records.prove(race, text)
        return found


async def _settled(duty: Awaitable[None]) -> None:
    with suppress(Problem):
        await duty


WITHIN = 20.0
"""Longest time in seconds that a told evening takes; a bound, not a measurement."""


class Retelling:
    """The server's side: each command of the evening is answered as it was, with what came until the next one."""

    def __init__(self, told: Told, welcomed: str = "") -> None:
        self.told = told
        """What is told; a test may change its records meanwhile."""
        self.welcomed = welcomed or told.player
        self.missing_as = "no_such_race"
        """The code of the refusal to send a record that there is not."""
        self.table: events.Table | None = None
        """The table as it was told last."""
        self._left: list[Item] = list(told.items)

    @property
    def is_done(self) -> bool:
        return not self._left

    def answers(self, command: Command) -> list[Event]:
        """Return the answer to a command, and what follows it."""
        match command:
            case commands.Hello():
                durability = self.told.durability
                greeting = welcome(command)
                return [
                    structs.replace(
                        greeting, player=self.welcomed, name=ME, now=0, durability=durability
                    )
                ]
            case commands.Heartbeat():
                return [events.Alive(re=command.id, now=0)]
            case commands.GetRecord(race=race) if race in self.told.records:
                text = self.told.records[race]
                return [events.Record(re=command.id, race=race, text=text)]
            case commands.GetRecord():
                code = self.missing_as
                retry = code in RETRIED
                return [events.Refused(re=command.id, code=code, message="None.", retry=retry)]
        if not self._left or type(self._left[0].command) is not type(command):
            if isinstance(command, commands.JoinTable) and self.table is not None:
                return [events.Snapshot(re=command.id, table=self.table, now=0)]
            return [events.Done(re=command.id)]
        answer, *others = self._left
        pushed = list(takewhile(lambda item: item.command is None, others))
        self._left = others[len(pushed) :]
        told = [structs.replace(answer.event, re=command.id), *(item.event for item in pushed)]
        self.table = next((e.table for e in reversed(told) if isinstance(e, TABLES)), self.table)
        return told


class ReplayedServer(Retelling):
    """A retelling over a connection without a network."""

    _codec: Codec

    @asynccontextmanager
    async def open(
        self, url: str, subprotocol: str, within: float
    ) -> AsyncIterator["ReplayedServer"]:
        self._frames: asyncio.Queue[Frame] = asyncio.Queue()
        self._codec = CODECS[subprotocol]
        yield self

    async def recv(self) -> Frame:
        return await self._frames.get()

    async def send(self, message: Frame) -> None:
        for event in self.answers(self._codec.decode_command(message)):
            self._frames.put_nowait(self._codec.encode(event))


@asynccontextmanager
async def replayed(
    told: Told, welcomed: str = ""
) -> AsyncIterator[tuple[Connection, ReplayedServer]]:
    """Connect the racer of the evening to a server that tells it again."""
    server = ReplayedServer(told, welcomed)
    opened = cast(OpenSocket, server.open)
    connection = Connection("ws://replayed.invalid", token_of(ME), open_socket=opened)
    with patch("saratoga_client.session.fairness.secrets.token_hex", lambda _: nonce(told.player)):
        async with connection, asyncio.timeout(WITHIN):
            yield connection, server


def one_race(told: Told, *, is_next_open: bool = False) -> Told:
    """Return what a client is told that comes before the race `RACE`, until it is over.

    With `is_next_open` also the table that gathers again.
    """
    race, after = race_of(told, RACE), race_of(told, LAST)
    of_race = [n for n, item in enumerate(told.items) if is_table(item.event, race, "gathering")]
    later = [n for n, item in enumerate(told.items) if is_table(item.event, after, "gathering")]
    end = later[0] + 1 if is_next_open else later[0]
    entry = commands.JoinTable(id=1, table=race.partition("/")[0])
    first = Item(shown_again(told, RACE, "gathering"), entry)
    return replace(told, items=(first, *told.items[of_race[0] + 1 : end]))


@asynccontextmanager
async def retold(
    told: Told, *, has_seat: bool = False
) -> AsyncIterator[tuple[ScriptedServer, Retelling]]:
    """Tell a race again on a socket, to any client; with `has_seat` its welcome names the table."""
    retelling = Retelling(told)
    deals = [item.event for item in told.items if isinstance(item.event, TABLES)]
    begin = max(event.table.start_at for event in deals)
    table = deals[0].table.code if has_seat else None

    def greeting(hello: commands.Hello) -> Event:
        (welcomed,) = retelling.answers(hello)
        assert isinstance(welcomed, events.Welcome)
        return structs.replace(welcomed, now=begin, table=table)

    async def tell(peer: ScriptedPeer) -> None:
        while True:
            await peer.send(*retelling.answers(await peer.command(None)))

    async def serve(server: ScriptedServer) -> None:
        async with asyncio.TaskGroup() as group:
            while True:
                group.create_task(tell(await server.peers.get()))

    async with scripted_server() as server:
        server.greeting, server.now = greeting, begin
        serving = asyncio.create_task(serve(server))
        try:
            yield server, retelling
        finally:
            serving.cancel()
            await asyncio.gather(serving, return_exceptions=True)


def moves_of(told: Told, race: str = "") -> list[Command]:
    """Return the moves and cash-outs of the evening, or of one race."""
    sent = [item.command for item in told.items]
    moves = [each for each in sent if isinstance(each, commands.MakeMove | commands.CashOut)]
    return [each for each in moves if race in ("", each.race)]
