"""A server that tells one client an evening again, over a connection without a network or on a socket."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from itertools import takewhile
from typing import cast
from unittest.mock import patch

from msgspec import structs

from kit.evenings import ME, Item, Told
from kit.fact_lies import LAST, RACE, TABLES, is_table, race_of, shown_again
from kit.players import token_of
from kit.scripted_server import ScriptedPeer, ScriptedServer, scripted_server, welcome
from kit.tables import nonce
from saratoga_client.net.connection import Connection
from saratoga_client.net.websocket import OpenSocket
from saratoga_protocol import commands, events
from saratoga_protocol.codec import CODECS, Codec, Frame
from saratoga_protocol.commands import Command
from saratoga_protocol.events import Event
from saratoga_protocol.refusals import RETRIED

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
            await peer.send(*retelling.answers(await peer.next_command()))

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
