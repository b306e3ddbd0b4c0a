"""The feed's lines about a race: the lead, overtaking, milestones and endings."""

from kit.positions import draw
from kit.session_states import START, board, seat, snapshot, standings, state_after, table
from saratoga_client.session.feed import (
    MAX_AT_ONCE,
    MAX_LINES,
    Feed,
    Tone,
    with_line,
)
from saratoga_client.session.state import SessionState
from saratoga_protocol import events
from saratoga_rules.games import GAMES


def lines(state: SessionState) -> list[str]:
    return [line.text for line in state.feed_lines]


def leads(state: SessionState) -> list[str]:
    return [line.text for line in state.feed_lines if line.tone is Tone.LEAD]


def changed(version: int, **more: object) -> events.TableChanged:
    return events.TableChanged(table=table(version=version, **more), now=START)  # type: ignore[arg-type]


def test_a_new_leader_gets_one_line() -> None:
    state = state_after(standings("a2 y1 r1"), standings("a3 y1 r1"), standings("y4 a3 r1"))
    assert lines(state) == ["ana takes the lead with 2", "you take the lead with 4"]
    assert [line.at for line in state.feed_lines] == [10_000, 30_000]


def test_a_lead_that_changes_with_every_card_gets_a_line_when_it_has_settled() -> None:
    flicker = [standings(word) for word in ("a2 y1 r1", "y3 a2 r1", "a4 y3 r1", "y5 a4 r1")]
    assert leads(state_after(*flicker, every=500)) == ["ana takes the lead with 2"]
    settled = state_after(*flicker, *[standings("y5 a4 r1")] * 4, standings("y6 a4 r1"), every=1000)
    assert leads(settled) == ["ana takes the lead with 2", "you take the lead with 5"]
    # A racer who is passed again and again gets no line each time.
    assert sum("passed" in line for line in lines(state_after(*flicker * 5, every=500))) <= 2


def test_a_shared_first_place_has_no_leader() -> None:
    assert lines(state_after(standings("a3 =y3 r1"))) == []


def test_a_pass_is_described_from_the_players_side() -> None:
    state = state_after(
        standings("o9 a5 y3 r1"),
        standings("o9 y6 a5 r1"),
        standings("o9 a7 y6 r1"),
        first=snapshot("o9 a4 y3 r1", board(), table("oyar")),
    )
    assert lines(state) == ["you passed ana", "ana passed you"]


def test_a_line_about_the_lead_replaces_the_one_about_the_pass() -> None:
    state = state_after(standings("y6 a5 r1"), first=snapshot("a5 y3 r1", board()))
    assert lines(state) == ["you take the lead with 6"]


def test_every_tenth_card_gets_a_line() -> None:
    first = snapshot("a19 y9 r1", board())
    state = state_after(standings("a21 y10 r1"), standings("a22 y11 r1"), first=first)
    assert lines(state) == ["you broke even with 10", "ana reached 20"]


def test_a_player_breaks_even_once_when_the_cards_have_paid_for_this_games_pack() -> None:
    deal = draw(GAMES["klondike"], "t1: KS")
    first = snapshot("a1 y9 r1", board(deal, game="klondike"), table(game="klondike"))
    banked = ["a1 y10 r1", "y11 a1 r1", "y10 a1 r1", "y11 a1 r1"]
    state = state_after(*[standings(text, "klondike") for text in banked], first=first)
    says = [line.text for line in state.feed_lines if line.tone in (Tone.EVEN, Tone.MILESTONE)]
    assert says == ["you reached 10", "you are ahead with 11"]


def test_a_won_board_has_broken_the_bank() -> None:
    state = state_after(standings("a52:won y1 r1"), first=snapshot("a51 y1 r1", board()))
    assert lines(state) == ["ana broke the bank with 52, +$210"]
    assert state.feed_lines[-1].tone is Tone.WON


def test_every_ended_board_gets_a_line() -> None:
    state = state_after(
        standings("a12:cashed_out y9 r8:stuck o7:left"),
        standings("a12:cashed_out y9:idle r8:stuck o7:left"),
        first=snapshot("a12 y9 r8 o7", board(), table("yaro")),
    )
    assert lines(state) == [
        "ana cashed out with 12, +$10",
        "raj is stuck at 8, -$10",
        "Otto [bot] left at 7, -$15",
        "you were idle for 3 minutes and ended at 9, -$5",
    ]


def test_the_end_of_the_time_is_one_line_for_all() -> None:
    word = "a2:out_of_time y1:out_of_time r1:out_of_time"
    assert lines(state_after(standings(word), first=snapshot("a2 y1 r1", board()))) == [
        "time is up for 3 racers"
    ]


def test_a_lost_connection_and_a_new_host_get_a_line() -> None:
    absent = [seat("y"), seat("a", connected=False), seat("r")]
    state = state_after(
        changed(2, seats=absent, host="a"),
        changed(3, seats=[seat("y"), seat("a"), seat("r")], host="r"),
        changed(4, host="y"),
    )
    assert lines(state) == [
        "ana lost the connection",
        "ana is host now",
        "ana is back",
        "raj is host now",
        "you are host now",
    ]


def test_a_player_who_joins_late_gets_no_lines_about_the_past() -> None:
    state = state_after(first=snapshot("a21 y9 r8:stuck", board()))
    assert lines(state) == []


def test_after_a_pause_a_few_lines_describe_the_situation() -> None:
    word = "a30 b29 c28 d27:stuck e26:stuck f25:stuck y1"
    state = state_after(
        standings(word),
        first=snapshot("y1 =a1 =b1 =c1 =d1 =e1 =f1", board(), table("yabcdef")),
    )
    assert len(state.feed_lines) == MAX_AT_ONCE
    assert sum(line.tone is Tone.ENDING for line in state.feed_lines) == 3


def test_a_name_stays_as_the_server_sent_it() -> None:
    seats = [seat("y"), seat("a", name="\x1b[2Jana\u202e")]
    state = state_after(
        standings("a2 y1"), first=snapshot("y1 =a1", board(), table("ya", seats=seats))
    )
    assert lines(state) == ["\x1b[2Jana\u202e takes the lead with 2"]


def test_the_oldest_lines_are_dropped() -> None:
    feed = Feed()
    for number in range(MAX_LINES + 5):
        feed = with_line(feed, number, f"line {number}", Tone.LINK)
    assert len(feed.lines) == MAX_LINES
    assert feed.lines[-1].text == f"line {MAX_LINES + 4}"


def test_without_a_change_there_is_no_line() -> None:
    state = state_after(standings("a2 y1 r1"))
    assert state_after(standings("a2 y1 r1"), standings("a2 y1 r1")).feed_lines == state.feed_lines
