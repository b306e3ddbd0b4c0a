"""Draining: the order in which connections are closed, and how many at a time."""

import asyncio
from collections.abc import AsyncIterator
from typing import Literal

import pytest
from websockets.asyncio.client import connect

from kit.fake_transport import FakeOwner, open_connection
from kit.gateways import OpenGateway, open_gateway
from kit.player_sockets import SocketPlayer, connected_player
from saratoga_protocol.commands import Heartbeat
from saratoga_protocol.events import Done
from saratoga_protocol.refusals import RESTARTING
from saratoga_server.transport.connection import PlayerConnection
from saratoga_server.transport.drain import BATCH, LONGEST, PAUSE, batches, pauses

GOODBYE = (RESTARTING.code, RESTARTING.reason)


def connection(seat: str | None) -> PlayerConnection:
    found, _ = open_connection(FakeOwner())
    assert found.session is not None
    found.session.seat = seat
    return found


async def test_racers_leave_first_table_by_table_and_spectators_last() -> None:
    seats = [None, "waits-01", "races-02", "races-01", "races-02"]
    here = [connection(seat) for seat in seats]

    def races(each: PlayerConnection) -> bool:
        assert each.session is not None
        return (each.session.seat or "").startswith("races")

    (batch,) = batches(here, races)
    assert [here.index(each) for each in batch] == [3, 2, 4, 1, 0]


@pytest.mark.parametrize("count", [0, 1, BATCH, BATCH + 1, 95])
async def test_everybody_leaves_once(count: int) -> None:
    here = [connection(None) for _ in range(count)]
    found = batches(here, lambda each: False)
    assert [each for batch in found for each in batch] == here
    assert all(0 < len(batch) <= BATCH for batch in found)


def test_pauses_differ_and_their_mean_is_as_said() -> None:
    assert pauses(0) == []
    assert pauses(1) == [0.0]
    assert pauses(3, chance=lambda: 0.5) == [PAUSE, PAUSE, 0.0]
    assert pauses(2, chance=lambda: 0.0) == [PAUSE / 2, 0.0]
    assert len(set(pauses(50))) == 50


def test_many_are_closed_in_bounded_time() -> None:
    assert sum(pauses(100_000, chance=lambda: 1.0)) <= 1.5 * LONGEST


@pytest.fixture
async def opened() -> AsyncIterator[OpenGateway]:
    async with open_gateway() as gateway:
        yield gateway


class Held(asyncio.Event):
    """An event that holds a response back, and shows that the command waits for it."""

    def __init__(self) -> None:
        super().__init__()
        self.begun = asyncio.Event()

    async def wait(self) -> Literal[True]:
        self.begun.set()
        return await super().wait()


async def under_way(opened: OpenGateway, player: SocketPlayer) -> Held:
    """Hold back the response to the player's command 7 until the event is set."""
    held = opened.commands.waits[7] = Held()
    await say(player, 7)
    async with asyncio.timeout(10):
        await held.begun.wait()
    return held


async def say(player: SocketPlayer, number: int) -> None:
    await player.socket.send(player.received.codec.encode_command(Heartbeat(id=number)))


async def test_a_command_under_way_is_answered_before_the_close(opened: OpenGateway) -> None:
    async with (
        connected_player(opened.url, "Anna") as anna,
        connected_player(opened.url, "Bert") as bert,
    ):
        slow = await under_way(opened, anna)
        await bert.ask(Heartbeat)
        leaving = asyncio.create_task(opened.gateway.drain())
        assert await bert.closed() == GOODBYE
        assert not leaving.done()
        # commands that arrive now are for another node
        await say(anna, 8)
        slow.set()
        assert await anna.closed() == GOODBYE
        assert anna.received.all(Done) == [Done(re=7)]
        await leaving
    assert [command.id for command in opened.commands.answered] == [1, 7]


async def test_a_client_that_is_gone_before_its_answer_delays_no_other_client(
    opened: OpenGateway,
) -> None:
    async with connected_player(opened.url, "Anna") as anna:
        slow = await under_way(opened, anna)
        leaving = asyncio.create_task(opened.gateway.drain())
        anna.socket.transport.abort()
        slow.set()
        async with asyncio.timeout(10):
            await leaving


async def test_clients_are_served_until_they_are_closed_and_no_other_is_let_in(
    opened: OpenGateway,
) -> None:
    async with connected_player(opened.url, "Anna") as anna:
        await anna.ask(Heartbeat)
        opened.gateway.stop_listening()
        assert await anna.ask(Heartbeat) == Done(re=2)
        with pytest.raises(OSError, match="Connect call failed"):
            await connect(opened.url)


async def test_racers_are_closed_before_others(
    opened: OpenGateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("saratoga_server.transport.drain.BATCH", 1)
    went: list[str] = []
    async with (
        connected_player(opened.url, "Anna") as anna,
        connected_player(opened.url, "Bert") as bert,
    ):

        async def note(player: SocketPlayer) -> None:
            await player.closed()
            went.append(player.name)

        for each in (anna, bert):
            await each.ask(Heartbeat)
        racer = opened.commands.sessions[1]
        async with asyncio.TaskGroup() as group:
            group.create_task(note(anna))
            group.create_task(note(bert))
            await opened.gateway.drain(RESTARTING, lambda session: session is racer)
    assert went == ["Bert", "Anna"]


async def test_a_client_that_does_not_leave_is_cut(opened: OpenGateway) -> None:
    async with connected_player(opened.url, "Anna") as anna:
        slow = await under_way(opened, anna)
        leaving = asyncio.create_task(opened.gateway.drain())
        opened.gateway.cut()
        assert await anna.closed() == (1006, "")
        slow.set()
        async with asyncio.timeout(10):
            await leaving
