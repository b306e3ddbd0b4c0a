"""The door: who is let in, what is read, what a flood meets, and who is cut because they do not read."""

import asyncio
import json
from collections.abc import AsyncIterator
from urllib.request import urlopen

import msgspec
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
    Event,
    MoveMade,
    RaceOver,
    Refused,
)
from saratoga_protocol.refusals import ABUSE, NO_HELLO, RESTARTING
from saratoga_protocol.version import JSON, MAX_COMMAND_BYTES, MSGPACK, SUBPROTOCOLS
from saratoga_server.allowance.accounts import COMMANDS_PREPAID
from saratoga_server.allowance.limits import Act, Pace
from saratoga_server.edge.gateway import Door, Gateway
from saratoga_server.gauges.metrics import Metrics


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
    monkeypatch.setattr("saratoga_server.edge.gateway.HELLO_WITHIN", 0.0)
    async with stranger(opened.url, "Anna") as anna:
        assert await anna.sent_away() == (NO_HELLO.code, NO_HELLO.reason)
    assert (await opened.hall.sees_out()).player == ""


async def test_who_said_hello_stays(opened: OpenGateway, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("saratoga_server.edge.gateway.HELLO_WITHIN", 0.1)
    async with stranger(opened.url, "Anna") as anna, stranger(opened.url, "Bert") as bert:
        await anna.ask(Hello, token=anna.token)
        assert await bert.sent_away() == (NO_HELLO.code, NO_HELLO.reason)
        assert await anna.ask(Heartbeat) == Done(re=2)


# What is read


JUNK: list[tuple[str, bytes | str, str]] = [
    (MSGPACK, b"", "bad_frame"),
    (MSGPACK, b"\xc1", "bad_frame"),
    (MSGPACK, b"\x91" * 4000, "bad_command"),
    (MSGPACK, b"\x82\xa2\xff\xfe", "bad_frame"),
    (MSGPACK, msgspec.msgpack.encode(17), "bad_command"),
    (MSGPACK, msgspec.msgpack.encode({"type": "sing", "id": 3}), "bad_command"),
    (MSGPACK, msgspec.msgpack.encode({"type": "heartbeat", "id": 0}), "bad_command"),
    (MSGPACK, msgspec.msgpack.encode({"type": "heartbeat", "id": 2**60}), "bad_command"),
    (MSGPACK, msgspec.msgpack.encode({"type": "heartbeat", "id": 3, "x": 1}), "bad_command"),
    (MSGPACK, '{"type": "heartbeat", "id": 3}', "wrong_frame_kind"),
    (JSON, "", "bad_frame"),
    (JSON, "{", "bad_frame"),
    (JSON, "[" * 5000, "bad_command"),
    (JSON, "[]", "bad_command"),
    (JSON, '{"type": "start", "id": 3, "table": "../../etc"}', "bad_command"),
    (JSON, '{"type": "heartbeat", "id": "3"}', "bad_command"),
    (JSON, msgspec.msgpack.encode({"type": "heartbeat", "id": 3}), "wrong_frame_kind"),
]


@pytest.mark.parametrize(("subprotocol", "frame", "code"), JUNK)
async def test_junk_is_refused_by_name_and_the_conversation_goes_on(
    opened: OpenGateway, subprotocol: str, frame: bytes | str, code: str
) -> None:
    async with stranger(opened.url, "Anna", subprotocol=subprotocol) as anna:
        await anna.socket.send(frame)
        answer = await anna.heard.next(Refused, 0)
        assert answer.code == code
        assert answer.re in (None, 3)
        assert "Traceback" not in answer.message
        assert len(answer.message) < 300
        assert await anna.ask(Heartbeat) == Done(re=1)
    assert opened.metrics.refusals[code] == 1
    assert opened.hall.answered == [Heartbeat(id=1)]


@pytest.mark.parametrize("subprotocol", SUBPROTOCOLS)
async def test_a_frame_too_long_ends_the_connection_with_a_reason(
    opened: OpenGateway, subprotocol: str
) -> None:
    async with stranger(opened.url, "Anna", subprotocol=subprotocol) as anna:
        filler = "x" * MAX_COMMAND_BYTES
        await anna.socket.send(filler if subprotocol == JSON else filler.encode())
        assert await anna.heard.next(Refused, 0)
        await anna.socket.send(filler + "x" if subprotocol == JSON else filler.encode() + b"x")
        code, reason = await anna.sent_away()
    assert code == 1009
    assert str(MAX_COMMAND_BYTES) in reason
    await opened.hall.sees_out()


# One after another


async def test_a_connections_commands_are_answered_in_order_and_nobody_elses_wait(
    opened: OpenGateway,
) -> None:
    slow = opened.hall.waits[1] = asyncio.Event()
    async with stranger(opened.url, "Anna") as anna, stranger(opened.url, "Bert") as bert:
        for number in (1, 2, 3):
            await anna.socket.send(anna.heard.codec.encode_command(Heartbeat(id=number)))
        assert await bert.say(Heartbeat(id=9)) == Done(re=9)
        assert anna.heard.events == []
        slow.set()
        await anna.heard.next(Event, 0, re=3)
        assert [event.re for event in anna.heard.events] == [1, 2, 3]


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
        session.line.close(ABUSE)
        session.line.close(RESTARTING)
        assert await anna.sent_away() == (ABUSE.code, ABUSE.reason)
        assert anna.heard.all(Announcement) == [Announcement(text="a last word")]


# Floods


async def test_a_flood_is_slowed_down_and_then_sent_away() -> None:
    async with (
        open_gateway(rate=0.001, burst=5) as opened,
        stranger(opened.url, "Anna") as anna,
        stranger(opened.url, "Bert") as bert,
    ):
        for number in range(1, 12):
            await anna.socket.send(anna.heard.codec.encode_command(Heartbeat(id=number)))
        assert await anna.sent_away() == (ABUSE.code, ABUSE.reason)
        answers = anna.heard.events
        assert [event for event in answers if isinstance(event, Done)] == [
            Done(re=number) for number in range(1, 6)
        ]
        slowed = [event for event in answers if isinstance(event, Refused)]
        assert {(each.code, each.retry) for each in slowed} == {("too_fast", True)}
        assert [each.re for each in slowed] == list(range(6, 12))
        assert await bert.ask(Heartbeat) == Done(re=1)


async def test_whoever_shares_an_address_with_a_flood_is_slowed_down_and_not_sent_away(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    paces = {Act.COMMANDS: Pace(COMMANDS_PREPAID, 1000.0)}
    monkeypatch.setattr("saratoga_server.allowance.accounts.PER_ADDRESS", paces)
    async with (
        open_gateway(burst=5, proxies=1) as opened,
        stranger(opened.url, "Anna") as anna,
        stranger(opened.url, "Bert") as bert,
    ):
        assert await anna.ask(Heartbeat) == Done(re=1)
        for number in range(1, 21):
            answer = await bert.say(Heartbeat(id=number))
            assert isinstance(answer, Refused)
            assert answer.code == "too_fast"
        assert await anna.ask(Heartbeat) == Done(re=2)


async def test_junk_costs_more_than_sense() -> None:
    async with (
        open_gateway(rate=0.001, burst=12) as opened,
        stranger(opened.url, "Anna", subprotocol=JSON) as anna,
    ):
        for number in range(3):
            await anna.socket.send("junk")
            while len(anna.heard.events) <= number:
                await anna.heard.next(Refused, number)
        codes = [event.code for event in anna.heard.all(Refused)]
        assert codes == ["bad_frame", "bad_frame", "too_fast"]


# Those who read slowly


async def test_one_long_answer_is_not_too_much(
    opened: OpenGateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("saratoga_server.edge.gateway.WATCH_EVERY", 0.001)
    async with stranger(opened.url, "Anna") as anna:
        await anna.ask(Heartbeat)
        (session,) = opened.hall.sessions
        session.tell(Announcement(text="x" * 3_000_000))
        (long,) = [await anna.heard.next(Announcement, 0)]
        assert len(long.text) == 3_000_000
        assert opened.metrics.slow_clients == 0


# The end of the evening


async def test_everyone_hears_that_the_house_is_alive(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("saratoga_server.edge.gateway.ALIVE_EVERY", 0.01)
    async with (
        open_gateway() as opened,
        stranger(opened.url, "Anna", subprotocol=JSON) as anna,
        stranger(opened.url, "Bert") as bert,
    ):
        for each in (anna, bert):
            assert await each.heard.next(Alive, 0) == Alive(now=NOW)


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
    monkeypatch.setattr("saratoga_server.table.countdown.COUNTDOWN_MILLIS", 10)
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
