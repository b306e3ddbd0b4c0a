"""A lost connection: the state that is restored, the commands sent again, and errors that end it."""

import asyncio
from functools import partial
from typing import Any

import pytest

from kit.scripted_server import (
    CODE,
    RACE,
    TOKEN,
    ScriptedPeer,
    ScriptedServer,
    snapshot,
    welcome,
)
from saratoga_client.net.backoff import Backoff
from saratoga_client.net.connection import Connection, LinkState, Timing
from saratoga_client.net.errors import (
    ClientClosed,
    ServerClosed,
    UnexpectedAnswer,
)
from saratoga_protocol import commands, events
from saratoga_protocol.refusals import BANNED, RESTARTING, TAKEN_OVER, TOO_SLOW

AT_ONCE = Backoff(first=0.01, largest=0.02, shortest=0.0)
JOIN = partial(commands.JoinTable, table=CODE)
DRAW = partial(commands.MakeMove, race=RACE, after=0, move="draw")


def connection(server: ScriptedServer, **settings: Any) -> Connection:
    return Connection(server.url, TOKEN, backoff=AT_ONCE, **settings)


async def seated(client: Connection, peer: ScriptedPeer) -> None:
    """Take a seat at the table `CODE` and read the snapshot."""
    joining = asyncio.create_task(client.request(JOIN))
    await peer.send(snapshot((await peer.command()).id))
    await joining
    await anext(client.events())


def made(re: int, repeat: bool = False) -> events.MoveMade:
    board = events.BoardView(
        race=RACE,
        count=1,
        view=events.View(stock=31),
        banked=1,
        net=-45,
        state="racing",
    )
    return events.MoveMade(re=re, board=board, at=10, number=1, repeat=repeat)


async def test_a_seat_is_resumed_and_its_snapshot_is_an_event(server: ScriptedServer) -> None:
    async with connection(server) as client:
        peer = await server.peer()
        await seated(client, peer)
        peer.cut()
        back = await server.peer()
        resume = await back.command()
        assert resume == commands.Resume(id=resume.id, table=CODE)
        await back.send(snapshot(resume.id))
        assert await anext(client.events()) == snapshot(resume.id)


async def test_an_unanswered_command_is_sent_again_under_its_id(server: ScriptedServer) -> None:
    async with connection(server) as client:
        peer = await server.peer()
        await seated(client, peer)
        moving = asyncio.create_task(client.request(DRAW))
        lost = await peer.command()
        peer.cut()
        back = await server.peer()
        await back.send(snapshot((await back.command()).id))
        assert await back.command() == lost
        await back.send(made(lost.id, repeat=True))
        assert await moving == made(lost.id, repeat=True)


async def test_a_command_sent_again_after_reconnecting_may_be_refused_and_retried(
    server: ScriptedServer,
) -> None:
    async with connection(server) as client:
        peer = await server.peer()
        await seated(client, peer)
        moving = asyncio.create_task(client.request(DRAW))
        move = await peer.command()
        peer.cut()
        back = await server.peer()
        await back.send(snapshot((await back.command()).id))
        assert await back.command() == move
        await back.send(
            events.Refused(re=move.id, code="store_unavailable", message="", retry=True)
        )
        assert await back.command() == move
        await back.send(made(move.id))
        assert await moving == made(move.id)


async def test_a_request_made_while_the_server_is_down_is_sent_when_it_is_back(
    server: ScriptedServer,
) -> None:
    async with connection(server) as client:
        peer = await server.peer()
        await server.close()
        await peer.gone.wait()
        asking = asyncio.create_task(client.request(commands.ListTables))
        await asyncio.sleep(0)
        await server.open()
        back = await server.peer()
        command = await back.command()
        await back.send(events.Tables(re=command.id, tables=[]))
        assert await asking == events.Tables(re=command.id, tables=[])


async def test_an_observer_gets_every_state_of_the_link(server: ScriptedServer) -> None:
    states: list[LinkState] = []
    async with connection(server, on_state=states.append) as client:
        peer = await server.peer()
        await peer.close(RESTARTING.code, RESTARTING.reason)
        back = await server.peer()
        await back.send(events.Announcement(text="here again"))
        await anext(client.events())
    assert states == [
        LinkState.CONNECTED,
        LinkState.RECONNECTING,
        LinkState.CONNECTED,
        LinkState.CLOSED,
    ]


