"""A connection: hello, requests, events and ids; what is restored and sent again after a loss."""

import asyncio
import logging
from functools import partial
from typing import Any

import msgpack
import pytest

from kit.client_servers import (
    PLAYER,
    TOKEN,
    ScriptedPeer,
    ScriptedServer,
    snapshot,
    welcome,
    welcome_back,
)
from kit.session_states import CODE, RACE, START
from saratoga_client.net.connection import SEAT_EXPIRED, Connection, LinkState, Timing
from saratoga_client.net.errors import (
    ClientClosed,
    CommandRefused,
    RequestTimedOut,
    ServerClosed,
    UnexpectedAnswer,
    Unreachable,
)
from saratoga_client.net.timing import Backoff
from saratoga_protocol import commands, events
from saratoga_protocol.codec import JSON, MSGPACK
from saratoga_protocol.refusals import BANNED, RESTARTING, TAKEN_OVER, TOO_SLOW

AT_ONCE = Backoff(first=0.01, largest=0.02, shortest=0.0)
JOIN = partial(commands.JoinTable, table=CODE)
DRAW = partial(commands.MakeMove, race=RACE, after=0, move="draw")


def connection(server: ScriptedServer, **settings: Any) -> Connection:
    return Connection(server.url, TOKEN, backoff=AT_ONCE, **settings)


async def seated(client: Connection, peer: ScriptedPeer) -> None:
    """Take a seat at the table `CODE`, which later welcomes name, and read the snapshot."""
    peer.server.greeting = welcome_back
    joining = asyncio.create_task(client.request(JOIN))
    await peer.send(snapshot((await peer.command()).id))
    await joining
    await anext(client.events())


def made(re: int, repeat: bool = False) -> events.BoardChanged:
    board = events.BoardView(
        race=RACE,
        count=1,
        view=events.View(stock=31),
        banked=1,
        net=-45,
        state="racing",
        head="0" * 16,
    )
    return events.BoardChanged(re=re, board=board, place=1, entries=["10 1 draw"])


# Saying hello


@pytest.mark.parametrize("subprotocol", [MSGPACK, JSON])
async def test_a_connection_says_hello(server: ScriptedServer, subprotocol: str) -> None:
    async with connection(server, name="Otto", bot=True, subprotocol=subprotocol) as client:
        peer = await server.peer()
        assert peer.hello == commands.Hello(
            id=1, token=TOKEN, name="Otto", bot=True, client="saratoga"
        )
        assert client.welcome.player == PLAYER
        assert client.state is LinkState.CONNECTED


async def test_a_refused_hello_is_raised(server: ScriptedServer) -> None:
    server.greeting = lambda hello: events.Refused(re=hello.id, code="name_taken", message="Taken.")
    with pytest.raises(CommandRefused) as refused:
        async with connection(server, name="Otto"):
            pass
    assert (refused.value.code, refused.value.message, refused.value.retry) == (
        "name_taken",
        "Taken.",
        False,
    )


async def test_a_hello_refused_for_the_moment_is_sent_again(server: ScriptedServer) -> None:
    busy = [events.Refused(re=1, code="draining", message="", retry=True)]
    server.greeting = lambda hello: busy.pop() if busy else welcome(hello)
    async with connection(server) as client:
        assert client.welcome.player == PLAYER


async def test_another_answer_to_hello_makes_the_connection_unusable(
    server: ScriptedServer,
) -> None:
    server.greeting = lambda hello: events.Done(re=hello.id)
    with pytest.raises(Unreachable, match="Done instead of Welcome"):
        async with connection(server, timing=Timing(first_within=0.0)):
            pass


async def test_an_address_without_a_server_is_unreachable(server: ScriptedServer) -> None:
    await server.close()
    with pytest.raises(Unreachable):
        async with connection(server, timing=Timing(first_within=0.0)):
            pass


