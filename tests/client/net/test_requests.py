import asyncio
from functools import partial

import pytest

from kit.scripted_house import CODE, NOON, snapshot, table
from saratoga_client.net import requests as module
from saratoga_client.net.backoff import Backoff
from saratoga_client.net.errors import ClientClosed, CommandRefused, UnexpectedAnswer
from saratoga_client.net.requests import Requests
from saratoga_protocol import commands, events
from saratoga_protocol.codec import UnknownEvent
from saratoga_protocol.commands import AnyCommand


def board(sent: list[AnyCommand] | None = None) -> Requests:
    return Requests(Backoff(first=0.0, shortest=0.0), ([] if sent is None else sent).append)


async def test_a_late_answer_to_nobody_is_an_event_if_it_says_how_things_are() -> None:
    switchboard = board()
    command, _ = switchboard.open(partial(commands.JoinTable, table=CODE))
    switchboard.forget(command)
    switchboard.hear(events.Done(re=command.id))
    switchboard.hear(events.Refused(re=command.id, code="no_such_table", message=""))
    switchboard.hear(snapshot(command.id))
    assert await anext(switchboard.inbox()) == snapshot(command.id)


async def test_signs_of_life_and_unknown_events_are_no_news() -> None:
    switchboard = board()
    switchboard.hear(events.Alive(now=NOON))
    switchboard.hear(UnknownEvent(type="fireworks"))
    switchboard.hear(events.Refused(code="bad_frame", message=""))
    switchboard.hear(events.TableChanged(table=table(), now=NOON))
    assert await anext(switchboard.inbox()) == events.TableChanged(table=table(), now=NOON)


async def test_the_oldest_events_fall_out_if_nobody_reads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_UNREAD", 2)
    switchboard = board()
    for text in "abc":
        switchboard.hear(events.Announcement(text=text))
    inbox = switchboard.inbox()
    assert [await anext(inbox), await anext(inbox)] == [
        events.Announcement(text="b"),
        events.Announcement(text="c"),
    ]


async def test_whoever_waits_learns_of_the_end() -> None:
    switchboard = board()
    _, waiter = switchboard.open(commands.ListTables)
    reading = asyncio.ensure_future(anext(switchboard.inbox(), None))
    await asyncio.sleep(0)
    switchboard.finish(ClientClosed("enough"))
    with pytest.raises(ClientClosed):
        await waiter
    assert await reading is None
    with pytest.raises(ClientClosed):
        switchboard.open(commands.ListTables)


async def test_what_was_given_up_is_not_sent_again() -> None:
    sent: list[AnyCommand] = []
    switchboard = board(sent)
    command, waiter = switchboard.open(commands.ListTables)
    switchboard.hear(events.Refused(re=command.id, code="too_fast", message="", retry=True))
    switchboard.forget(command)
    later = asyncio.Event()
    asyncio.get_running_loop().call_later(0, later.set)
    await later.wait()
    assert sent == []
    assert not waiter.done()


async def test_a_refusal_that_only_time_lifts_is_told_at_once() -> None:
    switchboard = board()
    command, waiter = switchboard.open(partial(commands.GetRecord, race=f"{CODE}/1"))
    switchboard.hear(events.Refused(re=command.id, code="race_running", message="", retry=True))
    with pytest.raises(CommandRefused):
        await waiter


async def test_one_who_gives_the_seat_up_is_leaving() -> None:
    switchboard = board()
    command, _ = switchboard.open(partial(commands.LeaveTable, table=CODE))
    assert switchboard.is_leaving(CODE)
    assert not switchboard.is_leaving("calm-heron-07")
    switchboard.forget(command)
    assert not switchboard.is_leaving(CODE)


async def test_one_kind_of_command_can_be_given_up() -> None:
    switchboard = board()
    record, asking = switchboard.open(partial(commands.GetRecord, race=f"{CODE}/1"))
    tables, listing = switchboard.open(commands.ListTables)
    switchboard.give_up(commands.GetRecord, UnexpectedAnswer("too long"))
    with pytest.raises(UnexpectedAnswer):
        await asking
    assert switchboard.unanswered() == [tables]
    assert not listing.done()
    switchboard.forget(record)
