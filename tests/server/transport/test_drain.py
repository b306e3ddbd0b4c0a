"""Who leaves when a node stops, in which order, and how much at once."""

import asyncio
from collections.abc import AsyncIterator
from typing import Literal

import pytest
from websockets.asyncio.client import connect

from kit.hall import OpenGateway, open_gateway
from kit.sockets import GuestOnTheWire, stranger
from saratoga_protocol.codec import CODECS
from saratoga_protocol.commands import Heartbeat
from saratoga_protocol.events import Done
from saratoga_protocol.refusals import RESTARTING
from saratoga_protocol.version import MSGPACK
from saratoga_server.live.session import Session
from saratoga_server.transport.drain import LONGEST, PAUSE, SLICE, pauses, slices

GOODBYE = (RESTARTING.code, RESTARTING.reason)


class NoLine:
    is_open = True

    def send(self, frame: bytes | str) -> None: ...

    def close(self, code: object) -> None: ...


def session(number: int, seat: str | None) -> Session:
    return Session(connection=NoLine(), codec=CODECS[MSGPACK], address="", number=number, seat=seat)


def test_racers_go_first_table_by_table_and_onlookers_last() -> None:
    here = [
        session(1, None),
        session(2, "waits-01"),
        session(3, "races-02"),
        session(4, "races-01"),
        session(5, "races-02"),
    ]
    (party,) = slices(here, lambda each: (each.seat or "").startswith("races"))
    assert [each.number for each in party] == [4, 3, 5, 2, 1]


@pytest.mark.parametrize("count", [0, 1, SLICE, SLICE + 1, 95])
def test_everybody_goes_once(count: int) -> None:
    here = [session(number, None) for number in range(count)]
    parties = slices(here, lambda each: False)
    assert sorted(each.number for party in parties for each in party) == list(range(count))
    assert all(0 < len(party) <= SLICE for party in parties)


def test_pauses_differ_and_their_mean_is_as_said() -> None:
    assert pauses(0) == []
    assert pauses(1) == [0.0]
    assert pauses(3, chance=lambda: 0.5) == [PAUSE, PAUSE, 0.0]
    assert pauses(2, chance=lambda: 0.0) == [PAUSE / 2, 0.0]
    assert len(set(pauses(50))) == 50


def test_many_are_seen_out_in_bounded_time() -> None:
    assert sum(pauses(100_000, chance=lambda: 1.0)) <= 1.5 * LONGEST


@pytest.fixture
async def opened() -> AsyncIterator[OpenGateway]:
    async with open_gateway() as gateway:
        yield gateway


class Held(asyncio.Event):
    """Lets a command be answered once it is set, and tells when that is waited for."""

    def __init__(self) -> None:
        super().__init__()
        self.begun = asyncio.Event()

    async def wait(self) -> Literal[True]:
        self.begun.set()
        return await super().wait()


async def under_way(opened: OpenGateway, guest: GuestOnTheWire) -> Held:
    """Have a command of the guest's, number 7, be carried out until further notice."""
    held = opened.hall.waits[7] = Held()
    await say(guest, 7)
    async with asyncio.timeout(10):
        await held.begun.wait()
    return held


async def say(guest: GuestOnTheWire, number: int) -> None:
    await guest.socket.send(guest.heard.codec.encode_command(Heartbeat(id=number)))


async def test_a_command_under_way_is_answered_before_the_goodbye(opened: OpenGateway) -> None:
    async with stranger(opened.url, "Anna") as anna, stranger(opened.url, "Bert") as bert:
        slow = await under_way(opened, anna)
        await bert.ask(Heartbeat)
        leaving = asyncio.create_task(opened.gateway.see_out())
        assert await bert.sent_away() == GOODBYE
        assert not leaving.done()
        # what comes now is for another node
        await say(anna, 8)
        slow.set()
        assert await anna.sent_away() == GOODBYE
        assert anna.heard.all(Done) == [Done(re=7)]
        await leaving
    assert [command.id for command in opened.hall.answered] == [1, 7]


async def test_who_hangs_up_while_waiting_for_an_answer_holds_nobody_up(
    opened: OpenGateway,
) -> None:
    async with stranger(opened.url, "Anna") as anna:
        slow = await under_way(opened, anna)
        leaving = asyncio.create_task(opened.gateway.see_out())
        anna.socket.transport.abort()
        slow.set()
        async with asyncio.timeout(10):
            await leaving


async def test_who_is_here_is_served_until_it_is_sent_away_and_nobody_else_comes_in(
    opened: OpenGateway,
) -> None:
    async with stranger(opened.url, "Anna") as anna:
        await anna.ask(Heartbeat)
        opened.gateway.stop_listening()
        assert await anna.ask(Heartbeat) == Done(re=2)
        with pytest.raises(OSError, match="Connect call failed"):
            await connect(opened.url)


async def test_racers_are_sent_away_before_the_others(
    opened: OpenGateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("saratoga_server.transport.drain.SLICE", 1)
    went: list[str] = []
    async with stranger(opened.url, "Anna") as anna, stranger(opened.url, "Bert") as bert:

        async def note(guest: GuestOnTheWire) -> None:
            await guest.sent_away()
            went.append(guest.name)

        for each in (anna, bert):
            await each.ask(Heartbeat)
        racer = opened.hall.sessions[1]
        async with asyncio.TaskGroup() as group:
            group.create_task(note(anna))
            group.create_task(note(bert))
            await opened.gateway.see_out(RESTARTING, lambda session: session is racer)
    assert went == ["Bert", "Anna"]


async def test_who_does_not_go_is_cut(opened: OpenGateway) -> None:
    async with stranger(opened.url, "Anna") as anna:
        slow = await under_way(opened, anna)
        leaving = asyncio.create_task(opened.gateway.see_out())
        opened.gateway.cut()
        assert await anna.sent_away() == (1006, "")
        slow.set()
        async with asyncio.timeout(10):
            await leaving
