"""A client copes with every limit of a real server behind a proxy."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from functools import partial

import pytest

from kit.faulty_link import FaultyLink, LinkConnection, LinkFault, link_to_ports, unchanged
from kit.server_process import running_server
from saratoga_client.local.identity import new_token
from saratoga_client.net.connection import Connection, Timing
from saratoga_client.net.errors import CommandRefused, ServerClosed, Unreachable
from saratoga_protocol.commands import CreateTable, JoinTable, ListTables, WatchTable
from saratoga_protocol.events import Snapshot, Tables
from saratoga_protocol.refusals import TAKEN_OVER
from saratoga_server.rate_limits.addresses import FORWARDED_FOR
from saratoga_server.rate_limits.rates import (
    MAX_CONNECTIONS_PER_ADDRESS,
    MAX_CONNECTIONS_PER_PLAYER,
    PER_PLAYER,
    Action,
)

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


@pytest.fixture
async def default_limits() -> AsyncIterator[FaultyLink]:
    """A link to a server with its default limits."""
    async with (
        running_server("--trusted-proxies", "1") as server_process,
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


async def test_the_newest_of_too_many_connections_takes_over_from_the_oldest(
    default_limits: FaultyLink,
) -> None:
    token = new_token()
    async with AsyncExitStack() as visits:
        seated = await visits.enter_async_context(
            Connection(default_limits.url, token, name="Anna")
        )
        await seated.request(partial(CreateTable, game="canfield"))
        others = [
            await visits.enter_async_context(Connection(default_limits.url, token))
            for _ in range(MAX_CONNECTIONS_PER_PLAYER)
        ]
        with pytest.raises(ServerClosed) as closed:
            async for _ in others[0].events():
                pass
        assert closed.value.code == TAKEN_OVER.code
        for each in (seated, others[1], others[-1]):
            assert isinstance(await each.request(ListTables), Tables)


async def test_a_player_that_guesses_codes_is_rate_limited_and_keeps_its_seat(
    default_limits: FaultyLink,
) -> None:
    async with Connection(default_limits.url, new_token(), name="Bert") as bert:
        snapshot = await bert.ask(partial(CreateTable, game="canfield"), Snapshot)
        refusals = []
        for number in range(int(PER_PLAYER[Action.WRONG_CODE].burst) + 1):
            with pytest.raises(CommandRefused) as refused:
                await bert.request(partial(WatchTable, table=f"odd-emu-{number + 11}"))
            refusals.append(refused.value)
        assert {refusal.code for refusal in refusals[:-1]} == {"no_such_table"}
        assert refusals[-1].code == "too_fast"
        assert "Wait" in refusals[-1].message
        assert refusals[-1].refusal.wait > 5000, (
            "a shorter wait would make the client ask again by itself"
        )
        assert await bert.ask(partial(JoinTable, table=snapshot.table.code), Snapshot)


async def test_a_client_that_is_too_fast_is_only_slowed_down(default_limits: FaultyLink) -> None:
    async with Connection(default_limits.url, new_token()) as anna:
        answers = [await anna.request(ListTables) for _ in range(30)]
    assert all(isinstance(answer, Tables) for answer in answers)
