"""How often standings are said: few lines, none of them old, and none of them lost."""

from kit.session_states import START, player, standings, state_after
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


def test_whoever_comes_into_a_race_is_told_nothing_of_what_was_before() -> None:
    assert (
        report_standings(StandingsShown(), state_after(standings("a9 y1 =r1")), START).lines == ()
    )


def test_one_piece_of_news_is_said_at_once_in_its_own_words() -> None:
    shown = shown_at_first(state_after())
    heard = report_standings(shown, state_after(standings("a2 y1 =r1")), START + 10_000)
    assert heard.lines == ("news: ana takes the lead with 2",)
    assert heard.wait is None


def test_news_that_come_too_fast_wait_and_are_said_as_what_they_come_to() -> None:
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


def test_a_crowd_is_not_said_name_by_name() -> None:
    shown = shown_at_first(state_after())
    crowd = state_after(standings("a9 y1 =r1"), standings("r12 a9 y1"))
    assert len(report_standings(shown, crowd, START + 30_000).lines) == 1


def test_who_wants_every_standing_hears_each_that_changed_once_as_it_is_then() -> None:
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


def test_who_watches_hears_who_leads() -> None:
    watched = state_after(standings("a9 =r9 y1"))
    seen = SessionState(player=player("x"), table_view=watched.table_view)
    assert summary(seen) == "ana and raj lead with 9"
