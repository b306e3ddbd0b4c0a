"""What is told during a race: the feed, moments, warnings and changes of seats."""

from dataclasses import replace

import msgspec
import pytest
from msgspec import structs

from kit.positions import draw
from kit.session_states import (
    CAP,
    START,
    YOU,
    board,
    outcome,
    player,
    seat,
    snapshot,
    standings,
    state_after,
    table,
)
from kit.stepped_session import stepped_session
from saratoga_client.net.errors import LinkState
from saratoga_client.session.activity import Activity, may_end_as_idle, may_lose_host
from saratoga_client.session.moments import (
    LAST_MINUTE,
    LATE,
    QUIET,
    SeenMoments,
    next_moment,
    with_last_minute,
)
from saratoga_client.session.news import MAX_AT_ONCE, Tone, seat_changes, seat_news
from saratoga_client.session.state import SessionState, link_changed, next_state
from saratoga_client.session.state_store import StateStore
from saratoga_protocol import events
from saratoga_protocol.commands import CreateTable, LeaveTable
from saratoga_protocol.events import RaceOver, Seat, Snapshot, Table
from saratoga_rules.games import GAMES


def lines(state: SessionState) -> list[str]:
    return [line.text for line in state.feed_lines]


def leads(state: SessionState) -> list[str]:
    return [line.text for line in state.feed_lines if line.tone is Tone.LEAD]


def changed(version: int, **more: object) -> events.TableChanged:
    return events.TableChanged(table=table(version=version, **more), now=START)  # type: ignore[arg-type]


def test_a_lead_that_changes_with_every_card_gets_a_line_when_it_has_settled() -> None:
    flicker = [standings(word) for word in ("a2 y1 r1", "y3 a2 r1", "a4 y3 r1", "y5 a4 r1")]
    assert leads(state_after(*flicker, every=500)) == ["ana takes the lead with 2"]
    settled = state_after(*flicker, *[standings("y5 a4 r1")] * 4, standings("y6 a4 r1"), every=1000)
    assert leads(settled) == ["ana takes the lead with 2", "you take the lead with 5"]
    # A racer who is passed again and again gets no line each time.
    assert sum("passed" in line for line in lines(state_after(*flicker * 5, every=500))) <= 2


def test_a_pass_is_described_from_the_players_side() -> None:
    state = state_after(
        standings("o9 a5 y3 r1"),
        standings("o9 y6 a5 r1"),
        standings("o9 a7 y6 r1"),
        first=snapshot("o9 a4 y3 r1", board(), table("oyar")),
    )
    assert lines(state) == ["you passed ana", "ana passed you"]


def test_a_player_breaks_even_once_when_the_cards_have_paid_for_this_games_pack() -> None:
    deal = draw(GAMES["klondike"], "t1: KS")
    first = snapshot("a1 y9 r1", board(deal, game="klondike"), table(game="klondike"))
    banked = ["a1 y10 r1", "y11 a1 r1", "y10 a1 r1", "y11 a1 r1"]
    state = state_after(*[standings(text, "klondike") for text in banked], first=first)
    says = [line.text for line in state.feed_lines if line.tone in (Tone.EVEN, Tone.MILESTONE)]
    assert says == ["you reached 10", "you are ahead with 11"]


