"""A connection that is not lost: hello, requests, events, ids and the server's time."""

import asyncio
import logging
from functools import partial
from typing import Any

import msgpack
import pytest

from kit.scripted_server import (
    CODE,
    NOON,
    PLAYER,
    RACE,
    TOKEN,
    ScriptedPeer,
    ScriptedServer,
    snapshot,
    table,
    welcome,
)
from saratoga_client.net.backoff import Backoff
from saratoga_client.net.connection import Connection, LinkState, Timing
from saratoga_client.net.errors import (
    CommandRefused,
    RequestTimedOut,
    UnexpectedAnswer,
    Unreachable,
)
from saratoga_protocol import commands, events
from saratoga_protocol.events import AnyEvent
from saratoga_protocol.version import JSON, MSGPACK

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


async def test_an_address_without_a_server_is_unreachable(server: ScriptedServer) -> None:
    await server.close()
    with pytest.raises(Unreachable):
        async with connection(server, timing=Timing(first_within=0.0)):
            pass


async def test_an_invalid_address_is_unreachable() -> None:
    with pytest.raises(Unreachable):
        async with Connection("saratoga.example", TOKEN):
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


async def test_each_answer_reaches_its_request(server: ScriptedServer) -> None:
    async with connection(server) as client:
        peer = await server.peer()
        first = asyncio.create_task(client.request(commands.ListTables))
        second = asyncio.create_task(client.request(DRAW))
        listed, moved = await peer.command(), await peer.command()
        await peer.send(made(moved.id), events.Tables(re=listed.id, tables=[]))
        assert await first == events.Tables(re=listed.id, tables=[])
        assert await second == made(moved.id)


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


async def test_other_events_come_in_order(server: ScriptedServer) -> None:
    async with connection(server) as client:
        peer = await server.peer()
        sent: list[AnyEvent] = [
            events.Announcement(text="one"),
            events.TableChanged(table=table(), now=NOON),
        ]
        await peer.send(*sent)
        received = client.events()
        assert [await anext(received), await anext(received)] == sent


async def test_a_snapshot_is_an_answer_and_an_event(server: ScriptedServer) -> None:
    async with connection(server) as client:
        peer = await server.peer()
        asking = asyncio.create_task(client.request(JOIN))
        answer = snapshot((await peer.command()).id)
        await peer.send(answer)
        assert await asking == answer
        assert await anext(client.events()) == answer
        assert client.seat == CODE


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
        asking = asyncio.create_task(client.request(commands.ListTables))
        command = await peer.command()
        await peer.send_frame(msgpack.packb({"type": "fireworks", "re": command.id}))
        with pytest.raises(UnexpectedAnswer):
            await asking


async def test_ask_raises_for_an_answer_of_another_kind(server: ScriptedServer) -> None:
    async with connection(server) as client:
        peer = await server.peer()
        asking = asyncio.create_task(client.ask(JOIN, events.Snapshot))
        await peer.send(events.Done(re=(await peer.command()).id))
        with pytest.raises(UnexpectedAnswer):
            await asking


async def test_a_request_without_an_answer_times_out(server: ScriptedServer) -> None:
    async with connection(server) as client:
        with pytest.raises(RequestTimedOut):
            await client.request(commands.ListTables, within=0.0)


async def test_a_command_over_the_size_limit_is_never_sent(server: ScriptedServer) -> None:
    async with connection(server) as client:
        with pytest.raises(ValueError, match="longer than 8192 bytes"):
            await client.request(partial(commands.ClaimName, name="x" * 9000))
        peer = await server.peer()
        asking = asyncio.create_task(client.request(commands.ListTables))
        assert isinstance(await peer.command(), commands.ListTables)
        asking.cancel()


# Ids


async def test_ids_continue_from_the_number_that_the_server_gives(server: ScriptedServer) -> None:
    server.greeting = partial(welcome, next_id=40)
    async with connection(server) as client:
        peer = await server.peer()
        asking = asyncio.create_task(client.request(JOIN))
        command = await peer.command()
        assert command.id == 40
        await peer.send(snapshot(command.id, next_id=70))
        await asking
        moving = asyncio.create_task(client.request(DRAW))
        assert (await peer.command()).id == 70
        moving.cancel()


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


async def test_a_refused_command_is_not_sent_again_after_a_later_one(
    server: ScriptedServer,
) -> None:
    async with connection(server) as client:
        peer = await server.peer()
        asking = asyncio.create_task(client.request(DRAW))
        first = await peer.command()
        later = asyncio.create_task(client.request(DRAW))
        await peer.command()
        await peer.send(
            events.Refused(re=first.id, code="store_unavailable", message="", retry=True)
        )
        with pytest.raises(CommandRefused):
            await asking
        later.cancel()


# The clock


async def test_the_welcome_sets_the_servers_time(server: ScriptedServer) -> None:
    async with connection(server) as client:
        # The scripted clock stands still, so the difference is the duration of the test.
        assert 0 <= client.now() - NOON < 10_000


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


async def test_heartbeats_measure_the_round_trip(server: ScriptedServer) -> None:
    async with connection(server, timing=Timing(heartbeat_every=0.0)) as client:
        # A heartbeat is sent only after the answer to the last one.
        for _ in range(3):
            await asyncio.wait_for(server.heartbeats.get(), 10)
        assert client.round_trip is not None
