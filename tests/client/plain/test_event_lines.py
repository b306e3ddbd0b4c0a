"""Events at a table as lines: each is written once and can be understood by itself."""

from dataclasses import replace
from types import MappingProxyType

import msgspec
import pytest

from kit.races import voided_race
from kit.session_states import (
    CAP,
    CODE,
    RACE,
    START,
    board,
    in_match,
    outcome,
    player,
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
    table_lines,
)
from saratoga_client.session.state import (
    SessionState,
    Verification,
    link_changed,
    next_state,
)
from saratoga_protocol import events

PLAIN = LineStyle()
GATHERING = at_table(phase="gathering")


def said(before: SessionState, after: SessionState, style: LineStyle = PLAIN) -> list[str]:
    return list(change_lines(before, after, style, START))


def heard(before: SessionState, *told: events.AnyEvent) -> list[str]:
    """Return the lines for these events, in their order."""
    lines = []
    for event in told:
        after = next_state(before, event, START + 5_000)
        lines += said(before, after)
        before = after
    return lines


def shown(table: events.Table, **changed: object) -> events.TableChanged:
    newer = msgspec.structs.replace(table, version=table.version + 1, **changed)
    return events.TableChanged(table=newer, now=START)


def test_a_player_who_returns_sees_the_board() -> None:
    lines = list(opening_lines(state_after(), LineStyle(CardNames(in_words=True)), START))
    assert "deal: canfield, 1 banked, -$45" in lines
    assert sum(line.startswith("column ") for line in lines) == 4
    assert any(" of " in line for line in lines if line.startswith("column 1: "))


def test_a_player_who_comes_late_sees_that_the_race_is_running() -> None:
    racing = at_table("yar")
    left_out = msgspec.structs.replace(racing, racers=[player("a"), player("r")])
    without = "note: this race started without you; you can be ready for the next one"
    for shown, is_left_out in ((left_out, True), (racing, False)):
        # a racer may watch the own race in another window
        lines = list(
            opening_lines(state_after(first=snapshot("a1 =r1", None, shown)), PLAIN, START)
        )
        assert (without in lines) is is_left_out
        assert lines[-1].startswith("standing ")


def test_a_player_who_leaves_is_written_once_by_the_notice_if_there_is_one() -> None:
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


def test_one_line_says_that_the_time_is_up_for_several_racers() -> None:
    lines = heard(state_after(), standings("y1 =a1:out_of_time =r1:out_of_time"))
    assert lines == ["news: time is up for 2 racers"]


def test_a_result_is_written_once_with_ties_explained_and_totals_after_it() -> None:
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
        "words",
        "total ana",
        "total Zoë",
    ]
    assert not any("digest" in line for line in lines)


def test_the_table_of_a_match_follows_each_result() -> None:
    over = in_match(at_table("ya", phase="over", version=9), "a9:cashed_out y1:cashed_out")
    told = events.TableChanged(table=over, now=START)
    ended = events.RaceOver(outcome=outcome("a9:cashed_out y1:cashed_out"))
    for order in ((told, ended), (ended, told)):
        lines = heard(state_after(first=snapshot(shown=in_match(at_table("ya")))), *order)
        heads = [line.split(":")[0] for line in lines]
        assert heads.index("match") > heads.index("result 2. Zoë")
        assert [line for line in lines if line.startswith("match")] == [
            "match: match after race 1 of 3",
            "match 1. ana: -$5, 1 win, race 1 1st -$5",
            "match 2. Zoë: -$45, 0 wins, race 1 2nd -$45",
        ]


def test_a_table_and_each_new_race_say_which_race_of_the_match_it_is() -> None:
    gathering = in_match(at_table(phase="gathering", race=f"{CODE}/2"), "a9 y1")
    assert "match: race 2 of 3" in table_lines(state_after(first=snapshot(shown=gathering)))
    assert any(
        line.endswith("16 seats, private, match of 3 races")
        for line in table_lines(state_after(first=snapshot(shown=gathering)))
    )
    over = in_match(at_table(phase="over"), "a9 y1")
    before = state_after(first=snapshot(shown=over))
    following = in_match(at_table(phase="gathering", version=9, race=f"{CODE}/2"), "a9 y1")
    assert heard(before, events.TableChanged(table=following, now=START)) == [
        f"race {CODE}/2: gathering",
        "match: race 2 of 3",
    ]


def test_in_a_match_its_table_stands_in_place_of_the_totals() -> None:
    rich = [seat("y", races=7, wins=4, net=240), seat("a", races=7, wins=3, net=-90)]
    told = in_match(at_table(phase="over", version=9, seats=rich), "a9 y1")
    lines = heard(
        state_after(),
        events.TableChanged(table=told, now=START),
        events.RaceOver(outcome=outcome("a9:cashed_out y1:cashed_out")),
    )
    assert len([line for line in lines if line.startswith("match 1. ana")]) == 1
    assert not [line for line in lines if line.startswith("total ")]


