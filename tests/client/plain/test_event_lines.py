"""An evening's events as lines: each stands alone, each is said once."""

from dataclasses import replace

import msgspec

from kit.session_states import (
    CAP,
    RACE,
    START,
    board,
    opening,
    outcome,
    seat,
    snapshot,
    standings,
    state_after,
)
from kit.session_states import table as at_table
from saratoga_client.net.link_state import LinkState
from saratoga_client.plain.card_names import CardNames, LineStyle
from saratoga_client.plain.event_lines import (
    change_lines,
    clock_line,
    opening_lines,
)
from saratoga_client.session.own_board import with_move
from saratoga_client.session.state import SessionState, confirm, link_changed, next_state
from saratoga_protocol import events
from saratoga_rules.games import GAMES
from saratoga_rules.judge import play
from saratoga_rules.moves import DRAW

PLAIN = LineStyle()
GATHERING = at_table(phase="gathering")


def said(before: SessionState, after: SessionState, style: LineStyle = PLAIN) -> list[str]:
    return list(change_lines(before, after, style, START))


def heard(before: SessionState, *told: events.AnyEvent) -> list[str]:
    """What is said to these events, one after the other."""
    lines = []
    for event in told:
        after = next_state(before, event, START + 5_000)
        lines += said(before, after)
        before = after
    return lines


def shown(table: events.Table, **changed: object) -> events.TableChanged:
    newer = msgspec.structs.replace(table, version=table.version + 1, **changed)
    return events.TableChanged(table=newer, now=START)


def test_who_sits_down_hears_the_table_and_what_to_say() -> None:
    lines = list(opening_lines(state_after(first=snapshot(shown=GATHERING)), PLAIN, START))
    assert lines == [
        "table mint-otter-42: canfield, 10 minutes, 16 seats, private",
        "seat 1 Zoë: you, host, not ready",
        "seat 2 ana: not ready",
        "seat 3 raj: not ready",
        "race mint-otter-42/1: gathering",
        "note: type ready to take part in the next race, and start when the others are ready; "
        "help lists all commands",
    ]


def test_who_comes_back_hears_the_board() -> None:
    lines = list(opening_lines(state_after(), LineStyle(CardNames(in_words=True)), START))
    assert "deal: canfield, 1 banked, -$45" in lines
    assert sum(line.startswith("column ") for line in lines) == 4
    assert any(" of " in line for line in lines if line.startswith("column 1: "))


def test_who_comes_late_hears_that_the_race_is_on_without_them() -> None:
    lines = list(opening_lines(state_after(first=snapshot("y1 =a1")), PLAIN, START))
    assert any(line.startswith("note: this race started without you") for line in lines)
    assert lines[-1].startswith("standing ")


def test_others_are_heard_to_come_and_get_ready_and_oneself_is_not() -> None:
    first = state_after(first=snapshot(shown=GATHERING))
    ready = [seat("y", ready=True), seat("a", ready=True), seat("r"), seat("o")]
    assert heard(first, shown(GATHERING, seats=ready)) == [
        "seat: ana is ready",
        "seat: Otto [bot] sat down",
    ]


def test_who_leaves_is_told_of_once_by_whoever_tells_more() -> None:
    first = state_after(first=snapshot(shown=GATHERING))
    gone = [seat("y"), seat("r")]
    assert heard(first, shown(GATHERING, seats=gone)) == ["seat: ana left the table"]
    assert heard(first, shown(GATHERING, seats=gone, notice="raj has sent ana away.")) == [
        "notice: raj has sent ana away."
    ]


def test_a_lost_connection_says_that_the_score_is_safe() -> None:
    first = state_after()
    lost = link_changed(first, LinkState.RECONNECTING, START)
    assert said(first, lost) == [
        "link: connection lost, reconnecting. Your score is safe; the race's clock runs on."
    ]
    back = link_changed(lost, LinkState.CONNECTED, START)
    assert said(lost, back) == ["link: connected again"]


def test_a_move_is_one_line_when_the_house_has_made_it() -> None:
    first = state_after()
    assert first.own is not None
    on_its_way = replace(first, own=with_move(first.own, DRAW))
    assert said(first, on_its_way) == []
    after = play(GAMES["canfield"], opening(), DRAW)
    made = confirm(on_its_way, board(after, count=1))
    (line,) = said(on_its_way, made)
    assert line.startswith("move 1 draw: turned ")


def test_an_ending_says_why_and_that_it_counts() -> None:
    first = state_after()
    ended = confirm(first, board(count=1, state="stuck"))
    assert said(first, ended) == ["ended: stuck, 1 banked, -$45; no more cards can be banked"]


def test_how_a_rival_ends_is_news_and_how_one_does_oneself_is_not_said_twice() -> None:
    lines = heard(state_after(), standings("y1:cashed_out =a1:stuck =r1"))
    assert lines == ["news: ana is stuck at 1, -$45"]


def test_a_result_is_told_once_with_ties_explained_and_totals_after_it() -> None:
    told = at_table(
        phase="over",
        version=9,
        seats=[seat("y", races=2, wins=1, net=-60), seat("a", races=2, wins=2, net=-20), seat("r")],
    )
    end = outcome("a9:cashed_out y1:cashed_out")
    tied = [
        msgspec.structs.replace(row, tie="reached 9 first") if row.place == 1 else row
        for row in end.results
    ]
    first = state_after()
    lines = heard(
        first,
        events.TableChanged(table=told, now=START),
        events.RaceOver(outcome=msgspec.structs.replace(end, results=tied)),
    )
    heads = [line.split(":")[0] for line in lines]
    assert heads == [
        "ended",
        f"race {RACE}",
        "result 1. ana",
        "result 2. Zoë",
        "you",
        "note",
        "total ana",
        "total Zoë",
    ]
    assert not any("digest" in line for line in lines)


def test_after_one_race_the_totals_are_the_result() -> None:
    lines = heard(state_after(), events.RaceOver(outcome=outcome("a9:cashed_out y1:cashed_out")))
    assert [line for line in lines if line.startswith("result")]
    assert not [line for line in lines if line.startswith("total")]


def test_the_clock_says_what_is_gone_and_what_is_left() -> None:
    assert clock_line(state_after(), START + 75_000) == "clock: 1:15 passed, 8:45 left"
    assert clock_line(state_after(), START + CAP) == "clock: 10:00 passed, 0:00 left"
    assert clock_line(state_after(first=snapshot(shown=GATHERING)), START) == (
        "clock: no race is running"
    )
