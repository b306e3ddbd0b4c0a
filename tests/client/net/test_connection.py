import asyncio
import logging
from collections.abc import AsyncIterator
from functools import partial
from typing import Any

import msgpack
import pytest

from kit.scripted_house import (
    CODE,
    NOON,
    PLAYER,
    RACE,
    TOKEN,
    ScriptedHouse,
    Visit,
    scripted_house,
    snapshot,
    table,
    welcome,
)
from saratoga_client.net.backoff import Backoff
from saratoga_client.net.connection import Connection, LinkState, Timing
from saratoga_client.net.errors import (
    ClientClosed,
    CommandRefused,
    RequestTimedOut,
    ServerClosed,
    UnexpectedAnswer,
    Unreachable,
)
from saratoga_protocol import commands, events
from saratoga_protocol.events import AnyEvent
from saratoga_protocol.refusals import BANNED, RESTARTING, TAKEN_OVER, TOO_SLOW
from saratoga_protocol.version import JSON, MSGPACK

AT_ONCE = Backoff(first=0.01, largest=0.02, shortest=0.0)
JOIN = partial(commands.JoinTable, table=CODE)
DRAW = partial(commands.MakeMove, race=RACE, after=0, move="draw")


@pytest.fixture
async def house() -> AsyncIterator[ScriptedHouse]:
    async with scripted_house() as running:
        yield running


def connection(house: ScriptedHouse, **settings: Any) -> Connection:
    return Connection(house.url, TOKEN, backoff=AT_ONCE, **settings)


async def seated(client: Connection, visit: Visit) -> None:
    """Sit down at the table `CODE`, and read the snapshot."""
    joining = asyncio.create_task(client.request(JOIN))
    await visit.say(snapshot((await visit.command()).id))
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
    return events.MoveMade(re=re, board=board, at=10, repeat=repeat)


# Saying hello


@pytest.mark.parametrize("subprotocol", [MSGPACK, JSON])
async def test_a_connection_says_hello(house: ScriptedHouse, subprotocol: str) -> None:
    async with connection(house, name="Otto", bot=True, subprotocol=subprotocol) as client:
        visit = await house.visit()
        assert visit.hello == commands.Hello(
            id=1, token=TOKEN, name="Otto", bot=True, client="saratoga"
        )
        assert client.welcome.player == PLAYER
        assert client.state is LinkState.CONNECTED


async def test_a_refused_hello_is_raised(house: ScriptedHouse) -> None:
    house.greeting = lambda hello: events.Refused(re=hello.id, code="name_taken", message="Taken.")
    with pytest.raises(CommandRefused) as no:
        async with connection(house, name="Otto"):
            pass
    assert (no.value.code, no.value.message, no.value.retry) == ("name_taken", "Taken.", False)


async def test_a_house_that_is_busy_is_greeted_again(house: ScriptedHouse) -> None:
    busy = [events.Refused(re=1, code="draining", message="", retry=True)]
    house.greeting = lambda hello: busy.pop() if busy else welcome(hello)
    async with connection(house) as client:
        assert client.welcome.player == PLAYER


async def test_nobody_at_the_address_is_unreachable(house: ScriptedHouse) -> None:
    await house.close()
    with pytest.raises(Unreachable):
        async with connection(house, timing=Timing(first_within=0.0)):
            pass


async def test_an_address_that_is_none_is_unreachable() -> None:
    with pytest.raises(Unreachable):
        async with Connection("saratoga.example", TOKEN):
            pass


