"""A connection that finds no place behind a proxy tries again, and says why."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack

import pytest

from kit.faulty_link import FaultyLink, LinkConnection, LinkFault, link_to_ports, unchanged
from kit.server_process import running_server
from saratoga_client.local.identity import new_token
from saratoga_client.net.connection import Connection, Timing
from saratoga_client.net.errors import Unreachable
from saratoga_protocol.commands import ListTables
from saratoga_protocol.events import Tables
from saratoga_server.client_addresses import FORWARDED_FOR
from saratoga_server.limits import (
    MAX_CONNECTIONS_PER_ADDRESS,
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
