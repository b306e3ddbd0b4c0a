"""The response budget: long responses share a bounded number of bytes."""

import msgspec

from kit.gateways import OpenGateway, open_gateway
from kit.player_sockets import connected_player
from kit.raw_client import RawSocket, frame, raw_socket
from saratoga_protocol.commands import GetRecord, Heartbeat
from saratoga_protocol.events import Record, Refused
from saratoga_server.transport.response_budget import LONG, WAIT, ResponseBudget
from saratoga_server.transport.socket_options import SEND_BUFFER

RACE = "mint-otter-42/1"
LENGTH = 8 * SEND_BUFFER
"""The length in characters of a record, which exceeds the kernel buffer of a client that reads nothing."""


def test_long_answers_have_a_bound_together() -> None:
    budget = ResponseBudget(most=3 * LONG)
    assert budget.has_room(2 * LONG)
    assert not budget.has_room(2 * LONG)
    assert budget.has_room(LONG)  # short enough for every client
    budget.done(LONG)
    assert not budget.has_room(2 * LONG)
    budget.done(2 * LONG)
    assert budget.has_room(2 * LONG)


async def ask(socket: RawSocket) -> None:
    assert b" 101 " in await socket.shake_hands()
    await socket.say(frame(msgspec.msgpack.encode(GetRecord(id=1, race=RACE))))


def room_for_one_and_a_half(opened: OpenGateway) -> int:
    opened.commands.record = "x" * LENGTH
    opened.gateway.budget.left = LENGTH * 3 // 2
    return LENGTH * 3 // 2


async def test_while_one_record_waits_for_its_reader_another_is_not_sent() -> None:
    async with open_gateway() as opened, connected_player(opened.url, "Anna") as anna:
        left = room_for_one_and_a_half(opened)
        with raw_socket(opened.port) as socket:
            await ask(socket)
            assert await socket.read(1)
            refused = await anna.ask(GetRecord, race=RACE)
            assert isinstance(refused, Refused)
            assert (refused.code, refused.wait) == ("too_fast", 1000 * WAIT)
            # the client stops reading and is disconnected
            assert await socket.dropped()
            await opened.commands.next_ended()
        assert opened.gateway.budget.left == left
        record = await anna.ask(GetRecord, race=RACE)
        assert isinstance(record, Record)
        assert len(record.text) == LENGTH


async def test_a_client_that_reads_gets_one_record_after_the_other() -> None:
    async with open_gateway() as opened, connected_player(opened.url, "Anna") as anna:
        left = room_for_one_and_a_half(opened)
        for _ in range(4):
            assert isinstance(await anna.ask(GetRecord, race=RACE), Record)
        # later requests are answered after the long response
        await anna.ask(Heartbeat)
        assert opened.gateway.budget.left == left
