"""What the orders at a table do, and what is said to them."""

from collections.abc import Callable
from typing import cast

import pytest

from kit.recorded_output import RecordedOutput, scripted_session
from kit.session_states import (
    CODE,
    YOU,
    board,
    opening,
    outcome,
    player,
    seat,
    snapshot,
    state_after,
)
from kit.session_states import table as at_table
from kit.table_screens import InventedSeat
from saratoga_client.plain.change_writer import ChangeWriter
from saratoga_client.plain.commands import TableCommands
from saratoga_client.plain.grammar import Context, parse_line
from saratoga_client.session.state import SessionState
from saratoga_client.session.table_session import TableSession
from saratoga_protocol import events
from saratoga_rules.judge import legal_moves
from saratoga_rules.moves import DRAW


class PatientSeat(InventedSeat):
    """A seat whose house answers at once."""

    async def until(self, holds: Callable[[SessionState], bool]) -> None:
        while not holds(self._now()):
            self.confirm()


class Sitting:
    """Deeds at an invented seat."""

    def __init__(self, first: SessionState, context: Context = Context.TABLE) -> None:
        session, self.output = scripted_session()
        self.seat = PatientSeat(first, opening(), None)
        self.context = context
        table = cast(TableSession, self.seat)
        writer = ChangeWriter(self.output, table.now)
        self.deeds = TableCommands(session, table, writer, context)

    async def say(self, line: str) -> list[str]:
        """What is answered to a line."""
        output: RecordedOutput = self.output
        before = len(output.lines)
        await self.deeds.do(parse_line(line, self.context))
        return output.lines[before:]


def gathering(**seats: bool) -> SessionState:
    table = at_table(phase="gathering", seats=[seat("y", **seats), seat("a"), seat("o")])
    return state_after(first=snapshot(shown=table))


def over() -> SessionState:
    return state_after(events.RaceOver(outcome=outcome("a9:cashed_out y1:cashed_out")))


async def test_a_typed_move_is_played_and_answered_for() -> None:
    sitting = Sitting(state_after())
    assert await sitting.say("draw") == []
    assert sitting.seat.asked == ["draw"]
    assert sitting.seat.own.count == 1


async def test_what_is_not_legal_goes_to_no_house() -> None:
    sitting = Sitting(state_after())
    own = sitting.seat.own
    assert DRAW in legal_moves(own.game, own.view)
    (answer,) = await sitting.say("redeal")
    assert answer == "no: The stock must be drawn to its end before a redeal."
    assert sitting.seat.asked == []


async def test_cashing_out_asks_once_and_says_what_one_would_end_with() -> None:
    sitting = Sitting(state_after())
    (question,) = await sitting.say("cash out")
    assert question.startswith("cash out: your race would end with 1 banked, -$45.")
    assert sitting.seat.asked == []
    await sitting.say("yes")
    assert sitting.seat.asked == ["cash out"]


@pytest.mark.parametrize("between", ["no", "gap", "draw"])
async def test_a_question_is_forgotten_when_something_else_is_said(between: str) -> None:
    sitting = Sitting(state_after())
    await sitting.say("cash out")
    await sitting.say(between)
    assert await sitting.say("yes") == ["no: There is no question to answer."]
    assert "cash out" not in sitting.seat.asked


async def test_leaving_a_race_asks_and_tells_what_becomes_of_it() -> None:
    sitting = Sitting(state_after())
    (question,) = await sitting.say("leave")
    assert question.startswith("leave: your race would end with 1 banked, -$45.")
    assert await sitting.say("yes") == [f"left: {CODE}; your race ended with 1 banked, -$45"]
    assert sitting.deeds.has_left


async def test_between_races_one_leaves_without_being_asked() -> None:
    sitting = Sitting(gathering())
    assert await sitting.say("leave") == [f"left: {CODE}"]


async def test_who_only_watches_has_no_seat_to_give_up() -> None:
    sitting = Sitting(state_after(), Context.WATCHING)
    await sitting.say("leave yes")
    assert sitting.seat.asked == []
    assert sitting.deeds.has_left


async def test_the_host_is_told_to_start_when_the_others_are_ready() -> None:
    assert await Sitting(gathering()).say("ready") == [
        "ok: you are ready. Type start when the others are."
    ]


@pytest.mark.parametrize(
    ("first", "answer"),
    [
        (gathering, "no: There is no deal yet. Type ready; the host types start."),
        (
            lambda: state_after(first=snapshot("y1 =a1")),
            "no: You are not in this race. Type ready when the next one gathers.",
        ),
    ],
)
async def test_without_a_board_one_is_told_how_to_come_to_one(
    first: Callable[[], SessionState], answer: str
) -> None:
    for command in ("look", "draw", "w>t1", "cash out", "where K"):
        assert await Sitting(first()).say(command) == [answer]


async def test_a_board_that_has_ended_takes_no_more_moves() -> None:
    sitting = Sitting(state_after(first=snapshot("y1 =a1", board(state="cashed out", count=1))))
    (answer,) = await sitting.say("draw")
    assert answer.startswith("no: Your board has ended: cashed out.")
    assert await sitting.say("legal") == ["legal: 0"]


async def test_settings_are_said_changed_and_corrected() -> None:
    sitting = Sitting(gathering())
    assert (await sitting.say("settings"))[0].startswith("settings: canfield, 10 minutes")
    await sitting.say("settings lafayette cap 5 seats 4 public")
    assert sitting.seat.asked == ["game lafayette, cap 5, seats 4, public True"]
    (answer,) = await sitting.say("settings cap 7")
    assert answer.startswith("no: The cap is 3, 5, 10 or 20 minutes")


async def test_somebody_is_sent_away_by_name_and_a_name_too_many_is_told() -> None:
    sitting = Sitting(gathering())
    assert await sitting.say("kick Bob") == ["no: Type kick NAME. At this table: ana, Otto [bot]."]
    await sitting.say("kick otto [bot]")
    assert sitting.seat.asked == [f"kick {player('o')}"]


async def test_what_the_house_refuses_is_said_and_nothing_breaks() -> None:
    sitting = Sitting(gathering())
    sitting.seat.refuses = True
    assert (await sitting.say("start"))[0].startswith("no: The house says no.")
    assert (await sitting.say("leave"))[0].startswith("no: The house says no.")
    assert not sitting.deeds.has_left


async def test_what_needs_a_finished_race_says_so() -> None:
    sitting = Sitting(state_after())
    for command in ("review", "share", "verify"):
        assert await sitting.say(command) == ["no: No race is over yet."]
    sitting = Sitting(over())
    assert (await sitting.say("verify"))[0].startswith("no: There is no such record.")
    assert "result 1. ana: 9 banked, -$5, cashed out" in await sitting.say("results")


async def test_scripts_wait_for_what_they_name_and_for_nothing_else() -> None:
    sitting = Sitting(state_after())
    assert await sitting.say("wait deal") == []
    (answer,) = await sitting.say("wait tomorrow")
    assert answer.startswith("no: Type wait ready, wait ready 3, or wait with countdown, ")
    assert not sitting.deeds.is_waiting


async def test_the_gap_and_the_places_can_be_asked_for_at_any_time() -> None:
    assert await Sitting(state_after()).say("gap") == [
        "gap: level with ana; first to bank more leads"
    ]
    assert await Sitting(gathering()).say("gap") == ["gap: no race is running"]
    standings = await Sitting(state_after()).say("standings")
    assert [line.split(":")[0] for line in standings] == [
        "standing 1. Zoë",
        "standing 1. ana",
        "standing 1. raj",
    ]
    assert YOU not in " ".join(standings)
