"""The news for a player who reads another screen than the table's."""

from dataclasses import replace

from kit.session_states import START, board, outcome, seat, snapshot, state_after, table
from saratoga_client.net.link_state import LinkState
from saratoga_client.session.state import link_changed, next_state
from saratoga_client.tui.pages.table_news import HOST_AWAY, table_news
from saratoga_protocol import events


def test_the_end_of_a_race_is_news_with_the_own_result() -> None:
    before = state_after(first=snapshot("a9 y4", shown=table("ya")))
    after = next_state(before, events.RaceOver(outcome=outcome("a9 y4")), START)
    assert table_news(before, after).startswith("The race is over. You finished 2nd of 2: 4 cards")
    assert table_news(before, after).endswith(" q shows the results.")


def test_a_watcher_is_told_the_end_without_a_result() -> None:
    before = state_after(first=snapshot("a9 =r9", shown=table("ar", host="a")))
    after = next_state(before, events.RaceOver(outcome=outcome("a9 =r9")), START)
    assert table_news(before, after) == "The race is over. q shows the results."


def test_changed_seats_are_no_news_while_a_race_runs() -> None:
    before = state_after(first=snapshot("a9 y4", shown=table("ya")))
    shown = table(seats=[seat("y"), seat("a", connected=False)], version=2)
    after = next_state(before, events.TableChanged(table=shown, now=START), START)
    assert table_news(before, after) == ""


def test_a_host_who_reads_another_screen_is_warned_once() -> None:
    before = state_after(first=snapshot(shown=table("ya", phase="gathering")))
    after = replace(before, idle_left=60)
    assert table_news(before, after) == HOST_AWAY
    assert table_news(after, after) == table_news(after, before) == ""


def test_a_racer_who_reads_another_screen_is_warned_twice_and_told_the_end_of_the_board() -> None:
    racing = state_after(first=snapshot("a9 y4", board(), table("ya")))
    first, second = replace(racing, idle_left=60), replace(racing, idle_left=15)
    assert "Your board ends in 60 s; press any key" in table_news(racing, first)
    assert "Your board ends in 15 s; press any key" in table_news(first, second)
    assert table_news(second, second) == table_news(second, racing) == ""
    assert racing.own is not None
    ended = replace(racing, own=replace(racing.own, state="idle"))
    assert table_news(second, ended).startswith("Your board ended after 3 minutes without a key.")
    assert table_news(ended, ended) == ""


def test_a_reader_is_told_that_the_connection_is_lost_and_back() -> None:
    before = state_after(first=snapshot("a9 y4", shown=table("ya")))
    lost = link_changed(before, LinkState.RECONNECTING, START)
    assert table_news(before, lost) == "Connection lost; trying again."
    assert table_news(lost, lost) == ""
    assert table_news(lost, before) == "Connected again."