async def test_the_token_is_in_no_log(
    server: ScriptedServer, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    caplog.set_level(logging.INFO, logger="websockets.server")
    async with connection(server):
        peer = await server.peer()
        peer.cut()
        await server.peer()
    assert TOKEN not in caplog.text


# Requests and events


async def test_a_refusal_is_raised_with_the_current_board(server: ScriptedServer) -> None:
    async with connection(server) as client:
        peer = await server.peer()
        asking = asyncio.create_task(client.request(DRAW))
        command = await peer.command()
        board = made(command.id).board
        await peer.send(
            events.Refused(re=command.id, code="stale_move", message="Late.", board=board)
        )
        with pytest.raises(CommandRefused) as refused:
            await asking
        assert (refused.value.code, refused.value.board) == ("stale_move", board)


async def test_unknown_events_and_invalid_frames_are_ignored(server: ScriptedServer) -> None:
    async with connection(server) as client:
        peer = await server.peer()
        await peer.send_frame(msgpack.packb({"type": "fireworks", "colour": "red"}))
        await peer.send_frame(b"\xc1")
        await peer.send(events.Announcement(text="still here"))
        assert await anext(client.events()) == events.Announcement(text="still here")


async def test_an_unknown_answer_is_an_error(server: ScriptedServer) -> None:
    async with connection(server) as client:
        peer = await server.peer()
        asking = asyncio.create_task(client.ask(commands.ListTables, events.Tables))
        command = await peer.command()
        await peer.send_frame(msgpack.packb({"type": "fireworks", "re": command.id}))
        with pytest.raises(UnexpectedAnswer):
            await asking


async def test_a_request_without_an_answer_times_out(server: ScriptedServer) -> None:
    async with connection(server) as client:
        with pytest.raises(RequestTimedOut):
            await client.request(commands.ListTables, within=0.0)


# Ids


async def test_a_command_refused_for_the_moment_is_sent_again_under_its_id(
    server: ScriptedServer,
) -> None:
    async with connection(server) as client:
        peer = await server.peer()
        asking = asyncio.create_task(client.request(DRAW))
        first = await peer.command()
        await peer.send(
            events.Refused(re=first.id, code="store_unavailable", message="", retry=True)
        )
        assert await peer.command() == first
        await peer.send(made(first.id))
        assert await asking == made(first.id)


# The clock


async def test_the_welcome_sets_the_servers_time(server: ScriptedServer) -> None:
    async with connection(server) as client:
        # The scripted clock stands still, so the difference is the duration of the test.
        assert 0 <= client.now() - START < 10_000


async def test_a_heartbeat_shows_the_players_activity_unless_a_move_did(
    server: ScriptedServer,
) -> None:
    async with connection(server, timing=Timing(heartbeat_every=0.0)) as client:

        async def is_active() -> bool:
            return (await asyncio.wait_for(server.heartbeats.get(), 10)).active

        assert not await is_active()
        client.show_activity()
        while not await is_active():
            continue
        peer = await server.peer()
        client.show_activity()
        moving = asyncio.create_task(client.request(DRAW))
        await peer.command()
        moving.cancel()
        client.show_activity()
        for _ in range(50):
            await server.heartbeats.get()
        assert not await is_active(), "a move was sent less than 15 s ago"


async def test_a_seat_is_restored_and_its_snapshot_is_an_event(server: ScriptedServer) -> None:
    async with connection(server) as client:
        peer = await server.peer()
        await seated(client, peer)
        peer.cut()
        back = await server.peer()
        join = await back.command()
        assert join == commands.JoinTable(id=join.id, table=CODE)
        await back.send(events.Announcement(text="before"))
        await back.send(snapshot(join.id))
        assert await anext(client.events()) == events.Announcement(text="before")
        assert await anext(client.events()) == snapshot(join.id)


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
        await back.send(made(lost.id))
        assert await moving == made(lost.id)


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
    client = connection(server)
    client.subscribe(states.append)
    async with client:
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


async def test_a_seat_that_cannot_be_restored_is_reported_as_lost(server: ScriptedServer) -> None:
    async with connection(server) as client:
        peer = await server.peer()
        await seated(client, peer)
        peer.cut()
        back = await server.peer()
        join = await back.command()
        await back.send(events.Refused(re=join.id, code="table_closed", message="Closed."))
        assert await anext(client.events()) == events.SeatLost(table=CODE, reason="Closed.")
        assert client.seat is None


async def test_a_seat_that_expired_is_reported_as_lost(server: ScriptedServer) -> None:
    async with connection(server) as client:
        peer = await server.peer()
        await seated(client, peer)
        server.greeting = welcome
        peer.cut()
        await server.peer()
        assert await anext(client.events()) == events.SeatLost(table=CODE, reason=SEAT_EXPIRED)


@pytest.mark.parametrize("is_seated", [True, False])
async def test_a_seat_is_restored_before_it_is_given_up_again(
    server: ScriptedServer, is_seated: bool
) -> None:
    async with connection(server) as client:
        peer = await server.peer()
        await seated(client, peer)
        leaving = asyncio.create_task(client.request(partial(commands.LeaveTable, table=CODE)))
        leave = await peer.command()
        if not is_seated:
            server.greeting = welcome
        peer.cut()
        back = await server.peer()
        if is_seated:
            await back.send(snapshot((await back.command()).id))
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


async def test_an_event_over_the_size_limit_ends_the_connection(
    server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("saratoga_client.net.websocket.LARGEST_EVENT", 4096)
    async with connection(server) as client:
        peer = await server.peer()
        asking = asyncio.create_task(client.request(partial(commands.GetRecord, race=RACE)))
        command = await peer.command()
        await peer.send(events.Record(re=command.id, race=RACE, text="x" * 5000))
        with pytest.raises(UnexpectedAnswer, match="an event of more than"):
            await asking
        assert client.state is LinkState.CLOSED


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
