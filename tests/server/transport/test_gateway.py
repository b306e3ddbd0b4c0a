"""The gateway: all connections of a node, accepted and closed."""

import asyncio
import json
from collections.abc import AsyncIterator
from urllib.request import urlopen

import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus
from websockets.typing import Origin, Subprotocol

from kit.gateways import OpenGateway, no_pages, open_gateway
from kit.in_process_server import counted_down, gathered
from kit.listening_server import ListeningServer, listening_server
from kit.player_sockets import SocketPlayer, connected_player, player_at
from kit.players import RECEIVED_WITHIN
from kit.raw_client import handshake, raw_socket
from kit.stepped_store import empty_store
from saratoga_protocol.commands import Heartbeat
from saratoga_protocol.events import (
    Dealt,
    Done,
    MoveMade,
    RaceOver,
)
from saratoga_protocol.refusals import RESTARTING
from saratoga_protocol.version import JSON, MSGPACK, SUBPROTOCOLS
from saratoga_server.metrics.counters import Metrics
from saratoga_server.transport.connection import PlayerConnection
from saratoga_server.transport.gateway import Gateway, GatewaySettings
from saratoga_server.transport.hosts import Hosts


@pytest.fixture
async def opened() -> AsyncIterator[OpenGateway]:
    async with open_gateway() as gateway:
        yield gateway


# Accepting


@pytest.mark.parametrize("subprotocol", SUBPROTOCOLS)
async def test_either_subprotocol_is_spoken(opened: OpenGateway, subprotocol: str) -> None:
    async with connected_player(opened.url, "Anna", subprotocol=subprotocol) as anna:
        assert await anna.ask(Heartbeat) == Done(re=1)
        assert isinstance(anna.received.frames[0], str) == (subprotocol == JSON)


@pytest.mark.parametrize("offered", [[], ["saratoga.v9.json"], ["chat"]])
async def test_a_client_of_another_subprotocol_is_not_let_in(
    opened: OpenGateway, offered: list[str]
) -> None:
    with pytest.raises(InvalidStatus) as refused:
        await connect(opened.url, subprotocols=[Subprotocol(name) for name in offered] or None)
    assert refused.value.response.status_code == 400
    assert b"subprotocol" in refused.value.response.body
    assert opened.commands.sessions == []


async def test_a_page_of_another_origin_is_not_let_in() -> None:
    async with open_gateway(hosts=Hosts(origins=("https://play.example",))) as opened:
        offered = [Subprotocol(MSGPACK)]
        with pytest.raises(InvalidStatus) as refused:
            await connect(opened.url, subprotocols=offered, origin=Origin("https://evil.example"))
        assert refused.value.response.status_code == 403
        for origin in (None, Origin("https://play.example")):
            async with connect(opened.url, subprotocols=offered, origin=origin):
                pass
        assert len(opened.commands.sessions) == 2


async def test_the_servers_own_page_is_let_in(opened: OpenGateway) -> None:
    origin = Origin(opened.url.replace("ws:", "http:"))
    async with connect(opened.url, subprotocols=[Subprotocol(JSON)], origin=origin):
        pass
    assert len(opened.commands.sessions) == 1


async def test_a_page_of_another_server_on_this_machine_is_not_let_in(opened: OpenGateway) -> None:
    with pytest.raises(InvalidStatus) as refused:
        await connect(
            opened.url, subprotocols=[Subprotocol(JSON)], origin=Origin("http://127.0.0.1")
        )
    assert refused.value.response.status_code == 403


async def test_a_port_that_is_taken_is_an_error(opened: OpenGateway) -> None:
    settings = GatewaySettings(host="127.0.0.1", port=opened.port)
    second = Gateway(opened.commands, settings, no_pages, Metrics())
    with pytest.raises(OSError, match="in use"):
        await second.open()
    await second.close()


# Closing