def test_the_clock_has_the_time_passed_and_the_time_left() -> None:
    assert clock_line(state_after(), START + 75_000) == "clock: 1:15 passed, 8:45 left"
    assert clock_line(state_after(), START + CAP) == "clock: 10:00 passed, 0:00 left"
    assert clock_line(state_after(first=snapshot(shown=GATHERING)), START) == (
        "clock: no race is running"
    )


def test_a_voided_race_has_one_line_instead_of_the_servers_notice() -> None:
    running = state_after(first=snapshot())
    voided = shown(
        at_table(phase="gathering", race="mint-otter-42/2"),
        notice="Race mint-otter-42/1 was voided by the server: so and so. Get ready again.",
        voided=[voided_race(RACE)],
    )
    assert heard(running, voided) == [
        "voided mint-otter-42/1: voided by the server: the server's stored data of the race were "
        "damaged. It counts for nothing. To check it: saratoga verify mint-otter-42/1",
        "race mint-otter-42/2: gathering",
    ]


def test_a_verdict_is_written_while_the_next_race_is_open_already() -> None:
    gathering = state_after(first=snapshot(shown=at_table(phase="gathering", race=f"{CODE}/2")))
    found = Verification(False, "NOT VERIFIED: 1 of 14 checks failed.", is_alarm=True)
    checked = replace(
        gathering, alarms=("The seed is another.",), verifications=MappingProxyType({RACE: found})
    )
    assert said(gathering, checked) == [
        "alarm: The seed is another.",
        "alarm: NOT VERIFIED: 1 of 14 checks failed.",
    ]
    late = Verification(False, "NOT VERIFIED: not sent.")
    missing = replace(gathering, verifications=MappingProxyType({RACE: late}))
    assert said(gathering, missing) == ["unverified: NOT VERIFIED: not sent."]
    good = replace(checked, verifications=MappingProxyType({RACE: Verification(True, "Good.")}))
    assert said(checked, good) == ["verified: Good."]


def test_alarms_from_before_the_first_lines_are_written_with_them() -> None:
    alarmed = replace(state_after(), alarms=("The deal was changed.",))
    assert "alarm: The deal was changed." in opening_lines(alarmed, PLAIN, START)


def test_a_late_comer_is_told_of_voided_races() -> None:
    gathering = msgspec.structs.replace(GATHERING, voided=[voided_race("mint-otter-42/7")])
    lines = list(opening_lines(state_after(first=snapshot(shown=gathering)), PLAIN, START))
    assert [line for line in lines if line.startswith("voided mint-otter-42/7: ")]


def test_the_call_asks_players_who_are_not_ready_and_its_end_names_the_racers() -> None:
    seats = [seat("y"), seat("a", ready=True)]
    shown = msgspec.structs.replace(
        at_table("ya", phase="countdown", seats=seats, version=2), racers=[]
    )
    before = state_after(first=snapshot(shown=at_table("ya", phase="gathering", seats=seats)))
    call = next_state(before, events.TableChanged(table=shown, now=START - 5000), START - 5000)
    assert list(change_lines(before, call, PLAIN, START - 5000)) == [
        "countdown: 5 seconds, 1 ready; type ready now to be in this race"
    ]
    fixed = msgspec.structs.replace(shown, racers=[player("a")], version=3)
    after = next_state(call, events.TableChanged(table=fixed, now=START - 3000), START - 3000)
    assert list(change_lines(call, after, PLAIN, START - 3000)) == [
        "countdown: 3 seconds, 1 racer; you are not in this race"
    ]


def test_a_blocked_player_and_the_countdowns_that_the_player_voided_are_listed() -> None:
    seats = [seat("y"), seat("a", voids=2, blocked=True)]
    state = state_after(first=snapshot(shown=at_table("ya", phase="gathering", seats=seats)))
    assert any(
        "voided 2 countdowns, needs the host's permission to get ready" in line
        for line in table_lines(state)
    )


def test_an_idle_racer_is_warned_once_for_each_warning() -> None:
    racing = state_after(first=snapshot("y4 a3", board()))
    soon, sooner = replace(racing, idle_left=60), replace(racing, idle_left=15)
    warning = "warning: no line for a while; your board ends in 60 s; type any line to go on"
    assert said(racing, soon) == [warning]
    assert said(soon, soon) == []
    assert said(soon, sooner) == [warning.replace("60", "15")]
    assert said(sooner, racing) == []


@pytest.mark.parametrize("phase", ["gathering", "over"])
def test_a_host_between_races_is_warned_once(phase: str) -> None:
    host = state_after(first=snapshot(shown=at_table(phase=phase)))
    away = replace(host, idle_left=60)
    warning = "warning: no line for 2 minutes; after 3, another player becomes host; type any line to stay host"
    assert said(host, away) == [warning]
    assert said(away, away) == said(away, host) == []


def test_a_new_host_reads_what_to_type_in_this_phase() -> None:
    def hosted(phase: str) -> list[str]:
        table = at_table(phase=phase, host="a")
        return heard(state_after(first=snapshot(shown=table)), shown(table, host=player("y")))

    you = "host: you are the host now"
    assert hosted("gathering") == [f"{you}: type start when everyone is ready"]
    assert hosted("over") == [f"{you}: type next to prepare the next race"]
    assert hosted("running") == [you]
