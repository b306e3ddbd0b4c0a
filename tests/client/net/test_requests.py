import asyncio
from functools import partial

import pytest

from kit.scripted_server import CODE, NOON, snapshot, table
from saratoga_client.net import requests as module
from saratoga_client.net.backoff import Backoff
from saratoga_client.net.errors import ClientClosed, CommandRefused, UnexpectedAnswer
from saratoga_client.net.requests import Requests
from saratoga_protocol import commands, events
from saratoga_protocol.codec import UnknownEvent
from saratoga_protocol.commands import AnyCommand


def open_requests(sent: list[AnyCommand] | None = None) -> Requests:
    return Requests(Backoff(first=0.0, shortest=0.0), ([] if sent is None else sent).append)


async def test_a_late_answer_is_an_event_only_if_it_is_a_snapshot() -> None:
    requests = open_requests()
    command, _ = requests.open(partial(commands.JoinTable, table=CODE))
    requests.forget(command)
    requests.receive(events.Done(re=command.id))
    requests.receive(events.Refused(re=command.id, code="no_such_table", message=""))
    requests.receive(snapshot(command.id))
    assert await anext(requests.stream()) == snapshot(command.id)


async def test_heartbeats_and_unknown_events_do_not_reach_the_reader() -> None:
    requests = open_requests()
    requests.receive(events.Alive(now=NOON))
    requests.receive(UnknownEvent(type="fireworks"))
    requests.receive(events.Refused(code="bad_frame", message=""))
    requests.receive(events.TableChanged(table=table(), now=NOON))
    assert await anext(requests.stream()) == events.TableChanged(table=table(), now=NOON)


async def test_the_oldest_events_are_dropped_if_no_program_reads_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "MAX_UNREAD", 2)
    requests = open_requests()
    for text in "abc":
        requests.receive(events.Announcement(text=text))
    stream = requests.stream()
    assert [await anext(stream), await anext(stream)] == [
        events.Announcement(text="b"),
        events.Announcement(text="c"),
    ]


async def test_every_waiter_gets_the_error_that_ended_the_connection() -> None:
    requests = open_requests()
    _, waiter = requests.open(commands.ListTables)
    reading = asyncio.ensure_future(anext(requests.stream(), None))
    await asyncio.sleep(0)
    requests.finish(ClientClosed("enough"))
    with pytest.raises(ClientClosed):
        await waiter
    assert await reading is None
    with pytest.raises(ClientClosed):
        requests.open(commands.ListTables)


async def test_a_request_that_was_dropped_is_not_sent_again() -> None:
    sent: list[AnyCommand] = []
    requests = open_requests(sent)
    command, waiter = requests.open(commands.ListTables)
    requests.receive(events.Refused(re=command.id, code="too_fast", message="", retry=True))
    requests.forget(command)
    later = asyncio.Event()
    asyncio.get_running_loop().call_later(0, later.set)
    await later.wait()
    assert sent == []
    assert not waiter.done()


async def test_a_refusal_outside_the_retried_codes_is_raised_at_once() -> None:
    requests = open_requests()
    command, waiter = requests.open(partial(commands.GetRecord, race=f"{CODE}/1"))
    requests.receive(events.Refused(re=command.id, code="race_running", message="", retry=True))
    with pytest.raises(CommandRefused):
        await waiter


async def test_a_player_is_leaving_while_the_leave_command_is_unanswered() -> None:
    requests = open_requests()
    command, _ = requests.open(partial(commands.LeaveTable, table=CODE))
    assert requests.is_leaving(CODE)
    assert not requests.is_leaving("calm-heron-07")
    requests.forget(command)
    assert not requests.is_leaving(CODE)


async def test_all_requests_of_one_kind_can_fail_together() -> None:
    requests = open_requests()
    record, asking = requests.open(partial(commands.GetRecord, race=f"{CODE}/1"))
    tables, listing = requests.open(commands.ListTables)
    requests.fail_all(commands.GetRecord, UnexpectedAnswer("too long"))
    with pytest.raises(UnexpectedAnswer):
        await asking
    assert requests.unanswered() == [tables]
    assert not listing.done()
    requests.forget(record)


async def test_an_observer_gets_every_command_with_its_answer() -> None:
    requests, seen = open_requests(), []
    stop = requests.observe_answers(lambda command, answer: seen.append((command, answer)))
    asked, _ = requests.open(partial(commands.NotReady, table=CODE))
    refused, waiter = requests.open(partial(commands.NotReady, table=CODE))
    assert requests.next_id == refused.id + 1
    requests.receive(events.Done(re=asked.id))
    no = events.Refused(re=refused.id, code="not_seated", message="No.")
    requests.receive(no)
    with pytest.raises(CommandRefused):
        await waiter
    stop()
    later, _ = requests.open(partial(commands.NotReady, table=CODE))
    requests.receive(events.Done(re=later.id))
    assert seen == [(asked, events.Done(re=asked.id)), (refused, no)]