async def test_a_gateway_that_closes_tells_everyone_to_come_back() -> None:
    async with open_gateway() as opened, connected_player(opened.url, "Anna") as anna:
        await anna.ask(Heartbeat)
        await opened.gateway.close()
        assert await anna.closed() == (RESTARTING.code, RESTARTING.reason)
        with pytest.raises(OSError, match="Connect call failed"):
            await connect(opened.url)


async def test_a_gateway_closes_though_a_client_does_not() -> None:
    async with open_gateway() as opened:
        with raw_socket(opened.port) as one, raw_socket(opened.port) as two:
            assert b" 101 " in await one.shake_hands()
            await two.say(b"GET / HTTP/1.1\r\n")
            await opened.gateway.close()
            assert opened.gateway.connections == {}
            assert (await opened.commands.next_ended()).number == 1


async def test_a_fault_with_one_connection_ends_that_connection_alone(
    opened: OpenGateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    check = PlayerConnection.check

    def broken(connection: PlayerConnection, now: float) -> None:
        if connection is opened.commands.connections[0]:
            raise RuntimeError("broken")
        check(connection, now)

    async with (
        connected_player(opened.url, "Anna") as anna,
        connected_player(opened.url, "Bert") as bert,
    ):
        await anna.ask(Heartbeat)
        await bert.ask(Heartbeat)
        monkeypatch.setattr(PlayerConnection, "check", broken)
        assert await opened.commands.next_ended() is opened.commands.sessions[0]
        assert await bert.ask(Heartbeat) == Done(re=2)


async def test_a_client_in_the_handshake_at_shutdown_is_asked_to_retry() -> None:
    async with open_gateway() as opened, connected_player(opened.url, "Anna") as anna:
        with raw_socket(opened.port, window=None) as socket:
            await socket.say(b"GET / HTTP/1.1\r\n")
            while len(opened.gateway.connections) < 2:
                await anna.ask(Heartbeat)
            opened.gateway.stop_listening()
            await socket.say(handshake().partition(b"\r\n")[2])
            answer = await socket.read_to_the_end()
        assert b" 503 " in answer
        assert b"Retry-After" in answer


# With a whole server behind it


@pytest.fixture
async def server(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[ListeningServer]:
    monkeypatch.setattr("saratoga_server.domain.tables.countdown.CALL_MILLIS", 1)
    monkeypatch.setattr("saratoga_server.domain.tables.countdown.COUNTDOWN_MILLIS", 10)
    async with empty_store() as store, listening_server(store) as opened:
        yield opened


async def test_both_subprotocols_race_each_other(server: ListeningServer) -> None:
    async with (
        player_at(server.url, "Anna", subprotocol=JSON) as anna,
        player_at(server.url, "Bert", subprotocol=MSGPACK) as bert,
    ):
        racers: tuple[SocketPlayer, ...] = (anna, bert)
        await gathered(*racers)
        await counted_down(*racers)
        deals = [await racer.received.next(Dealt, 0) for racer in racers]
        assert deals[0].board == deals[1].board
        for racer in racers:
            assert isinstance(await racer.move("draw"), MoveMade)
            await racer.cash_out()
        overs = [await racer.received.next(RaceOver, 0) for racer in racers]
        assert overs[0] == overs[1]
        assert {type(frame) for frame in anna.received.frames} == {str}
        assert {type(frame) for frame in bert.received.frames} == {bytes}


async def test_pages_are_served_on_the_same_port(server: ListeningServer) -> None:
    def fetched(path: str) -> object:
        with urlopen(f"http://127.0.0.1:{server.port}{path}", timeout=RECEIVED_WITHIN) as answer:
            return json.load(answer)

    async with player_at(server.url, "Anna") as anna:
        assert await asyncio.to_thread(fetched, "/readyz") == {"status": "ready"}
        page = await asyncio.to_thread(fetched, "/api/leaderboards/canfield")
        assert isinstance(page, dict)
        assert page["rows"] == []
        await anna.ask(Heartbeat)
