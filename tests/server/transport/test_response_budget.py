"""Long answers: only so many bytes of them are on their way at once, and every byte is given back."""

import msgspec

from kit.hall import OpenGateway, open_gateway
from kit.raw_sockets import RawSocket, frame, raw_socket
from kit.sockets import stranger
from saratoga_protocol.commands import GetRecord, Heartbeat
from saratoga_protocol.events import Record, Refused
from saratoga_server.transport.response_budget import LONG, WAIT, ResponseBudget
from saratoga_server.transport.socket_options import SEND_BUFFER

RACE = "mint-otter-42/1"
LENGTH = 8 * SEND_BUFFER
"""Of a record: more than the kernel takes for who reads nothing."""


def test_long_answers_have_a_bound_together() -> None:
    long = ResponseBudget(most=3 * LONG)
    assert long.has_room(2 * LONG)
    assert not long.has_room(2 * LONG)
    assert long.has_room(LONG)  # short enough for anybody
    long.done(LONG)
    assert not long.has_room(2 * LONG)
    long.done(2 * LONG)
    assert long.has_room(2 * LONG)


async def ask(socket: RawSocket) -> None:
    assert b" 101 " in await socket.shake_hands()
    await socket.say(frame(msgspec.msgpack.encode(GetRecord(id=1, race=RACE))))


def room_for_one_and_a_half(opened: OpenGateway) -> int:
    opened.hall.record = "x" * LENGTH
    opened.gateway._long._left = LENGTH * 3 // 2
    return LENGTH * 3 // 2


async def test_while_one_record_waits_for_its_reader_another_is_not_sent() -> None:
    async with open_gateway() as opened, stranger(opened.url, "Anna") as anna:
        live_table = room_for_one_and_a_half(opened)
        with raw_socket(int(opened.url.rpartition(":")[2])) as socket:
            await ask(socket)
            assert await socket.read(1)
            no = await anna.ask(GetRecord, race=RACE)
            assert isinstance(no, Refused)
            assert (no.code, no.wait) == ("too_fast", 1000 * WAIT)
            # it does not read on, and is let go of
            assert await socket.dropped()
            await opened.hall.sees_out()
        assert opened.gateway._long._left == live_table
        record = await anna.ask(GetRecord, race=RACE)
        assert isinstance(record, Record)
        assert len(record.text) == LENGTH


async def test_whoever_reads_gets_one_record_after_the_other() -> None:
    async with open_gateway() as opened, stranger(opened.url, "Anna") as anna:
        live_table = room_for_one_and_a_half(opened)
        for _ in range(4):
            assert isinstance(await anna.ask(GetRecord, race=RACE), Record)
        # what is asked after it is answered when the last is done with
        await anna.ask(Heartbeat)
        assert opened.gateway._long._left == live_table
