"""What is told at a table: the lead, endings, warnings and changes of seats."""

from dataclasses import replace

import msgspec
import pytest
from msgspec import structs

from kit.client_servers import stepped_session
from kit.positions import draw
from kit.session_states import (
    CAP,
    START,
    after,
    board,
    outcome,
    player,
    seat,
    snapshot,
    standings,
    state_after,
    table,
)
from saratoga_client.session.differ import LAST_MINUTE, LATE, MAX_AT_ONCE, with_news
from saratoga_client.session.state import Kind, SessionState, newest
from saratoga_client.session.state_store import StateStore
from saratoga_client.session.table_session import Activity, may_end_as_idle, may_lose_host
from saratoga_protocol import events
from saratoga_protocol.commands import CreateTable, LeaveTable
from saratoga_protocol.events import RaceOver, Seat, Snapshot
from saratoga_rules.games import GAMES


def lines(state: SessionState) -> list[str]:
    return [each.text for each in state.news]


def leads(state: SessionState) -> list[str]:
    return [each.text for each in state.news if each.kind is Kind.LEAD]


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
    says = [each.text for each in state.news if each.kind in (Kind.EVEN, Kind.MILESTONE)]
    assert says == ["you reached 10", "you are ahead with 11"]


def test_every_ended_board_gets_a_line() -> None:
    state = state_after(
        standings("a12:cash-out y9 r8:stuck o7:left"),
        standings("a12:cash-out y9:idle r8:stuck o7:left"),
        first=snapshot("a12 y9 r8 o7", board(), table("yaro")),
    )
    assert lines(state) == [
        "ana cashed out with 12",
        "raj is stuck at 8",
        "Otto° left at 7",
        "you were idle for 3 minutes and ended at 9",
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
        "ana is the host now",
        "ana is back",
        "raj is the host now",
        "you are the host now",
    ]


def test_after_a_pause_a_few_lines_describe_the_situation() -> None:
    word = "a30 b29 c28 d27:stuck e26:stuck f25:stuck y1"
    state = state_after(
        standings(word),
        first=snapshot("y1 =a1 =b1 =c1 =d1 =e1 =f1", board(), table("yabcdef")),
    )
    assert len(state.news) == MAX_AT_ONCE
    assert sum(each.kind is Kind.ENDING for each in state.news) == 3


ALONE = snapshot("a5 y3 r1", board())


def test_breaking_even_is_told_once_even_if_a_card_is_taken_back() -> None:
    state = state_after(
        *[standings(word) for word in ("a19 y10 r1", "a19 y9 r1", "a19 y10 r1")],
        first=snapshot("a19 y9 r1", board()),
    )
    assert lines(state) == ["you broke even with 10"]


def test_the_last_minute_is_told_once_with_its_time_and_not_late() -> None:
    state, begins = state_after(first=ALONE), CAP - LAST_MINUTE
    for at in (begins - 1, begins + LATE, CAP):
        assert with_news(state, state, START + at).news == ()
    told = with_news(state, state, START + begins + 700)
    assert [(each.at, each.text) for each in told.news] == [(begins + 700, "the last minute")]
    assert with_news(told, told, START + begins + 900) is told
    over = after(state, events.RaceOver(outcome=outcome("a5 y3 r1")), START + begins)
    assert Kind.LAST_MINUTE not in {each.kind for each in over.news}


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
        self.time = START
        self.store = StateStore(lambda: self.time)
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
    back = after(watched.store.state, sent(idle_since=140), START + 141_000)
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


def gathering(*seats: Seat, **more: object) -> events.TableChanged:
    return changed(9, phase="gathering", seats=seats, **more)


def test_the_seats_of_others_are_told_unless_the_notice_tells_it() -> None:
    first = [seat("y"), seat("a"), seat("r"), seat("m", connected=False), seat("b")]
    now = [seat("y", ready=True), seat("a", connected=False), seat("m"), seat("b", ready=True)]
    before = state_after(first=snapshot(shown=table(phase="gathering", seats=first)))
    change = gathering(*now, seat("o"))
    assert lines(after(before, change, START)) == [
        "ana lost the connection",
        "raj has left",
        "mei is back",
        "racer b is ready",
        "Otto° has joined",
    ]
    noticed = structs.replace(change.table, notice="raj has left.")
    told = after(before, events.TableChanged(table=noticed, now=START), START)
    assert "raj has left" not in lines(told)
    assert told.news[0][:2] == (Kind.NOTICE, "raj has left.")


def test_an_alarm_that_is_withdrawn_is_no_news_any_more() -> None:
    calm = state_after()
    alarmed = with_news(calm, replace(calm, alarms=("Wrong deal.",)), START + 5)
    assert [each[:2] for each in alarmed.news] == [(Kind.ALARM, "Wrong deal.")]
    calm_again = with_news(alarmed, replace(alarmed, alarms=()), START + 9)
    assert calm_again.news == ()


def test_what_was_told_before_a_withdrawn_alarm_is_not_told_again() -> None:
    told = state_after(standings("a2 y1 =r1"))
    alarmed = with_news(told, replace(told, alarms=("Wrong deal.",)), START + 15_000)
    calm = with_news(alarmed, replace(alarmed, alarms=()), START + 16_000)
    assert calm.news == told.news != ()
    assert newest(alarmed.news, calm.news) == ()
