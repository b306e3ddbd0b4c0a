"""A connection reconnects by itself over a link that is cut again and again, and waits for a place behind a proxy."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from functools import partial
from random import Random

import pytest

from kit.faulty_link import FaultyLink, LinkConnection, LinkFault, link_to_ports, unchanged
from kit.scripted_table import handle
from kit.server_process import ServerProcess, running_server
from saratoga_client.local.identity import new_token
from saratoga_client.net.connection import Connection, Timing
from saratoga_client.net.errors import Unreachable
from saratoga_client.net.requests import Draft
from saratoga_client.net.timing import Backoff
from saratoga_client.session.fairness import FairnessDuties
from saratoga_client.session.record_keeper import RecordKeeper
from saratoga_client.session.record_store import RecordStore
from saratoga_client.session.state_store import StateStore
from saratoga_client.session.witness import Witness
from saratoga_protocol import commands, events
from saratoga_protocol.commands import ListTables
from saratoga_protocol.events import Tables
from saratoga_rules.records.record import parse_record
from saratoga_rules.records.standing import LOG_ENDINGS
from saratoga_rules.records.verify import verify
from saratoga_server.client_addresses import FORWARDED_FOR
from saratoga_server.limits import (
    MAX_CONNECTIONS_PER_ADDRESS,
)

MOVES = 60
"""The number of moves after which the racer cashes out."""

AT_ONCE = Backoff(first=0.01, largest=0.05, shortest=0.0)

RACE_WITHIN = 60
"""Longest time in seconds for a whole race; a bound, not a measurement."""


def break_after(seed: int, fewest: int, most: int) -> LinkFault:
    """Return a fault that cuts each connection after a random number of received chunks."""
    chance = Random(seed)

    def fault(link: FaultyLink, connection: LinkConnection) -> None:
        left = chance.randint(fewest, most)

        def to_client(data: bytes) -> bytes:
            nonlocal left
            left -= 1
            return data if left else link.lose_answer(connection)

        connection.to_client = to_client

    return fault


class Racer:
    """A racer who makes the first legal move each time and records every acknowledged move."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self.seat = FairnessDuties(connection, Witness(in_memory=True))
        self.records = RecordKeeper(
            connection, self.seat, RecordStore(in_memory=True), StateStore()
        )
        self.verdicts: dict[str, str] = {}
        self.acknowledged: list[str] = []

    async def race(self) -> events.Outcome:
        """Race once, from the gathering to the result."""
        started = said = ""
        playing: asyncio.Task[None] | None = None
        async for event in self.connection.events():
            await handle(self.seat, event)
            for race in self.records.take_due():
                checked = await self.records.check(race)
                assert checked is not None
                self.verdicts[race] = checked.verdict
            table = self.seat.table
            assert table is not None
            if table.phase == "gathering" and said != table.commitment:
                said = table.commitment
                await self.seat.ready()
            elif (
                table.phase == "gathering"
                and any(each.ready and each.player == self.seat.player for each in table.seats)
                and started != said
            ):
                started = said
                await self.connection.request(partial(commands.Start, table=table.code))
            board = getattr(event, "board", None)
            if board is not None and playing is None:
                playing = asyncio.create_task(self._play(board))
            outcome = getattr(event, "outcome", None)
            if outcome is not None:
                assert playing is not None
                await playing
                return outcome  # type: ignore[no-any-return]
        raise AssertionError("the events end only with the connection")

    async def _play(self, board: events.BoardView) -> None:
        while board.state == "racing":
            assert board.legal is not None
            if board.count >= MOVES:
                ask: Draft = partial(commands.CashOut, race=board.race)
            else:
                move = board.legal[0]
                ask = partial(commands.MakeMove, race=board.race, after=board.count, move=move)
            made = await self.connection.ask(ask, events.BoardChanged)
            if board.count < MOVES:
                self.acknowledged.append(move)
            assert made.board.count >= board.count
            board = made.board


