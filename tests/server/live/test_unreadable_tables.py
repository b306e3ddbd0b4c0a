"""Each table that cannot be read is new once, and a node that runs for months notes a bounded number."""

from kit.tables import CODE
from saratoga_server.live.unreadable_tables import MOST_NOTED, UnreadableTables


def test_a_table_is_new_once_until_it_can_be_read() -> None:
    noted = UnreadableTables()
    assert CODE not in noted
    assert noted.note(CODE)
    assert not noted.note(CODE)
    assert CODE in noted
    noted.discard(CODE)
    noted.discard(CODE)
    assert CODE not in noted
    assert noted.note(CODE)


def test_the_tables_that_were_asked_for_least_recently_are_dropped() -> None:
    noted = UnreadableTables()
    noted.note(CODE)
    noted.note("first")
    for number in range(MOST_NOTED - 2):
        noted.note(str(number))
    assert "first" in noted
    assert not noted.note(CODE)
    noted.note("one more")
    assert "first" not in noted
    assert CODE in noted
