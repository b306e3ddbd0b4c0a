"""Requests, unanswered commands and subscriptions."""

import asyncio
from functools import partial

import pytest

from kit.scripted_server import CODE, NOON, snapshot, table
from saratoga_client.net import requests as module
from saratoga_client.net.errors import CommandRefused
from saratoga_client.net.requests import Requests
from saratoga_client.net.subscriptions import Subscriptions
from saratoga_client.net.timing import Backoff
from saratoga_client.net.unanswered import Draft, UnansweredCommands
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
    requests.receive(events.Alive(now=NOON))
    requests.receive(events.Event())
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
    requests, seen = open_requests(), []
    stop = requests.observe_answers(lambda command, answer: seen.append((command, answer)))
    asked, _ = requests.open(partial(commands.NotReady, table=CODE))
    refused, waiter = requests.open(partial(commands.NotReady, table=CODE))
    requests.receive(events.Done(re=asked.id))
    no = events.Refused(re=refused.id, code="not_seated", message="No.")
    requests.receive(no)
    with pytest.raises(CommandRefused):
        await waiter
    requests.receive(events.Announcement(text="One."))
    stream = requests.stream()
    # the answers came before this event, so the reader has passed them
    assert await anext(stream) == events.Announcement(text="One.")
    stop()
    later, _ = requests.open(partial(commands.NotReady, table=CODE))
    requests.receive(events.Done(re=later.id))
    requests.receive(events.Announcement(text="Two."))
    assert await anext(stream) == events.Announcement(text="Two.")
    assert seen == [(asked, events.Done(re=asked.id)), (refused, no)]


START = partial(Start, table="mint-otter-42")


def test_only_the_latest_command_may_be_sent_again_alone() -> None:
    commands: UnansweredCommands[str] = UnansweredCommands()
    first = commands.add(START, "me")
    assert commands.is_latest(first.id)
    commands.add(START, "me")
    assert not commands.is_latest(first.id)


def test_a_query_does_not_affect_which_command_is_the_latest() -> None:
    """A client requests the record while the command that ended the race is unanswered."""
    commands: UnansweredCommands[str] = UnansweredCommands()
    ends = commands.add(START, "me")
    query = commands.add(ListTables, "me")
    assert commands.is_latest(ends.id)
    commands.add(START, "me")
    assert commands.is_latest(query.id)
    assert not commands.is_latest(ends.id)


def test_an_id_taken_for_the_seat_leaves_the_earlier_move_the_latest_command() -> None:
    """After reconnecting a client takes its seat back before it sends the move again."""
    commands: UnansweredCommands[str] = UnansweredCommands()
    move = commands.add(START, "me")
    commands.take_id()
    assert commands.is_latest(move.id)


WATCH = partial(JoinTable, table="mint-otter-42", seat=False)
ELSEWHERE = partial(JoinTable, table="lone-crane-7", seat=False)
LEAVE = partial(LeaveTable, table="mint-otter-42")
SUBSCRIBE = partial(GetLeaderboard, follow=True, game="canfield")
OTHER_PAGE = partial(GetLeaderboard, follow=True, game="caprice")


@pytest.mark.parametrize(
    ("earlier", "later"), [(WATCH, LEAVE), (LEAVE, WATCH), (SUBSCRIBE, OTHER_PAGE)]
)
def test_of_two_commands_on_one_subscription_only_the_later_is_the_latest(
    earlier: Draft, later: Draft
) -> None:
    commands: UnansweredCommands[str] = UnansweredCommands()
    first, second = commands.add(earlier, "me"), commands.add(later, "me")
    assert not commands.is_latest(first.id)
    assert commands.is_latest(second.id)
    commands.remove(second.id)
    assert not commands.is_latest(first.id), (
        "the answer to the later command does not make the earlier one the latest"
    )


