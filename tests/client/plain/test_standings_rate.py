"""Standings are written at a limited rate, are current, and omit no change."""

from kit.session_states import START, board, player, snapshot, standings, state_after
from saratoga_client.plain.standings_rate import (
    EVERY,
    EVERY_VERBOSE,
    StandingsShown,
    report_standings,
    summary,
)
from saratoga_client.session.state import SessionState


def shown_at_first(first: SessionState) -> StandingsShown:
    return report_standings(StandingsShown(), first, START).shown


def test_earlier_news_is_not_repeated_to_a_newcomer() -> None:
    assert (
        report_standings(StandingsShown(), state_after(standings("a9 y1 =r1")), START).lines == ()
    )


def test_a_single_piece_of_news_is_written_at_once() -> None:
    shown = shown_at_first(state_after())
    heard = report_standings(shown, state_after(standings("a2 y1 =r1")), START + 10_000)
    assert heard.lines == ("news: ana takes the lead with 2",)
    assert heard.wait is None


def test_news_that_comes_too_fast_is_delayed_and_summarised() -> None:
    shown = shown_at_first(state_after())
    first = report_standings(shown, state_after(standings("a2 y1 =r1")), START + 10_000)
    heard = (standings("a2 y1 =r1"), standings("y3 a2 r1"), standings("r5 a4 y3"))
    later = state_after(*heard)
    early = report_standings(first.shown, later, START + 10_000 + EVERY - 400)
    assert (early.lines, early.wait) == ((), 400)
    late = report_standings(early.shown, later, START + 10_000 + EVERY)
    assert late.lines == ("news: you are 3rd of 3, 2 cards behind raj",)
    again = report_standings(late.shown, later, START + 90_000)
    assert (again.lines, again.wait) == ((), None)


def test_breaking_even_is_written_beside_a_summary() -> None:
    first = state_after(first=snapshot("a9 y8 r1", board()))
    later = state_after(
        standings("y10 a9 r1"), standings("r11 y10 a9"), first=snapshot("a9 y8 r1", board())
    )
    for is_verbose in (False, True):
        shown = shown_at_first(first)
        report = report_standings(shown, later, START + 30_000, is_verbose=is_verbose)
        assert report.lines[0] == "news: you broke even with 10"
        assert len(report.lines) == (4 if is_verbose else 2)


def test_many_changes_at_once_are_one_line() -> None:
    shown = shown_at_first(state_after())
    crowd = state_after(standings("a9 y1 =r1"), standings("r12 a9 y1"))
    assert len(report_standings(shown, crowd, START + 30_000).lines) == 1


def test_in_verbose_mode_each_changed_standing_is_written_once() -> None:
    shown = shown_at_first(state_after())
    now = START + 20_000
    steps = state_after(standings("a2 y1 =r1"), standings("a3 y1 =r1"))
    heard = report_standings(shown, steps, now, is_verbose=True)
    assert heard.lines == (
        "standing 1. ana: 3 banked, -$35, racing",
        "standing 2. Zoë: 1 banked, -$45, racing, $10 behind",
        "standing 2. raj: 1 banked, -$45, racing, $10 behind",
    )
    more = state_after(standings("a2 y1 =r1"), standings("a3 y1 =r1"), standings("a4 y1 =r1"))
    assert report_standings(heard.shown, more, now + 1, is_verbose=True).wait == EVERY_VERBOSE - 1


def test_a_watcher_s_summary_names_the_leaders() -> None:
    watched = state_after(standings("a9 =r9 y1"))
    seen = SessionState(player=player("x"), table_view=watched.table_view)
    assert summary(seen) == "ana and raj lead with 9"