async def test_the_token_is_in_no_log(
    house: ScriptedHouse, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    caplog.set_level(logging.INFO, logger="websockets.server")
    async with connection(house):
        visit = await house.visit()
        visit.cut()
        await house.visit()
    assert TOKEN not in caplog.text


# Asking and hearing


async def test_an_answer_comes_to_who_asked(house: ScriptedHouse) -> None:
    async with connection(house) as client:
        visit = await house.visit()
        first = asyncio.create_task(client.request(commands.ListTables))
        second = asyncio.create_task(client.request(DRAW))
        listed, moved = await visit.command(), await visit.command()
        await visit.say(made(moved.id), events.Tables(re=listed.id, tables=[]))
        assert await first == events.Tables(re=listed.id, tables=[])
        assert await second == made(moved.id)


async def test_a_refusal_is_raised_with_the_present_board(house: ScriptedHouse) -> None:
    async with connection(house) as client:
        visit = await house.visit()
        asking = asyncio.create_task(client.request(DRAW))
        command = await visit.command()
        board = made(command.id).board
        await visit.say(
            events.Refused(re=command.id, code="stale_move", message="Late.", board=board)
        )
        with pytest.raises(CommandRefused) as no:
            await asking
        assert (no.value.code, no.value.board) == ("stale_move", board)


async def test_unasked_events_come_in_order(house: ScriptedHouse) -> None:
    async with connection(house) as client:
        visit = await house.visit()
        told: list[AnyEvent] = [
            events.Announcement(text="one"),
            events.TableChanged(table=table(), now=NOON),
        ]
        await visit.say(*told)
        heard = client.events()
        assert [await anext(heard), await anext(heard)] == told


async def test_a_snapshot_comes_to_who_asked_and_among_the_events(house: ScriptedHouse) -> None:
    async with connection(house) as client:
        visit = await house.visit()
        asking = asyncio.create_task(client.request(JOIN))
        answer = snapshot((await visit.command()).id)
        await visit.say(answer)
        assert await asking == answer
        assert await anext(client.events()) == answer
        assert client.seat == CODE


async def test_events_of_another_age_are_passed_over(house: ScriptedHouse) -> None:
    async with connection(house) as client:
        visit = await house.visit()
        await visit.say_frame(msgpack.packb({"type": "fireworks", "colour": "red"}))
        await visit.say_frame(b"\xc1")
        await visit.say(events.Announcement(text="still here"))
        assert await anext(client.events()) == events.Announcement(text="still here")


async def test_an_answer_of_another_age_is_told_to_who_asked(house: ScriptedHouse) -> None:
    async with connection(house) as client:
        visit = await house.visit()
        asking = asyncio.create_task(client.request(commands.ListTables))
        command = await visit.command()
        await visit.say_frame(msgpack.packb({"type": "fireworks", "re": command.id}))
        with pytest.raises(UnexpectedAnswer):
            await asking


async def test_ask_wants_the_kind_of_answer_that_was_named(house: ScriptedHouse) -> None:
    async with connection(house) as client:
        visit = await house.visit()
        asking = asyncio.create_task(client.ask(JOIN, events.Snapshot))
        await visit.say(events.Done(re=(await visit.command()).id))
        with pytest.raises(UnexpectedAnswer):
            await asking


async def test_who_waits_too_long_is_told(house: ScriptedHouse) -> None:
    async with connection(house) as client:
        with pytest.raises(RequestTimedOut):
            await client.request(commands.ListTables, within=0.0)


async def test_a_command_too_long_for_a_frame_is_never_sent(house: ScriptedHouse) -> None:
    async with connection(house) as client:
        with pytest.raises(ValueError, match="longer than 8192 bytes"):
            await client.request(partial(commands.ClaimName, name="x" * 9000))
        visit = await house.visit()
        asking = asyncio.create_task(client.request(commands.ListTables))
        assert isinstance(await visit.command(), commands.ListTables)
        asking.cancel()


# Ids


async def test_ids_go_on_where_the_house_says(house: ScriptedHouse) -> None:
    house.greeting = partial(welcome, next_id=40)
    async with connection(house) as client:
        visit = await house.visit()
        asking = asyncio.create_task(client.request(JOIN))
        command = await visit.command()
        assert command.id == 40
        await visit.say(snapshot(command.id, next_id=70))
        await asking
        moving = asyncio.create_task(client.request(DRAW))
        assert (await visit.command()).id == 70
        moving.cancel()


async def test_a_command_refused_for_the_moment_is_sent_again_under_its_id(
    house: ScriptedHouse,
) -> None:
    async with connection(house) as client:
        visit = await house.visit()
        asking = asyncio.create_task(client.request(DRAW))
        first = await visit.command()
        await visit.say(
            events.Refused(re=first.id, code="store_unavailable", message="", retry=True)
        )
        assert await visit.command() == first
        await visit.say(made(first.id))
        assert await asking == made(first.id)


async def test_a_command_is_not_sent_again_behind_a_later_one(house: ScriptedHouse) -> None:
    async with connection(house) as client:
        visit = await house.visit()
        asking = asyncio.create_task(client.request(DRAW))
        first = await visit.command()
        later = asyncio.create_task(client.request(DRAW))
        await visit.command()
        await visit.say(
            events.Refused(re=first.id, code="store_unavailable", message="", retry=True)
        )
        with pytest.raises(CommandRefused):
            await asking
        later.cancel()


# Coming back


async def test_a_seat_is_resumed_and_its_snapshot_is_an_event(house: ScriptedHouse) -> None:
    async with connection(house) as client:
        visit = await house.visit()
        await seated(client, visit)
        visit.cut()
        back = await house.visit()
        resume = await back.command()
        assert resume == commands.Resume(id=resume.id, table=CODE)
        await back.say(snapshot(resume.id))
        assert await anext(client.events()) == snapshot(resume.id)


async def test_a_command_without_an_answer_is_sent_again_under_its_id(house: ScriptedHouse) -> None:
    async with connection(house) as client:
        visit = await house.visit()
        await seated(client, visit)
        moving = asyncio.create_task(client.request(DRAW))
        lost = await visit.command()
        visit.cut()
        back = await house.visit()
        await back.say(snapshot((await back.command()).id))
        assert await back.command() == lost
        await back.say(made(lost.id, repeat=True))
        assert await moving == made(lost.id, repeat=True)


async def test_a_command_from_before_the_connection_was_lost_is_sent_again_after_a_refusal(
    house: ScriptedHouse,
) -> None:
    async with connection(house) as client:
        visit = await house.visit()
        await seated(client, visit)
        moving = asyncio.create_task(client.request(DRAW))
        move = await visit.command()
        visit.cut()
        back = await house.visit()
        await back.say(snapshot((await back.command()).id))
        assert await back.command() == move
        await back.say(events.Refused(re=move.id, code="store_unavailable", message="", retry=True))
        assert await back.command() == move
        await back.say(made(move.id))
        assert await moving == made(move.id)


async def test_what_is_asked_while_the_house_is_away_is_asked_when_it_is_back(
    house: ScriptedHouse,
) -> None:
    async with connection(house) as client:
        visit = await house.visit()
        await house.close()
        await visit.gone.wait()
        asking = asyncio.create_task(client.request(commands.ListTables))
        await asyncio.sleep(0)
        await house.open()
        back = await house.visit()
        command = await back.command()
        await back.say(events.Tables(re=command.id, tables=[]))
        assert await asking == events.Tables(re=command.id, tables=[])


async def test_whoever_watches_is_told_how_things_stand(house: ScriptedHouse) -> None:
    states: list[LinkState] = []
    async with connection(house, on_state=states.append) as client:
        visit = await house.visit()
        await visit.hang_up(RESTARTING.code, RESTARTING.reason)
        back = await house.visit()
        await back.say(events.Announcement(text="here again"))
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
async def test_who_is_sent_from_node_to_node_does_not_wait_longer_each_time(
    house: ScriptedHouse, monkeypatch: pytest.MonkeyPatch, code: int, failures: list[int]
) -> None:
    counted: list[int] = []

    def wait(backoff: Backoff, after: int) -> float:
        counted.append(after)
        return 0.0

    monkeypatch.setattr(Backoff, "wait", wait)
    # the first connection held long enough to be a good one
    async with connection(house, timing=Timing(steady_after=0.0)) as client:
        await (await house.visit()).hang_up(code)
        visit = await house.visit()
        client._timing = Timing(steady_after=60.0)
        for _ in range(2):
            await visit.hang_up(code)
            visit = await house.visit()
    assert counted == failures


async def test_a_seat_that_is_gone_is_told_as_lost(house: ScriptedHouse) -> None:
    async with connection(house) as client:
        visit = await house.visit()
        await seated(client, visit)
        visit.cut()
        back = await house.visit()
        resume = await back.command()
        await back.say(events.Refused(re=resume.id, code="table_closed", message="Closed."))
        assert await anext(client.events()) == events.SeatLost(table=CODE, reason="Closed.")
        assert client.seat is None


async def test_a_seat_is_not_resumed_on_the_way_out(house: ScriptedHouse) -> None:
    async with connection(house) as client:
        visit = await house.visit()
        await seated(client, visit)
        leaving = asyncio.create_task(client.request(partial(commands.LeaveTable, table=CODE)))
        leave = await visit.command()
        visit.cut()
        back = await house.visit()
        assert await back.command() == leave
        await back.say(events.Done(re=leave.id))
        await leaving


async def test_a_house_that_says_nothing_is_left_and_called_again(house: ScriptedHouse) -> None:
    house.answers_heartbeats = False
    timing = Timing(silence=0.05, heartbeat_every=0.01)
    async with connection(house, timing=timing):
        visit = await house.visit()
        await visit.gone.wait()
        await house.visit()


@pytest.mark.parametrize("close", [TAKEN_OVER, BANNED])
async def test_a_house_that_does_not_want_the_client_back_is_obeyed(
    house: ScriptedHouse, close: Any
) -> None:
    async with connection(house) as client:
        visit = await house.visit()
        moving = asyncio.create_task(client.request(DRAW))
        await visit.command()
        await visit.hang_up(close.code, close.reason)
        for waiting in (moving, anext(client.events())):
            with pytest.raises(ServerClosed) as closed:
                await waiting
            assert (closed.value.code, closed.value.reason) == (close.code, close.reason)
        assert client.state is LinkState.CLOSED
        with pytest.raises(ServerClosed):
            await client.request(DRAW)
    assert house.visits.empty()


async def test_a_record_that_is_too_long_is_not_asked_for_again(
    house: ScriptedHouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("saratoga_client.net.websocket.LARGEST_EVENT", 4096)
    async with connection(house) as client:
        visit = await house.visit()
        asking = asyncio.create_task(
            client.ask(partial(commands.GetRecord, race=RACE), events.Record)
        )
        moving = asyncio.create_task(client.request(DRAW))
        command = await visit.command()
        await visit.say(events.Record(re=command.id, race=RACE, text="x" * 5000))
        with pytest.raises(UnexpectedAnswer, match="a record of more than"):
            await asking
        # whatever else had no answer is sent again, and only that
        back = await house.visit()
        again = await back.command()
        assert isinstance(again, commands.MakeMove)
        await back.say(events.Done(re=again.id))
        await moving


async def test_one_who_hangs_up_hears_no_more(house: ScriptedHouse) -> None:
    async with connection(house) as client:
        visit = await house.visit()
        moving = asyncio.create_task(client.request(DRAW))
        await visit.command()
        await client.close()
        with pytest.raises(ClientClosed):
            await moving
        assert [event async for event in client.events()] == []
        await visit.gone.wait()


# The clock


async def test_the_houses_clock_is_read_from_the_welcome(house: ScriptedHouse) -> None:
    async with connection(house) as client:
        # The cardboard clock stands still, ours does not: they part by what the test takes.
        assert 0 <= client.now() - NOON < 10_000


async def test_heartbeats_observe_the_clock(house: ScriptedHouse) -> None:
    async with connection(house, timing=Timing(heartbeat_every=0.0)) as client:
        # A heartbeat is sent only when the one before was answered.
        for _ in range(3):
            await asyncio.wait_for(house.heartbeats.get(), 10)
        assert client.round_trip is not None