def test_every_ended_board_gets_a_line() -> None:
    state = state_after(
        standings("a12:cash-out y9 r8:stuck o7:left"),
        standings("a12:cash-out y9:idle r8:stuck o7:left"),
        first=snapshot("a12 y9 r8 o7", board(), table("yaro")),
    )
    assert lines(state) == [
        "ana cashed out with 12, +$10",
        "raj is stuck at 8, -$10",
        "Otto [bot] left at 7, -$15",
        "you were idle for 3 minutes and ended at 9, -$5",
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


def test_after_a_pause_a_few_lines_describe_the_situation() -> None:
    word = "a30 b29 c28 d27:stuck e26:stuck f25:stuck y1"
    state = state_after(
        standings(word),
        first=snapshot("y1 =a1 =b1 =c1 =d1 =e1 =f1", board(), table("yabcdef")),
    )
    assert len(state.feed_lines) == MAX_AT_ONCE
    assert sum(line.tone is Tone.ENDING for line in state.feed_lines) == 3


ALONE = snapshot("a5 y3 r1", board())


def told(state: SessionState, *steps: tuple[int, events.Event]) -> list[str]:
    """Return the moments while these events come, each some milliseconds after the start."""
    seen, found = next_moment(SeenMoments(), state, START)
    assert found is None, "what happened before is not told"
    texts = []
    for at, event in steps:
        state = next_state(state, event, START + at)
        seen, found = next_moment(seen, state, START + at)
        texts += [] if found is None else [found.text]
    return texts


def test_a_lead_that_changes_back_within_a_second_is_told_once() -> None:
    words = ("y6 a5 r1", "a7 y6 r1", "y8 a7 r1", "a9 y8 r1", "y9 a9 r1")
    steps = [(5_000 + 200 * at, standings(word)) for at, word in enumerate(words)]
    assert told(state_after(first=ALONE), *steps) == ["You take the lead with 6."]


def test_breaking_even_is_told_once_even_if_a_card_is_taken_back() -> None:
    first = snapshot("a19 y9 r1", board())
    steps = [
        (at, standings(word))
        for at, word in ((5_000, "a19 y10 r1"), (9_000, "a19 y9 r1"), (13_000, "a19 y10 r1"))
    ]
    assert told(state_after(first=first), *steps) == ["You broke even with 10."]


def test_a_broken_bank_comes_before_everything_else() -> None:
    steps = [(5_000, standings("y53 a52:won r1"))]
    assert told(state_after(first=snapshot("a51 y9 r1", board())), *steps) == [
        "ana broke the bank with 52, +$210."
    ]


@pytest.mark.parametrize("first_look", [0, LATE + 1])
def test_a_last_minute_that_has_begun_before_is_not_told(first_look: int) -> None:
    state, last = state_after(first=ALONE), START + CAP - LAST_MINUTE
    seen, _ = next_moment(SeenMoments(), state, last - (first_look > 0))
    assert next_moment(seen, state, last + first_look)[1] is None


def test_the_last_minute_is_in_the_feed_once_with_its_time() -> None:
    state, begins = state_after(first=ALONE), CAP - LAST_MINUTE
    for at in (begins - 1, begins + LATE, CAP):
        assert with_last_minute(state, START + at) is state
    told = with_last_minute(state, START + begins + 700)
    assert [(line.at, line.text) for line in told.feed_lines] == [(begins + 700, "the last minute")]
    assert with_last_minute(told, START + begins + 900) is told
    over = next_state(state, events.RaceOver(outcome=outcome("a5 y3 r1")), START + begins)
    assert with_last_minute(over, START + begins) is over


def test_what_happened_while_the_connection_was_lost_is_not_told() -> None:
    state = state_after(first=ALONE)
    seen, _ = next_moment(SeenMoments(), state, START)
    state = link_changed(state, LinkState.RECONNECTING, START + 1_000)
    seen, _ = next_moment(seen, state, START + 1_000)
    state = link_changed(state, LinkState.CONNECTED, START + 1_500)
    seen, found = next_moment(seen, state, START + 1_500)
    assert found is None
    state = next_state(state, standings("y6 a5 r1"), START + 1_600)
    seen, found = next_moment(seen, state, START + 1_600)
    assert found is None
    state = next_state(state, standings("a7 y6 r1"), START + 1_000 + QUIET + 4_000)
    _, found = next_moment(seen, state, START + 1_000 + QUIET + 4_000)
    assert found is not None
    assert found.text == "ana takes the lead with 7."


async def test_a_late_snapshot_of_a_table_left_before_does_not_begin_the_session() -> None:
    async with stepped_session() as there:
        ben = await there.server.player("Ben")
        left = await ben.at_table(CreateTable, game="canfield", cap=10)
        await ben.ask(LeaveTable, table=left.table.code)
        await there.receive(left)
        assert there.session.state is None
        code = await there.gather()
        assert there.state.table.code == code


@pytest.mark.parametrize("phase", ["closed", ""])
async def test_no_event_counts_after_the_end_of_the_table(phase: str) -> None:
    async with stepped_session() as there:
        await there.gather()
        table = there.state.table
        end: events.Event = events.SeatLost(table=table.code, reason="Kicked.")
        if phase:
            end = events.TableChanged(
                table=msgspec.structs.replace(table, phase=phase, version=98), now=0
            )
        await there.receive(end)
        last = there.state
        assert last.seat_lost or last.phase == "closed"
        await there.problem()
        there.network.send_event(
            events.TableChanged(
                table=msgspec.structs.replace(table, phase="running", version=99), now=0
            )
        )
        await there.settle()
        assert there.state is last


def sent(*seats: str, phase: str = "running", idle_since: float = 0) -> Snapshot:
    seated = [seat(each) for each in seats or "ya"]
    shown = snapshot("y4 a3", board(), table(phase=phase, seats=seated))
    return structs.replace(shown, now=START + int(idle_since * 1000))


def racing(*seats: str, phase: str = "running") -> SessionState:
    return state_after(first=sent(*seats, phase=phase))


class Watched:
    """The warnings of a racer, with a server's clock that the test advances."""

    def __init__(self, first: SessionState) -> None:
        self.store = StateStore()
        self.time = START
        self.activity = Activity(self.store, lambda: self.time)
        self.store.replace(first)
        self.activity.check()

    def left_at(self, seconds: float) -> int:
        """Return the warning at this time of the race; 0: none."""
        self.time = START + int(seconds * 1000)
        self.activity.check()
        assert self.store.state is not None
        return self.store.state.idle_left


def test_a_racer_is_warned_after_two_minutes_and_again_after_two_and_three_quarters() -> None:
    watched = Watched(racing())
    warnings = [watched.left_at(at) for at in (119.9, 120, 150, 164.9, 165, 179, 185)]
    assert warnings == [0, 60, 60, 60, 15, 15, 15]


def test_a_sign_of_activity_ends_the_warning_and_the_time_counts_anew() -> None:
    watched = Watched(racing())
    assert watched.left_at(130) == 60
    watched.activity.note()
    assert watched.store.state is not None
    assert watched.store.state.idle_left == 0
    assert [watched.left_at(at) for at in (249.9, 250)] == [0, 60]


def test_the_time_counts_from_the_last_start_of_the_server() -> None:
    watched = Watched(racing())
    assert watched.left_at(130) == 60
    assert watched.store.state is not None
    back = next_state(watched.store.state, sent(idle_since=140), START + 141_000)
    watched.store.replace(back)
    assert [watched.left_at(at) for at in (141, 259.9, 260, 305)] == [0, 0, 60, 15]


def test_a_program_that_starts_in_mid_race_counts_from_the_last_sign_that_the_server_knows() -> (
    None
):
    watched = Watched(state_after(first=sent(idle_since=5)))
    assert [watched.left_at(at) for at in (124.9, 125)] == [0, 60]
    watched.activity.note()
    assert [watched.left_at(at) for at in (244.9, 245)] == [0, 60]


def test_the_time_counts_only_while_the_server_would_end_the_board() -> None:
    watched = Watched(racing())
    watched.store.replace(racing("y"))
    assert watched.left_at(500) == 0
    watched.store.replace(racing())
    assert [watched.left_at(at) for at in (619, 620)] == [0, 60]
    watched.store.replace(state_after(RaceOver(outcome=outcome("y4 a3")), first=snapshot("y4 a3")))
    assert watched.left_at(621) == 0


@pytest.mark.parametrize(
    "state",
    [
        racing("y"),
        replace(racing(), own=None),
        racing(phase="gathering"),
        state_after(first=snapshot("y4 a3", board(state="cash-out"))),
    ],
    ids=["alone", "watching", "between races", "ended"],
)
def test_only_a_racer_among_others_may_be_idle(state: SessionState) -> None:
    assert not may_end_as_idle(state)
    assert may_end_as_idle(racing())
    assert player("y") == state.player


# A host between races


def waiting(*seats: str, phase: str = "gathering", host: str = "y") -> SessionState:
    seated = [seat(each) for each in seats or "ya"]
    return state_after(first=snapshot(shown=table(phase=phase, seats=seated, host=host)))


@pytest.mark.parametrize("phase", ["gathering", "over"])
def test_a_host_between_races_is_warned_once_a_minute_before_another_becomes_host(
    phase: str,
) -> None:
    watched = Watched(waiting(phase=phase))
    watched.activity.note()
    warnings = [watched.left_at(at) for at in (119.9, 120, 165, 179, 300)]
    assert warnings == [0, 60, 60, 60, 60]
    watched.activity.note()
    assert [watched.left_at(at) for at in (300, 419.9, 420)] == [0, 0, 60]
    watched.store.replace(waiting(phase=phase, host="a"))
    assert watched.left_at(421) == 0


@pytest.mark.parametrize(
    "state",
    [
        waiting("y"),
        waiting(host="a"),
        waiting(phase="countdown"),
        state_after(
            first=snapshot(shown=table(phase="gathering", seats=[seat("y"), seat("a", bot=True)]))
        ),
        racing(),
    ],
    ids=["alone", "a guest", "in the countdown", "among bots", "in a race"],
)
def test_only_a_host_for_whom_people_wait_may_lose_the_place(state: SessionState) -> None:
    assert not may_lose_host(state)
    assert may_lose_host(waiting())


def gathering(*seats: Seat) -> Table:
    return table(phase="gathering", seats=seats)


def test_every_change_of_a_seat_has_a_phrase() -> None:
    before = gathering(seat("y"), seat("a"), seat("r"), seat("m", connected=False), seat("b"))
    after = gathering(
        seat("y", ready=True), seat("a", connected=False), seat("m"), seat("b"), seat("o")
    )
    assert [(each.name, phrase) for each, phrase in seat_changes(before, after)] == [
        ("Zoë", "is ready"),
        ("ana", "lost the connection"),
        ("mei", "is back"),
        ("Otto", "sat down"),
        ("raj", "left the table"),
    ]


def test_the_news_name_other_players_and_count_who_is_ready() -> None:
    before = gathering(seat("y"), seat("a"))
    assert seat_news(before, gathering(seat("y"), seat("a", ready=True)), YOU) == (
        "ana is ready. 1 of 2 ready for the next race."
    )
    assert seat_news(before, gathering(seat("y", ready=True), seat("a")), YOU) == (
        "1 of 2 ready for the next race."
    )
    assert seat_news(before, before, YOU) == ""


def test_why_a_player_who_is_still_there_is_host_no_more_is_news() -> None:
    before = table(phase="over", host="y")
    away = "Zoë has been away for three minutes; ana is host now."
    after = msgspec.structs.replace(table(phase="over", host="a"), notice=away)
    assert seat_news(before, after, YOU) == away
    left = [seat("a"), seat("r")]
    after = msgspec.structs.replace(
        table(phase="over", host="a", seats=left), notice="Zoë has left. ana is host."
    )
    assert seat_news(before, after, "nobody") == "Zoë left the table."