@pytest.mark.parametrize(
    ("code", "failures"), [(RESTARTING.code, [1, 1, 1]), (TOO_SLOW.code, [1, 2, 3])]
)
async def test_requests_to_reconnect_do_not_lengthen_the_wait(
    server: ScriptedServer, monkeypatch: pytest.MonkeyPatch, code: int, failures: list[int]
) -> None:
    counted: list[int] = []

    def wait(backoff: Backoff, after: int) -> float:
        counted.append(after)
        return 0.0

    monkeypatch.setattr(Backoff, "wait", wait)
    server.greeting = lambda hello: events.Refused(re=1, code="draining", message="", retry=True)
    async with asyncio.TaskGroup() as group:
        client = connection(server, timing=Timing(steady_after=60.0))
        entering = group.create_task(client.__aenter__())
        await server.peer()
        server.greeting = welcome
        await entering
        for _ in failures[1:]:
            await (await server.peer()).close(code)
        await server.peer()
        await client.close()
    assert counted == failures


async def test_a_seat_that_cannot_be_resumed_is_reported_as_lost(server: ScriptedServer) -> None:
    async with connection(server) as client:
        peer = await server.peer()
        await seated(client, peer)
        peer.cut()
        back = await server.peer()
        resume = await back.command()
        await back.send(events.Refused(re=resume.id, code="table_closed", message="Closed."))
        assert await anext(client.events()) == events.SeatLost(table=CODE, reason="Closed.")
        assert client.seat is None


async def test_a_seat_is_not_resumed_while_the_player_leaves(server: ScriptedServer) -> None:
    async with connection(server) as client:
        peer = await server.peer()
        await seated(client, peer)
        leaving = asyncio.create_task(client.request(partial(commands.LeaveTable, table=CODE)))
        leave = await peer.command()
        peer.cut()
        back = await server.peer()
        assert await back.command() == leave
        await back.send(events.Done(re=leave.id))
        await leaving


async def test_a_silent_connection_is_replaced(server: ScriptedServer) -> None:
    server.answers_heartbeats = False
    timing = Timing(silence=0.05, heartbeat_every=0.01)
    async with connection(server, timing=timing):
        peer = await server.peer()
        await peer.gone.wait()
        await server.peer()


@pytest.mark.parametrize("close", [TAKEN_OVER, BANNED])
async def test_a_final_close_code_ends_the_connection(server: ScriptedServer, close: Any) -> None:
    async with connection(server) as client:
        peer = await server.peer()
        moving = asyncio.create_task(client.request(DRAW))
        await peer.command()
        await peer.close(close.code, close.reason)
        for waiting in (moving, anext(client.events())):
            with pytest.raises(ServerClosed) as closed:
                await waiting
            assert (closed.value.code, closed.value.reason) == (close.code, close.reason)
        assert client.state is LinkState.CLOSED
        with pytest.raises(ServerClosed):
            await client.request(DRAW)
    assert server.peers.empty()


async def test_a_record_over_the_size_limit_is_not_requested_again(
    server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("saratoga_client.net.websocket.LARGEST_EVENT", 4096)
    async with connection(server) as client:
        peer = await server.peer()
        asking = asyncio.create_task(
            client.ask(partial(commands.GetRecord, race=RACE), events.Record)
        )
        moving = asyncio.create_task(client.request(DRAW))
        command = await peer.command()
        await peer.send(events.Record(re=command.id, race=RACE, text="x" * 5000))
        with pytest.raises(UnexpectedAnswer, match="a record of more than"):
            await asking
        # Only the other unanswered command is sent again.
        back = await server.peer()
        again = await back.command()
        assert isinstance(again, commands.MakeMove)
        await back.send(events.Done(re=again.id))
        await moving


async def test_after_close_there_are_no_more_answers_or_events(server: ScriptedServer) -> None:
    async with connection(server) as client:
        peer = await server.peer()
        moving = asyncio.create_task(client.request(DRAW))
        await peer.command()
        await client.close()
        with pytest.raises(ClientClosed):
            await moving
        assert [event async for event in client.events()] == []
        await peer.gone.wait()