async def test_over_a_failing_link_every_acknowledged_move_is_in_the_record_once(
    quick_server: ServerProcess,
) -> None:
    timing = Timing(heartbeat_every=0.2)
    async with (
        link_to_ports(quick_server.port, fault=break_after(5, 6, 24)) as link,
        Connection(
            link.url, new_token(), name="Anna", legal=True, timing=timing, backoff=AT_ONCE
        ) as connection,
        asyncio.timeout(RACE_WITHIN),
    ):
        await connection.ask(partial(commands.CreateTable, game="lady-palk"), events.Snapshot)
        racer = Racer(connection)
        outcome = await racer.race()
        link.heal()
        record = await connection.ask(partial(commands.GetRecord, race=outcome.race), events.Record)
    assert link.answers_lost >= 3
    assert verify(record.text).ok
    (racer_log,) = parse_record(record.text).racers
    played = [entry.text for entry in racer_log.log if entry.text not in LOG_ENDINGS]
    assert played == racer.acknowledged
    assert racer.verdicts == {outcome.race: "raced"}
    assert racer.seat.alarms == ()


async def test_over_a_failing_link_a_table_is_opened_once(
    quick_server: ServerProcess,
) -> None:
    async with (
        # The first answer is the handshake, the second the welcome; the third one is lost.
        link_to_ports(quick_server.port, fault=break_after(0, 3, 3)) as link,
        Connection(link.url, new_token(), name="Anna", backoff=AT_ONCE) as connection,
        asyncio.timeout(RACE_WITHIN),
    ):
        asked = partial(commands.CreateTable, game="canfield", public=True, key="a" * 32)
        opening = asyncio.create_task(connection.ask(asked, events.Snapshot))
        await link.has_lost_answer.wait()
        link.heal()
        opened = await opening
        tables = await connection.ask(commands.ListTables, events.Tables)
    assert [table.code for table in tables.tables] == [opened.table.code]


FOUR_CONNECTIONS = 4 / MAX_CONNECTIONS_PER_ADDRESS
SHORT_TIMEOUT = Timing(first_within=0.5)


def comes_from(address: str) -> LinkFault:
    """Return a fault that adds the header of a reverse proxy to each connection's HTTP request."""

    def fault(link: FaultyLink, connection: LinkConnection) -> None:
        received = b""

        def to_server(data: bytes) -> bytes:
            nonlocal received
            received += data
            first, found, rest = received.partition(b"\r\n")
            if not found:
                return b""
            connection.to_server = unchanged
            return first + found + f"{FORWARDED_FOR}: {address}".encode() + b"\r\n" + rest

        connection.to_server = to_server

    return fault


@pytest.fixture
async def small_limits() -> AsyncIterator[FaultyLink]:
    """A link to a server where each address may have at most four connections."""
    flags = ("--trusted-proxies", "1", "--limits-per-address", str(FOUR_CONNECTIONS))
    async with (
        running_server(*flags) as server_process,
        link_to_ports(server_process.port, fault=comes_from("203.0.113.7")) as proxy,
    ):
        yield proxy


async def test_a_client_connects_when_its_address_has_fewer_connections(
    small_limits: FaultyLink,
) -> None:
    token = new_token()
    async with AsyncExitStack() as visits:
        one, two, *_ = [
            await visits.enter_async_context(Connection(small_limits.url, token)) for _ in range(4)
        ]
        with pytest.raises(Unreachable, match="429"):
            async with Connection(small_limits.url, token, timing=SHORT_TIMEOUT):
                pass
        late = Connection(small_limits.url, token)
        coming = asyncio.create_task(late.__aenter__())
        await two.close()
        await coming
        assert isinstance(await late.request(ListTables), Tables)
        await late.close()
        small_limits.fault = comes_from("198.51.100.1")
        async with Connection(small_limits.url, token) as elsewhere:
            assert isinstance(await elsewhere.request(ListTables), Tables)
        assert isinstance(await one.request(ListTables), Tables)
