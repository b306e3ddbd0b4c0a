"""The greeting of a server on one WebSocket."""

import asyncio
from collections import deque

import pytest

from kit.scripted_server import CODE, NOON, TOKEN, snapshot, table
from saratoga_client.net.backoff import Backoff
from saratoga_client.net.greeting import SEAT_EXPIRED, Greeting
from saratoga_client.net.requests import Requests
from saratoga_client.net.websocket import UnusableConnection
from saratoga_protocol import commands, events
from saratoga_protocol.codec import CODECS, Frame
from saratoga_protocol.version import MSGPACK

CODEC = CODECS[MSGPACK]
HELLO = commands.Hello(id=0, token=TOKEN)
WELCOME = events.Welcome(
    re=0,
    player="p" * 16,
    name="Anna",
    bot=False,
    next_id=5,
    now=NOON,
    server="s",
    node="n",
    games=[],
)


class FakeSocket:
    """A socket whose server sends these events."""

    def __init__(self, *answers: events.AnyEvent) -> None:
        self._frames = deque(CODEC.encode_event(answer) for answer in answers)
        self.sent: list[Frame] = []

    @property
    def transport(self) -> asyncio.Transport:
        raise AssertionError("nothing aborts a greeting")

    async def send(self, message: Frame) -> None:
        self.sent.append(message)

    async def recv(self) -> Frame:
        return self._frames.popleft()


def open_requests() -> Requests:
    return Requests(Backoff(first=0.0, shortest=0.0), lambda command: None)


async def test_events_before_the_welcome_are_received_and_not_taken_for_it() -> None:
    requests = open_requests()
    early = events.TableChanged(table=table(), now=NOON)
    greeting = Greeting(FakeSocket(early, WELCOME), CODEC, requests)
    assert await greeting.say_hello(HELLO) == WELCOME
    assert await anext(requests.stream()) == early


async def test_another_answer_to_hello_makes_the_connection_unusable() -> None:
    greeting = Greeting(FakeSocket(events.Done(re=0)), CODEC, open_requests())
    with pytest.raises(UnusableConnection, match="Done instead of Welcome"):
        await greeting.say_hello(HELLO)


async def test_a_seat_that_is_gone_is_an_event_and_the_next_ids_are_the_servers() -> None:
    requests = open_requests()
    requests.subscriptions.command_answered(commands.JoinTable(id=1, table=CODE), snapshot(1))
    gone = events.Refused(re=5, code="not_seated", message="You have no seat there.")
    socket = FakeSocket(gone)
    await Greeting(socket, CODEC, requests).restore(WELCOME)
    assert socket.sent == [CODEC.encode_command(commands.Resume(id=5, table=CODE))]
    lost = events.SeatLost(table=CODE, reason=SEAT_EXPIRED)
    assert await anext(requests.stream()) == lost
