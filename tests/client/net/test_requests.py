"""Requests, unanswered commands and subscriptions."""

import asyncio
from functools import partial

import pytest
from msgspec.structs import replace

from kit.client_servers import snapshot
from kit.session_states import CODE, table
from saratoga_client.net import requests as module
from saratoga_client.net.errors import CommandRefused
from saratoga_client.net.requests import Draft, Requests
from saratoga_client.net.timing import Backoff
from saratoga_protocol import commands, events
from saratoga_protocol.commands import (
    Command,
    GetLeaderboard,
    JoinTable,
    LeaveTable,
    ListTables,
    Start,
)


def open_requests(sent: list[Command] | None = None) -> Requests:
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
    requests.receive(events.Alive(now=0))
    requests.receive(events.Event())
    requests.receive(events.Refused(code="bad_frame", message=""))
    requests.receive(events.TableChanged(table=table(), now=0))
    assert await anext(requests.stream()) == events.TableChanged(table=table(), now=0)


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


async def test_a_request_that_was_dropped_is_not_sent_again() -> None:
    sent: list[Command] = []
    requests = open_requests(sent)
    command, waiter = requests.open(commands.ListTables)
    requests.receive(events.Refused(re=command.id, code="too_fast", message="", retry=True))
    requests.forget(command)
    later = asyncio.Event()
    asyncio.get_running_loop().call_later(0, later.set)
    await later.wait()
    assert sent == []
    assert not waiter.done()


async def test_all_unanswered_commands_are_sent_again_in_their_order() -> None:
    requests = open_requests()
    asked = [requests.open(partial(commands.NotReady, table=CODE))[0] for _ in range(3)]
    requests.receive(events.Done(re=asked[1].id))
    assert requests.unanswered() == [asked[0], asked[2]]


async def test_an_observer_gets_every_command_with_its_answer() -> None:
    requests = open_requests()
    seen: list[tuple[Command, events.Event]] = []
    requests.on_answer = lambda command, answer: seen.append((command, answer))
    asked, _ = requests.open(partial(commands.NotReady, table=CODE))
    refused, waiter = requests.open(partial(commands.NotReady, table=CODE))
    requests.receive(events.Done(re=asked.id))
    no = events.Refused(re=refused.id, code="not_seated", message="No.")
    requests.receive(no)
    with pytest.raises(CommandRefused):
        await waiter
    requests.receive(events.Announcement(text="One."))
    # the answers came before this event, so the reader has passed them
    assert await anext(requests.stream()) == events.Announcement(text="One.")
    assert seen == [(asked, events.Done(re=asked.id)), (refused, no)]


START = partial(Start, table=CODE)
WATCH = partial(JoinTable, table=CODE, seat=False)
ELSEWHERE = partial(JoinTable, table="lone-crane-7", seat=False)
LEAVE = partial(LeaveTable, table=CODE)
SUBSCRIBE = partial(GetLeaderboard, follow=True, game="canfield")
OTHER_PAGE = partial(GetLeaderboard, follow=True, game="caprice")
LOBBY = partial(ListTables, follow=True)


@pytest.mark.parametrize(
    ("earlier", "later", "is_sent_again"),
    [
        (START, START, False),
        (WATCH, LEAVE, False),
        (LEAVE, WATCH, False),
        (SUBSCRIBE, OTHER_PAGE, False),
        # a client requests the record while the command that ended the race is unanswered
        (START, ListTables, True),
        (ListTables, START, True),
        (START, WATCH, True),
        (WATCH, START, True),
        (WATCH, ELSEWHERE, True),
        (WATCH, SUBSCRIBE, True),
        (SUBSCRIBE, LOBBY, True),
    ],
)
async def test_a_repeat_of_a_refused_command_undoes_no_newer_choice(
    earlier: Draft, later: Draft, is_sent_again: bool
) -> None:
    sent: asyncio.Queue[Command] = asyncio.Queue()
    requests = Requests(Backoff(first=0.0, shortest=0.0), sent.put_nowait)
    command, waiter = requests.open(earlier)
    newer, answered = requests.open(later)
    requests.receive(events.Refused(re=newer.id, code="banned", message=""))
    # the answer to the newer command does not make the older one the latest
    requests.receive(events.Refused(re=command.id, code="too_fast", message="", retry=True))
    assert isinstance(answered.exception(), CommandRefused)
    if is_sent_again:
        assert await sent.get() == command
    else:
        assert isinstance(waiter.exception(), CommandRefused)


OTHER = "calm-heron-07"
PAGE = GetLeaderboard(id=4, follow=True, game="caprice", period="week")
LEADERS = events.Leaderboard(
    game="caprice",
    ranking="best",
    period="day",
    key="2026-09-01",
    bots=False,
    total=0,
    offset=0,
    rows=[],
)
TABLES = events.Tables(tables=[])
SEATED = (JoinTable(id=2, table=CODE), snapshot(2))
WATCHING = (JoinTable(id=3, table=OTHER, seat=False), snapshot(3, OTHER))


@pytest.mark.parametrize(
    ("carried_out", "restored"),
    [
        ([SEATED], [JoinTable(id=9, table=CODE)]),
        ([WATCHING, SEATED], [JoinTable(id=9, table=CODE), replace(WATCHING[0], id=9)]),
        # sitting down at a table that is watched
        ([(replace(SEATED[0], seat=False), snapshot(2)), SEATED], [JoinTable(id=9, table=CODE)]),
        ([SEATED, (LeaveTable(id=4, table=CODE), events.Done(re=4))], []),
        ([WATCHING, (LeaveTable(id=4, table=OTHER), events.Done(re=4))], []),
        (
            [(PAGE, LEADERS), (ListTables(id=5, follow=True), TABLES)],
            [replace(PAGE, id=9), ListTables(id=9, follow=True)],
        ),
        ([(PAGE, LEADERS), (GetLeaderboard(id=5, game="caprice"), LEADERS)], []),
        ([(ListTables(id=4, follow=True), TABLES), (ListTables(id=5), TABLES)], []),
    ],
)
def test_a_new_connection_restores_what_the_server_has_granted(
    carried_out: list[tuple[Command, events.Event]], restored: list[Command]
) -> None:
    requests = open_requests()
    for command, answer in carried_out:
        requests.carried_out(command, answer)
    assert [draft(id=9) for draft in requests.restoring()] == restored


def test_only_the_seat_that_is_lost_is_not_restored() -> None:
    requests = open_requests()
    requests.carried_out(*SEATED)
    requests.receive(events.SeatLost(table=OTHER, reason="closed"))
    assert requests.seat == CODE
    requests.receive(events.SeatLost(table=CODE, reason="kicked"))
    assert requests.restoring() == []
