"""A server that tells one client an evening again, over a connection without a network; and the players for it."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from itertools import takewhile
from pathlib import Path
from typing import cast
from unittest.mock import patch

from msgspec import structs

from kit.evenings import ME, Item, Told
from kit.players import token_of
from kit.scripted_server import welcome
from kit.tables import nonce
from saratoga_client.net.connection import Connection
from saratoga_client.net.websocket import OpenSocket
from saratoga_client.problems import Problem
from saratoga_client.session.record_store import RecordStore
from saratoga_client.session.state import SessionState
from saratoga_client.session.table_session import TableSession
from saratoga_client.session.table_view import takes_ready
from saratoga_client.session.witness import Witness
from saratoga_protocol import commands, events
from saratoga_protocol.codec import CODECS, Codec, Frame
from saratoga_protocol.commands import Command
from saratoga_protocol.events import Event
from saratoga_rules.moves import parse_move

RACES = 3
"""The races of an evening that are over in the end."""

WITHIN = 20.0
"""Longest time in seconds that a told evening takes; a bound, not a measurement."""


class ReplayedServer:
    """The server's side: each command of the evening is answered as it was, with what came until the next one."""

    def __init__(self, told: Told, welcomed: str = "") -> None:
        self.told = told
        self.welcomed = welcomed or told.player
        self._left: list[Item] = list(told.items)
        self._frames: asyncio.Queue[Frame] = asyncio.Queue()
        self._codec: Codec

    @asynccontextmanager
    async def open(
        self, url: str, subprotocol: str, within: float
    ) -> AsyncIterator["ReplayedServer"]:
        self._codec = CODECS[subprotocol]
        yield self

    @property
    def is_done(self) -> bool:
        return not self._left

    async def recv(self) -> Frame:
        return await self._frames.get()

    async def send(self, message: Frame) -> None:
        command = self._codec.decode_command(message)
        match command:
            case commands.Hello():
                durability, player = self.told.durability, self.welcomed
                greeting = welcome(command, next_id=1)
                self._tell(
                    structs.replace(greeting, player=player, name=ME, now=0, durability=durability)
                )
            case commands.Heartbeat():
                self._tell(events.Alive(re=command.id, now=0))
            case commands.GetRecord(race=race):
                self._tell(self._record(command.id, race))
            case _:
                self._answer(command)

    def _record(self, command_id: int, race: str) -> Event:
        if (text := self.told.records.get(race)) is None:
            return events.Refused(re=command_id, code="no_such_race", message="No such race.")
        return events.Record(re=command_id, race=race, text=text)

    def _answer(self, command: Command) -> None:
        if not self._left or type(self._left[0].command) is not type(command):
            self._tell(events.Done(re=command.id))
            return
        answer, *others = self._left
        self._tell(structs.replace(answer.event, re=command.id))
        pushed = list(takewhile(lambda item: item.command is None, others))
        for item in pushed:
            self._tell(item.event)
        self._left = others[len(pushed) :]

    def _tell(self, event: Event) -> None:
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


def moves_of(told: Told) -> list[Command]:
    """Return the moves and cash-outs of the evening."""
    sent = [item.command for item in told.items]
    return [each for each in sent if isinstance(each, commands.MakeMove | commands.CashOut)]


async def at_terminal(told: Told, folder: Path, welcomed: str = "") -> SessionState:
    """Race as a person; return the state when an alarm was raised, or all records were checked.

    Raises `Problem` if the session ends before.
    """
    async with replayed(told, welcomed) as (connection, server):
        session = TableSession(
            connection, witness=Witness(folder / "witness"), records=RecordStore(folder / "races")
        )
        attending = asyncio.create_task(session.attend())

        def is_over(state: SessionState) -> bool:
            is_checked = len(state.verifications) >= RACES and not session.is_checking
            return bool(state.alarms) or (server.is_done and is_checked and is_whole)

        async def until(holds: Callable[[SessionState], bool]) -> bool:
            """Wait for a state; return whether the evening goes on."""
            state = await session.until(lambda state: is_over(state) or holds(state))
            return not is_over(state)

        is_whole = len(told.records) == RACES  # else an alarm is to come
        moves = iter(moves_of(told))
        await session.sit_down(next(iter(told.records)).partition("/")[0])
        try:
            while await until(_may_act):
                state = session.state
                assert state is not None
                if state.own is None or not state.own.may_move:
                    await session.ready()
                    continue
                move = next(moves)
                if isinstance(move, commands.MakeMove):
                    session.play(parse_move(move.move))
                else:
                    await session.cash_out()
        except Problem:
            await attending  # raises the problem that has ended the session
        state = session.state
        assert state is not None
        if state.seat_lost or state.phase == "closed":
            await attending
        attending.cancel()
        await asyncio.gather(attending, return_exceptions=True)
        return session.state or state


def _may_act(state: SessionState) -> bool:
    own, seat = state.own, state.seat
    is_unready = seat is not None and not seat.ready and not seat.blocked
    return (own is not None and own.may_move) or (takes_ready(state.table) and is_unready)
