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
    book: UnansweredCommands[str] = UnansweredCommands()
    first = book.open(ListTables, "me")
    book.close(first.id)
    second = book.open(ListTables, "me")
    assert OWN_ID < first.id < second.id


def test_ids_go_on_where_the_house_says() -> None:
    book: UnansweredCommands[str] = UnansweredCommands()
    book.rise_to(40)
    book.rise_to(7)
    assert book.open(ListTables, "me").id == 40


def test_a_draft_becomes_the_command_with_its_id() -> None:
    book: UnansweredCommands[str] = UnansweredCommands()
    command = book.open(partial(JoinTable, table="mint-otter-42"), "me")
    assert command == JoinTable(id=command.id, table="mint-otter-42")


def test_what_is_not_answered_is_sent_again_in_order() -> None:
    book: UnansweredCommands[str] = UnansweredCommands()
    first, second, third = (book.open(ListTables, name) for name in "abc")
    book.close(second.id)
    assert [pending.command.id for pending in book.unanswered()] == [first.id, third.id]


def test_an_answer_finds_who_waits_for_it() -> None:
    book: UnansweredCommands[str] = UnansweredCommands()
    command = book.open(ListTables, "me")
    found = book.find(command.id)
    assert found is not None
    assert (found.command, found.waiter) == (command, "me")
    assert book.find(command.id + 1) is None
    assert book.find(None) is None


SIT = partial(JoinTable, table="mint-otter-42")


def test_only_the_latest_command_may_be_sent_again_alone() -> None:
    book: UnansweredCommands[str] = UnansweredCommands()
    first = book.open(SIT, "me")
    assert book.is_latest(first.id)
    book.open(SIT, "me")
    assert not book.is_latest(first.id)


def test_a_question_overtakes_nothing_and_is_overtaken_by_nothing() -> None:
    """A record is asked for when the race is over, while the command that ended it is under way."""
    book: UnansweredCommands[str] = UnansweredCommands()
    ends = book.open(SIT, "me")
    question = book.open(ListTables, "me")
    assert book.is_latest(ends.id)
    book.open(SIT, "me")
    assert book.is_latest(question.id)
    assert not book.is_latest(ends.id)


def test_an_id_that_was_only_taken_makes_no_command_the_latest_but_one() -> None:
    """A seat is taken up again after a lost connection, before the move is sent again."""
    book: UnansweredCommands[str] = UnansweredCommands()
    move = book.open(SIT, "me")
    book.take_id()
    assert book.is_latest(move.id)


WATCH = partial(WatchTable, table="mint-otter-42")
ELSEWHERE = partial(WatchTable, table="lone-crane-7")
UNWATCH = partial(UnwatchTable, table="mint-otter-42")
SUBSCRIBE = partial(SubscribeLeaderboard, game="canfield")


@pytest.mark.parametrize(
    ("earlier", "later"), [(WATCH, UNWATCH), (UNWATCH, WATCH), (SUBSCRIBE, UnsubscribeLeaderboard)]
)
def test_what_is_followed_is_never_taken_up_again_after_it_was_let_go(
    earlier: Draft, later: Draft
) -> None:
    book: UnansweredCommands[str] = UnansweredCommands()
    first, second = book.open(earlier, "me"), book.open(later, "me")
    assert not book.is_latest(first.id)
    assert book.is_latest(second.id)
    book.close(second.id)
    assert not book.is_latest(first.id), "an answer to the later one does not make it the latest"


@pytest.mark.parametrize("other", [SIT, ListTables, SUBSCRIBE, ELSEWHERE])
def test_what_is_followed_overtakes_only_its_like(other: Draft) -> None:
    book: UnansweredCommands[str] = UnansweredCommands()
    before, watch, after = book.open(SIT, "me"), book.open(WATCH, "me"), book.open(other, "me")
    assert book.is_latest(watch.id)
    assert book.is_latest(after.id)
    assert book.is_latest(before.id) is (other is not SIT)
