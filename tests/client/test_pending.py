from functools import partial

from saratoga_client.pending import OWN_ID, PendingBook
from saratoga_protocol.commands import JoinTable, ListTables


def test_ids_only_grow() -> None:
    book: PendingBook[str] = PendingBook()
    first = book.open(ListTables, "me")
    book.close(first.id)
    second = book.open(ListTables, "me")
    assert OWN_ID < first.id < second.id


def test_ids_go_on_where_the_house_says() -> None:
    book: PendingBook[str] = PendingBook()
    book.rise_to(40)
    book.rise_to(7)
    assert book.open(ListTables, "me").id == 40


def test_a_draft_becomes_the_command_with_its_id() -> None:
    book: PendingBook[str] = PendingBook()
    command = book.open(partial(JoinTable, table="mint-otter-42"), "me")
    assert command == JoinTable(id=command.id, table="mint-otter-42")


def test_what_is_not_answered_is_sent_again_in_order() -> None:
    book: PendingBook[str] = PendingBook()
    first, second, third = (book.open(ListTables, name) for name in "abc")
    book.close(second.id)
    assert [pending.command.id for pending in book.unanswered()] == [first.id, third.id]


def test_an_answer_finds_who_waits_for_it() -> None:
    book: PendingBook[str] = PendingBook()
    command = book.open(ListTables, "me")
    found = book.find(command.id)
    assert found is not None
    assert (found.command, found.waiter) == (command, "me")
    assert book.find(command.id + 1) is None
    assert book.find(None) is None


SIT = partial(JoinTable, table="mint-otter-42")


def test_only_the_latest_command_may_be_sent_again_alone() -> None:
    book: PendingBook[str] = PendingBook()
    first = book.open(SIT, "me")
    assert book.is_latest(first.id)
    book.open(SIT, "me")
    assert not book.is_latest(first.id)


def test_a_question_overtakes_nothing_and_is_overtaken_by_nothing() -> None:
    """A record is asked for when the race is over, while the command that ended it is under way."""
    book: PendingBook[str] = PendingBook()
    ends = book.open(SIT, "me")
    question = book.open(ListTables, "me")
    assert book.is_latest(ends.id)
    book.open(SIT, "me")
    assert book.is_latest(question.id)
    assert not book.is_latest(ends.id)


def test_an_id_that_was_only_taken_makes_no_command_the_latest_but_one() -> None:
    """A seat is taken up again after a lost connection, before the move is sent again."""
    book: PendingBook[str] = PendingBook()
    move = book.open(SIT, "me")
    book.take_id()
    assert book.is_latest(move.id)
