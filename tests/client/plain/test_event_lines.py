"""Events at a table as lines: each is written once and can be understood by itself."""

from dataclasses import replace
from types import MappingProxyType

import msgspec
import pytest

from kit.line_client import RecordedOutput
from kit.messages import BANKROLL, BEST
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
    racer_of,
    seat,
    snapshot,
    standings,
    state_after,
)
from kit.session_states import after as after_event
from kit.session_states import table as at_table
from saratoga_client.net.errors import LinkState
from saratoga_client.plain.card_names import CardNames, LineStyle
from saratoga_client.plain.event_lines import (
    EVERY,
    EVERY_VERBOSE,
    ChangeWriter,
    change_lines,
    clock_line,
    opening_lines,
    summary,
    table_lines,
)
from saratoga_client.plain.result_lines import (
    climb_lines,
    leaderboard_lines,
    standings_lines,
    totals_lines,
)
from saratoga_client.session.differ import with_news
from saratoga_client.session.state import SessionState, Verification, link_changed
from saratoga_protocol import events

PLAIN = LineStyle()
GATHERING = at_table(phase="gathering")


def said(before: SessionState, after: SessionState, style: LineStyle = PLAIN) -> list[str]:
    told = with_news(before, after, START)
    return list(change_lines(before, told, style, START))


def heard(before: SessionState, *told: events.Event) -> list[str]:
    """Return the lines for these events, in their order."""
    lines = []
    for event in told:
        after = after_event(before, event, START + 5_000)
        lines += list(change_lines(before, after, PLAIN, START))
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
    left_out = msgspec.structs.replace(racing, racers=[racer_of("a"), racer_of("r")])
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
    assert heard(first, shown(GATHERING, seats=gone)) == ["seat: ana has left"]
    assert heard(first, shown(GATHERING, seats=gone, notice="raj has sent ana away.")) == [
        "notice: raj has sent ana away."
    ]


def test_a_lost_connection_says_that_the_score_is_safe() -> None:
    first = state_after()
    lost = link_changed(first, LinkState.RECONNECTING)
    assert said(first, lost) == ["link: connection lost; trying again; your score is safe"]
    back = link_changed(lost, LinkState.CONNECTED)
    assert said(lost, back) == ["link: connected again; nothing is lost"]


def test_one_line_says_that_the_time_is_up_for_several_racers() -> None:
    lines = heard(state_after(), standings("y1 =a1:out-of-time =r1:out-of-time"))
    assert lines == ["news: time is up for 2 racers"]