@pytest.mark.parametrize("other", [START, ListTables, SUBSCRIBE, ELSEWHERE])
def test_a_subscription_is_ordered_only_against_commands_on_the_same_subscription(
    other: Draft,
) -> None:
    commands: UnansweredCommands[str] = UnansweredCommands()
    before, watch, after = (
        commands.add(START, "me"),
        commands.add(WATCH, "me"),
        commands.add(other, "me"),
    )
    assert commands.is_latest(watch.id)
    assert commands.is_latest(after.id)
    assert commands.is_latest(before.id) is (other is not START)


OTHER = "calm-heron-07"


def test_a_seat_that_was_given_up_is_not_restored() -> None:
    subscriptions = Subscriptions()
    subscriptions.command_answered(commands.JoinTable(id=2, table=CODE), snapshot(2))
    subscriptions.command_answered(commands.LeaveTable(id=3, table=CODE), events.Done(re=3))
    assert subscriptions.restoring_commands() == []


def test_a_lost_seat_is_not_restored() -> None:
    subscriptions = Subscriptions()
    subscriptions.command_answered(commands.JoinTable(id=2, table=CODE), snapshot(2))
    subscriptions.event_received(events.SeatLost(table=CODE, reason="kicked"))
    assert subscriptions.seat is None


def test_losing_a_seat_at_another_table_changes_nothing() -> None:
    subscriptions = Subscriptions()
    subscriptions.command_answered(commands.JoinTable(id=2, table=CODE), snapshot(2))
    subscriptions.event_received(events.SeatLost(table=OTHER, reason="closed"))
    assert subscriptions.seat == CODE


def test_watched_tables_and_followed_lists_are_restored() -> None:
    subscriptions = Subscriptions()
    subscriptions.command_answered(
        commands.JoinTable(id=2, table=OTHER, seat=False), snapshot(2, OTHER)
    )
    page = commands.GetLeaderboard(follow=True, id=3, game="caprice", period="week")
    subscriptions.command_answered(page, leaderboard())
    lobby = commands.ListTables(id=4, follow=True)
    subscriptions.command_answered(lobby, events.Tables(tables=[]))
    assert [draft(id=9) for draft in subscriptions.restoring_commands()] == [
        commands.JoinTable(id=9, table=OTHER, seat=False),
        commands.GetLeaderboard(follow=True, id=9, game="caprice", period="week"),
        commands.ListTables(id=9, follow=True),
    ]


def test_ended_subscriptions_are_not_restored() -> None:
    subscriptions = Subscriptions()
    subscriptions.command_answered(
        commands.JoinTable(id=2, table=OTHER, seat=False), snapshot(2, OTHER)
    )
    subscriptions.command_answered(
        commands.GetLeaderboard(follow=True, id=3, game="caprice"), leaderboard()
    )
    subscriptions.command_answered(commands.LeaveTable(id=4, table=OTHER), events.Done(re=4))
    subscriptions.command_answered(commands.GetLeaderboard(id=5, game="caprice"), leaderboard())
    subscriptions.command_answered(commands.ListTables(id=6, follow=True), events.Tables(tables=[]))
    subscriptions.command_answered(commands.ListTables(id=7), events.Tables(tables=[]))
    assert subscriptions.restoring_commands() == []


def test_sitting_down_at_a_watched_table_replaces_watching() -> None:
    subscriptions = Subscriptions()
    subscriptions.command_answered(commands.JoinTable(id=2, table=CODE, seat=False), snapshot(2))
    subscriptions.command_answered(commands.JoinTable(id=3, table=CODE), snapshot(3))
    assert [draft(id=9) for draft in subscriptions.restoring_commands()] == [
        commands.JoinTable(id=9, table=CODE)
    ]


def leaderboard() -> events.Leaderboard:
    return events.Leaderboard(
        game="caprice",
        ranking="best",
        period="day",
        key="2026-09-01",
        bots=False,
        total=0,
        offset=0,
        rows=[],
    )
