"""The door: who is let in, and how everybody leaves."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from urllib.request import urlopen

import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus
from websockets.typing import Origin, Subprotocol

from kit.fake_store import fake_store
from kit.guests import HEARD_WITHIN
from kit.hall import NOW, OpenGateway, no_pages, open_gateway
from kit.open_door import OpenHouse, open_door
from kit.rooms import counted_down, gathered
from kit.sockets import GuestOnTheWire, guest, stranger
from saratoga_protocol.commands import Heartbeat, Hello
from saratoga_protocol.events import (
    Alive,
    Announcement,
    Dealt,
    Done,
    MoveMade,
    RaceOver,
)
from saratoga_protocol.refusals import ABUSE, NO_HELLO, RESTARTING
from saratoga_protocol.version import JSON, MSGPACK, SUBPROTOCOLS
from saratoga_server.metrics.counters import Metrics
from saratoga_server.transport.gateway import Door, Gateway, portions_of
from saratoga_server.transport.outbox import Outbox


@pytest.fixture
async def opened() -> AsyncIterator[OpenGateway]:
    async with open_gateway() as gateway:
        yield gateway


# Who is let in


@pytest.mark.parametrize("subprotocol", SUBPROTOCOLS)
async def test_either_subprotocol_is_spoken(opened: OpenGateway, subprotocol: str) -> None:
    async with stranger(opened.url, "Anna", subprotocol=subprotocol) as anna:
        assert await anna.ask(Heartbeat) == Done(re=1)
        assert isinstance(anna.heard.frames[0], str) == (subprotocol == JSON)


@pytest.mark.parametrize("offered", [[], ["saratoga.v9.json"], ["chat"]])
async def test_who_speaks_neither_subprotocol_is_not_let_in(
    opened: OpenGateway, offered: list[str]
) -> None:
    with pytest.raises(InvalidStatus) as refused:
        await connect(opened.url, subprotocols=[Subprotocol(name) for name in offered] or None)
    assert refused.value.response.status_code == 400
    assert b"subprotocol" in refused.value.response.body
    assert opened.hall.sessions == []


async def test_a_page_of_another_origin_is_not_let_in() -> None:
    async with open_gateway(origins=("https://play.example",)) as opened:
        offered = [Subprotocol(MSGPACK)]
        with pytest.raises(InvalidStatus) as refused:
            await connect(opened.url, subprotocols=offered, origin=Origin("https://evil.example"))
        assert refused.value.response.status_code == 403
        for origin in (None, Origin("https://play.example")):
            async with connect(opened.url, subprotocols=offered, origin=origin):
                pass
        assert len(opened.hall.sessions) == 2


async def test_no_browser_is_let_in_where_no_origin_is_named(opened: OpenGateway) -> None:
    with pytest.raises(InvalidStatus) as refused:
        await connect(
            opened.url, subprotocols=[Subprotocol(JSON)], origin=Origin("http://127.0.0.1")
        )
    assert refused.value.response.status_code == 403


async def test_a_port_that_is_taken_is_an_error(opened: OpenGateway) -> None:
    port = int(opened.url.rpartition(":")[2])
    second = Gateway(opened.hall, Door(host="127.0.0.1", port=port), no_pages, Metrics())
    with pytest.raises(OSError, match="in use"):
        await second.open()
    await second.close()


async def test_who_says_no_hello_in_time_is_sent_away(
    opened: OpenGateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("saratoga_server.transport.gateway.HELLO_WITHIN", 0.0)
    async with stranger(opened.url, "Anna") as anna:
        assert await anna.sent_away() == (NO_HELLO.code, NO_HELLO.reason)
    assert (await opened.hall.sees_out()).player == ""


async def test_who_said_hello_stays(opened: OpenGateway, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("saratoga_server.transport.gateway.HELLO_WITHIN", 0.1)
    async with stranger(opened.url, "Anna") as anna, stranger(opened.url, "Bert") as bert:
        await anna.ask(Hello, token=anna.token)
        assert await bert.sent_away() == (NO_HELLO.code, NO_HELLO.reason)
        assert await anna.ask(Heartbeat) == Done(re=2)


async def test_the_house_is_told_once_that_a_connection_has_ended(opened: OpenGateway) -> None:
    async with stranger(opened.url, "Anna") as anna:
        await anna.ask(Heartbeat)
        anna.socket.transport.abort()
        session = await opened.hall.sees_out()
    assert session is opened.hall.sessions[0]
    assert opened.hall.left.empty()


async def test_a_session_that_is_closed_is_told_why(opened: OpenGateway) -> None:
    async with stranger(opened.url, "Anna") as anna:
        await anna.ask(Heartbeat)
        (session,) = opened.hall.sessions
        session.tell(Announcement(text="a last word"))
        session.connection.close(ABUSE)
        session.connection.close(RESTARTING)
        assert await anna.sent_away() == (ABUSE.code, ABUSE.reason)
        assert anna.heard.all(Announcement) == [Announcement(text="a last word")]


# The end of the evening


async def test_everyone_hears_that_the_house_is_alive(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("saratoga_server.transport.gateway.ALIVE_EVERY", 0.01)
    async with (
        open_gateway() as opened,
        stranger(opened.url, "Anna", subprotocol=JSON) as anna,
        stranger(opened.url, "Bert") as bert,
    ):
        for each in (anna, bert):
            assert await each.heard.next(Alive, 0) == Alive(now=NOW)


async def test_signs_of_life_go_to_everyone_in_turn(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("saratoga_server.transport.gateway.ALIVE_EVERY", 0.02)
    monkeypatch.setattr("saratoga_server.transport.gateway.PORTION", 2)
    told: list[Outbox] = []
    enough = asyncio.Event()

    def note(line: Outbox, frame: bytes | str) -> None:
        told.append(line)
        if len(told) == 25:
            enough.set()

    async with AsyncExitStack() as stack:
        opened = await stack.enter_async_context(open_gateway())
        for name in "ABCDE":
            came = await stack.enter_async_context(stranger(opened.url, name))
            await came.ask(Heartbeat)
        monkeypatch.setattr(Outbox, "send", note)
        async with asyncio.timeout(HEARD_WITHIN):
            await enough.wait()
        assert all(len({*told[first : first + 5]}) == 5 for first in range(20))


@pytest.mark.parametrize(
    ("connections", "portions"), [(0, 1), (1, 1), (16, 1), (17, 2), (33, 3), (1_000, 63)]
)
def test_no_portion_of_those_who_are_given_signs_of_life_is_large(
    connections: int, portions: int
) -> None:
    assert portions_of(connections) == portions


async def test_a_gateway_that_closes_sends_everyone_away_to_come_back() -> None:
    async with open_gateway() as opened, stranger(opened.url, "Anna") as anna:
        await anna.ask(Heartbeat)
        await opened.gateway.close()
        assert await anna.sent_away() == (RESTARTING.code, RESTARTING.reason)
        with pytest.raises(OSError, match="Connect call failed"):
            await connect(opened.url)


# With a whole house behind it


@pytest.fixture
async def house(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[OpenHouse]:
    monkeypatch.setattr("saratoga_server.domain.tables.countdown.COUNTDOWN_MILLIS", 10)
    async with open_door(fake_store()) as opened:
        yield opened


async def test_both_subprotocols_race_each_other(house: OpenHouse) -> None:
    async with (
        guest(house.url, "Anna", subprotocol=JSON) as anna,
        guest(house.url, "Bert", subprotocol=MSGPACK) as bert,
    ):
        racers: tuple[GuestOnTheWire, ...] = (anna, bert)
        await gathered(*racers)
        await counted_down(*racers)
        deals = [await racer.heard.next(Dealt, 0) for racer in racers]
        assert deals[0].board == deals[1].board
        for racer in racers:
            assert isinstance(await racer.move("draw"), MoveMade)
            await racer.cash_out()
        overs = [await racer.heard.next(RaceOver, 0) for racer in racers]
        assert overs[0] == overs[1]
        assert {type(frame) for frame in anna.heard.frames} == {str}
        assert {type(frame) for frame in bert.heard.frames} == {bytes}


async def test_pages_are_served_on_the_same_port(house: OpenHouse) -> None:
    def fetched(path: str) -> object:
        with urlopen(f"http://127.0.0.1:{house.port}{path}", timeout=HEARD_WITHIN) as answer:
            return json.load(answer)

    async with guest(house.url, "Anna") as anna:
        assert await asyncio.to_thread(fetched, "/readyz") == {"status": "ready"}
        page = await asyncio.to_thread(fetched, "/leaderboards/canfield")
        assert isinstance(page, dict)
        assert page["rows"] == []
        await anna.ask(Heartbeat)