def test_a_result_is_written_once_with_ties_explained_and_totals_after_it() -> None:
    told = at_table(
        phase="over",
        version=9,
        seats=[seat("y", races=2, wins=1, net=-60), seat("a", races=2, wins=2, net=-20), seat("r")],
    )
    end = outcome("a9:cash-out y1:cash-out")
    tied = [
        msgspec.structs.replace(row, place=place, banked=9, net=-5, reached=place * 4000)
        for place, row in enumerate(end.results, start=1)
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
    over = in_match(at_table("ya", phase="over", version=9), "a9:cash-out y1:cash-out")
    ended = events.RaceOver(outcome=outcome("a9:cash-out y1:cash-out"))
    for order in ((*over.changes, ended), (ended, *over.changes)):
        lines = heard(state_after(first=snapshot(shown=in_match(at_table("ya")))), *order)
        heads = [line.split(":")[0] for line in lines]
        assert heads.index("match") > heads.index("result 2. Zoë")
        assert not [head for head in heads if head.startswith("total ")]
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
    assert heard(before, *following.changes) == [
        f"race {CODE}/2: gathering",
        "match: race 2 of 3",
    ]


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
        previous=voided_race(RACE),
    )
    assert heard(running, voided) == [
        "voided mint-otter-42/1: voided by the server: the table was closed during the "
        "race. It counts for nothing. To check it: saratoga verify mint-otter-42/1",
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
    gathering = msgspec.structs.replace(GATHERING, previous=voided_race("mint-otter-42/7"))
    lines = list(opening_lines(state_after(first=snapshot(shown=gathering)), PLAIN, START))
    assert [line for line in lines if line.startswith("voided mint-otter-42/7: ")]


def test_the_call_asks_players_who_are_not_ready_and_its_end_names_the_racers() -> None:
    seats = [seat("y"), seat("a", ready=True)]
    shown = at_table("ya", phase="call", seats=seats, version=2)
    before = state_after(first=snapshot(shown=at_table("ya", phase="gathering", seats=seats)))
    call = after_event(before, events.TableChanged(table=shown, now=START - 5000), START - 5000)
    assert list(change_lines(before, call, PLAIN, START - 5000)) == [
        "countdown: 5 seconds, 1 ready; type ready now to be in this race"
    ]
    fixed = msgspec.structs.replace(shown, phase="countdown", racers=[racer_of("a")], version=3)
    after = after_event(call, events.TableChanged(table=fixed, now=START - 3000), START - 3000)
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
    warning = "warning: no sign of you for a while; your board ends in 60 s; type any line to go on"
    assert said(racing, soon) == [warning]
    assert said(soon, soon) == []
    assert said(soon, sooner) == [warning.replace("60", "15")]
    assert said(sooner, racing) == []


@pytest.mark.parametrize("phase", ["gathering", "over"])
def test_a_host_between_races_is_warned_once(phase: str) -> None:
    host = state_after(first=snapshot(shown=at_table(phase=phase)))
    away = replace(host, idle_left=60)
    warning = "warning: no sign of you for two minutes; after three, another player becomes host; type any line to stay host"
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


def test_in_a_match_the_totals_are_those_of_the_match() -> None:
    rich = at_table(seats=[seat("y", races=7, wins=4, net=240), seat("a", races=7)])

    def totals_after(*races: str) -> list[str]:
        return list(totals_lines(state_after(first=snapshot(shown=in_match(rich, *races)))))

    assert totals_after() == ["totals: no race of this match is over yet"]
    assert totals_after("a20 y9") == [
        "match: match after race 1 of 3",
        "match 1. ana: +$50, 1 win, race 1 1st +$50",
        "match 2. Zoë: -$5, 0 wins, race 1 2nd -$5",
    ]


def test_standings_name_the_gap_to_the_first_place() -> None:
    assert list(standings_lines(state_after(standings("a9 y1 =r1")))) == [
        "standing 1. ana: 9 banked, -$5, racing",
        "standing 2. Zoë: 1 banked, -$45, racing, $40 behind",
        "standing 2. raj: 1 banked, -$45, racing, $40 behind",
    ]


def test_the_climb_of_everyone_has_counts_at_regular_times_and_now() -> None:
    state = state_after(standings("a6 y2 r1"), standings("a9 y2 r1:stuck"), every=30_000)
    assert list(climb_lines(state, START + 65_000)) == [
        "climb 1. ana: 1 at 0:00, 6 at 0:30, 9 at 1:00, 9 now",
        "climb 2. Zoë: 1 at 0:00, 2 at 0:30, 2 at 1:00, 2 now",
        "climb 3. raj: 1 at 0:00, 1 at 0:30, 1 at 1:00, 1 now",
    ]
    # a long race has fewer counts, not longer lines
    assert next(climb_lines(state, START + 540_000)).count(" at ") == 9
    before = state_after(first=snapshot(shown=at_table(phase="gathering")))
    assert list(climb_lines(before, START)) == ["climb: no race is running"]


class Writing:
    """A writer of changes whose clock the test sets; it has shown one state."""

    def __init__(self, first: SessionState, *, is_verbose: bool = False) -> None:
        self.output = RecordedOutput()
        self.output.style = LineStyle(is_verbose=is_verbose)
        self.now = START
        self.writer = ChangeWriter(self.output, lambda: self.now)
        self.writer.show(first)

    def show(self, state: SessionState, now: int) -> list[str]:
        """Show a state at this time; return the lines written, without a timer for delayed ones."""
        before, self.now = len(self.output.lines), now
        self.writer.show(state)
        self.writer.pause()
        self.writer.resume()
        return self.output.lines[before:]


async def test_earlier_news_is_not_repeated_to_a_newcomer() -> None:
    lines = Writing(state_after(standings("a9 y1 =r1"))).output.lines
    assert lines[0] == "table mint-otter-42: canfield, 10 minutes, 16 seats, private"
    assert not [line for line in lines if line.startswith("news: ")]


async def test_news_that_comes_too_fast_is_delayed_and_summarised() -> None:
    writing, now = Writing(state_after()), START + 10_000
    first = state_after(standings("a2 y1 =r1"))
    assert writing.show(first, now) == ["news: ana takes the lead with 2"]
    later = state_after(standings("a2 y1 =r1"), standings("y3 a2 r1"), standings("r5 a4 y3"))
    assert writing.show(later, now + EVERY - 1) == []
    assert writing.show(later, now + EVERY) == ["news: you are 3rd of 3, 2 behind raj"]
    assert writing.show(later, now + 80_000) == []


@pytest.mark.parametrize("is_verbose", [False, True])
async def test_breaking_even_is_written_beside_a_summary(*, is_verbose: bool) -> None:
    first = state_after(first=snapshot("a9 y8 r1", board()))
    later = state_after(
        standings("y10 a9 r1"), standings("r11 y10 a9"), first=snapshot("a9 y8 r1", board())
    )
    lines = Writing(first, is_verbose=is_verbose).show(later, START + 30_000)
    lines = [line for line in lines if line.startswith(("news: ", "standing "))]
    assert "news: you broke even with 10" in lines
    assert sum(line.startswith("standing ") for line in lines) == (3 if is_verbose else 0)


async def test_in_verbose_mode_each_changed_standing_is_written_once() -> None:
    writing, now = Writing(state_after(), is_verbose=True), START + 20_000
    steps = [standings("a2 y1 =r1"), standings("a3 y1 =r1")]
    assert writing.show(state_after(*steps), now) == [
        "standing 1. ana: 3 banked, -$35, racing",
        "standing 2. Zoë: 1 banked, -$45, racing, $10 behind",
        "standing 2. raj: 1 banked, -$45, racing, $10 behind",
    ]
    more = state_after(*steps, standings("a4 y1 =r1"))
    assert writing.show(more, now + EVERY_VERBOSE - 1) == []
    assert len(writing.show(more, now + EVERY_VERBOSE)) == 3


def test_a_watcher_s_summary_names_the_leaders() -> None:
    watched = state_after(standings("a9 =r9 y1"))
    seen = SessionState(player=player("x"), table_view=watched.table_view)
    assert summary(seen) == "ana and raj lead with 9"


async def test_a_paused_writer_drops_what_happens_and_goes_on_from_there() -> None:
    writing = Writing(state_after())
    later = state_after(standings("a2 y1 =r1:stuck"))
    before = len(writing.output.lines)
    writing.writer.pause()
    writing.writer.show(later)
    writing.writer.resume()
    assert not any("stuck" in line for line in writing.show(later, START + 10_000))
    assert not any("stuck" in line for line in writing.output.lines[before:])


def test_each_row_has_its_rank_and_result() -> None:
    assert list(leaderboard_lines(BEST)) == [
        "canfield, best, 2026-09-01: 2 in all",
        "1. Anna: 31 banked in 1:30.5, +$105, mint-otter-42/3, against 4 people",
        "2. Bert: 12 banked in 1:01.0, +$10, mint-otter-42/2, against 1 person",
    ]


def test_bots_are_marked_as_bots() -> None:
    assert list(leaderboard_lines(BANKROLL)) == [
        "lafayette, bankroll, bots, all: 40 in all",
        "1. Otto°: -$45 in 1 race, against 100+ people",
    ]


def test_your_own_row_follows_a_page_that_lacks_it() -> None:
    elsewhere = msgspec.structs.replace(BEST, rows=BEST.rows[:1])
    assert (
        list(leaderboard_lines(elsewhere))[-1]
        == "you: 2. Bert: 12 banked in 1:01.0, +$10, mint-otter-42/2, against 1 person"
    )
