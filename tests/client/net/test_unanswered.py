from functools import partial

import pytest

from saratoga_client.net.unanswered import OWN_ID, Draft, UnansweredCommands
from saratoga_protocol.commands import (
    JoinTable,
    ListTables,
    SubscribeLeaderboard,
    UnsubscribeLeaderboard,
    UnwatchTable,
    WatchTable,
)


def test_ids_only_grow() -> None:
    commands: UnansweredCommands[str] = UnansweredCommands()
    first = commands.add(ListTables, "me")
    commands.remove(first.id)
    second = commands.add(ListTables, "me")
    assert OWN_ID < first.id < second.id


def test_ids_continue_from_the_number_that_the_server_gives() -> None:
    commands: UnansweredCommands[str] = UnansweredCommands()
    commands.raise_next_id(40)
    commands.raise_next_id(7)
    assert commands.add(ListTables, "me").id == 40


def test_a_draft_becomes_the_command_with_its_id() -> None:
    commands: UnansweredCommands[str] = UnansweredCommands()
    command = commands.add(partial(JoinTable, table="mint-otter-42"), "me")
    assert command == JoinTable(id=command.id, table="mint-otter-42")


def test_unanswered_commands_are_listed_in_the_order_of_their_ids() -> None:
    commands: UnansweredCommands[str] = UnansweredCommands()
    first, second, third = (commands.add(ListTables, name) for name in "abc")
    commands.remove(second.id)
    assert [pending.command.id for pending in commands.in_order()] == [first.id, third.id]


def test_an_answer_finds_its_command_and_waiter() -> None:
    commands: UnansweredCommands[str] = UnansweredCommands()
    command = commands.add(ListTables, "me")
    found = commands.find(command.id)
    assert found is not None
    assert (found.command, found.waiter) == (command, "me")
    assert commands.find(command.id + 1) is None
    assert commands.find(None) is None


SIT = partial(JoinTable, table="mint-otter-42")


def test_only_the_latest_command_may_be_sent_again_alone() -> None:
    commands: UnansweredCommands[str] = UnansweredCommands()
    first = commands.add(SIT, "me")
    assert commands.is_latest(first.id)
    commands.add(SIT, "me")
    assert not commands.is_latest(first.id)


def test_a_query_does_not_affect_which_command_is_the_latest() -> None:
    """A client requests the record while the command that ended the race is unanswered."""
    commands: UnansweredCommands[str] = UnansweredCommands()
    ends = commands.add(SIT, "me")
    query = commands.add(ListTables, "me")
    assert commands.is_latest(ends.id)
    commands.add(SIT, "me")
    assert commands.is_latest(query.id)
    assert not commands.is_latest(ends.id)


def test_an_id_taken_for_a_resume_leaves_the_earlier_move_the_latest_command() -> None:
    """After reconnecting a client resumes its seat before it sends the move again."""
    commands: UnansweredCommands[str] = UnansweredCommands()
    move = commands.add(SIT, "me")
    commands.take_id()
    assert commands.is_latest(move.id)


WATCH = partial(WatchTable, table="mint-otter-42")
ELSEWHERE = partial(WatchTable, table="lone-crane-7")
UNWATCH = partial(UnwatchTable, table="mint-otter-42")
SUBSCRIBE = partial(SubscribeLeaderboard, game="canfield")


@pytest.mark.parametrize(
    ("earlier", "later"), [(WATCH, UNWATCH), (UNWATCH, WATCH), (SUBSCRIBE, UnsubscribeLeaderboard)]
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


@pytest.mark.parametrize("other", [SIT, ListTables, SUBSCRIBE, ELSEWHERE])
def test_a_subscription_is_ordered_only_against_commands_on_the_same_subscription(
    other: Draft,
) -> None:
    commands: UnansweredCommands[str] = UnansweredCommands()
    before, watch, after = (
        commands.add(SIT, "me"),
        commands.add(WATCH, "me"),
        commands.add(other, "me"),
    )
    assert commands.is_latest(watch.id)
    assert commands.is_latest(after.id)
    assert commands.is_latest(before.id) is (other is not SIT)
