"""Commands at a table: those sent to the server, and those answered locally."""

from collections.abc import Callable
from typing import cast

import pytest

from kit.recorded_output import RecordedOutput, scripted_session
from kit.session_states import (
    CODE,
    opening,
    outcome,
    player,
    seat,
    snapshot,
    state_after,
)
from kit.session_states import table as at_table
from kit.table_screens import FakeSession
from saratoga_client.plain.change_writer import ChangeWriter
from saratoga_client.plain.commands import TableCommands
from saratoga_client.plain.grammar import Context, parse_line
from saratoga_client.session.state import SessionState
from saratoga_client.session.table_session import TableSession
from saratoga_protocol import events
from saratoga_rules.judge import legal_moves
from saratoga_rules.moves import DRAW


class AnsweringSession(FakeSession):
    """A session whose server answers at once."""

    async def until(self, holds: Callable[[SessionState], bool]) -> None:
        while not holds(self._now()):
            self.confirm()


class TypingPlayer:
    """A player who types commands at a table; the server answers at once."""

    def __init__(self, first: SessionState, context: Context = Context.TABLE) -> None:
        session, self.output = scripted_session()
        self.seat = AnsweringSession(first, opening(), None)
        self.context = context
        table = cast(TableSession, self.seat)
        writer = ChangeWriter(self.output, table.now)
        self.commands = TableCommands(session, table, writer, context)

    async def say(self, line: str) -> list[str]:
        """Type a line; return the lines that answer it."""
        output: RecordedOutput = self.output
        before = len(output.lines)
        await self.commands.do(parse_line(line, self.context))
        return output.lines[before:]


def gathering(**seats: bool) -> SessionState:
    table = at_table(phase="gathering", seats=[seat("y", **seats), seat("a"), seat("o")])
    return state_after(first=snapshot(shown=table))


def over() -> SessionState:
    return state_after(events.RaceOver(outcome=outcome("a9:cashed_out y1:cashed_out")))


async def test_a_typed_move_is_sent() -> None:
    player_at_table = TypingPlayer(state_after())
    assert await player_at_table.say("draw") == []
    assert player_at_table.seat.asked == ["draw"]
    assert player_at_table.seat.own.count == 1


async def test_an_illegal_move_is_not_sent() -> None:
    player_at_table = TypingPlayer(state_after())
    own = player_at_table.seat.own
    assert DRAW in legal_moves(own.game, own.view)
    (answer,) = await player_at_table.say("redeal")
    assert answer == "no: The stock must be drawn to its end before a redeal."
    assert player_at_table.seat.asked == []


@pytest.mark.parametrize("between", ["no", "gap", "draw"])
async def test_any_other_command_cancels_a_question(between: str) -> None:
    player_at_table = TypingPlayer(state_after())
    await player_at_table.say("cash out")
    await player_at_table.say(between)
    assert await player_at_table.say("yes") == ["no: There is no question to answer."]
    assert "cash out" not in player_at_table.seat.asked


async def test_leaving_a_race_asks_first_and_states_the_result() -> None:
    player_at_table = TypingPlayer(state_after())
    (question,) = await player_at_table.say("leave")
    assert question.startswith("leave: your race would end with 1 banked, -$45.")
    assert await player_at_table.say("yes") == [
        f"left: {CODE}; your race ended with 1 banked, -$45"
    ]
    assert player_at_table.commands.has_left


async def test_a_watcher_leaves_without_a_leave_command() -> None:
    player_at_table = TypingPlayer(state_after(), Context.WATCHING)
    await player_at_table.say("leave yes")
    assert player_at_table.seat.asked == []
    assert player_at_table.commands.has_left


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
async def test_without_a_board_the_answer_says_how_to_get_one(
    first: Callable[[], SessionState], answer: str
) -> None:
    for command in ("look", "draw", "w>t1", "cash out", "where K"):
        assert await TypingPlayer(first()).say(command) == [answer]


async def test_a_host_locks_the_table_and_ends_the_race() -> None:
    player_at_table = TypingPlayer(gathering())
    for command in ("lock", "unlock", "end race"):
        await player_at_table.say(command)
    assert player_at_table.seat.asked == ["lock", "unlock", "end race"]


async def test_a_host_kicks_by_name_and_an_unknown_name_lists_the_players() -> None:
    player_at_table = TypingPlayer(gathering())
    assert await player_at_table.say("kick Bob") == [
        "no: Type kick NAME. At this table: ana, Otto [bot]."
    ]
    await player_at_table.say("kick otto [bot]")
    assert player_at_table.seat.asked == [f"kick {player('o')}"]


async def test_a_host_allows_a_player_by_name_to_get_ready_again() -> None:
    player_at_table = TypingPlayer(gathering())
    assert await player_at_table.say("allow") == [
        "no: Type allow NAME. At this table: ana, Otto [bot]."
    ]
    await player_at_table.say("allow ana")
    assert player_at_table.seat.asked == [f"allow {player('a')}"]


async def test_a_refused_command_is_answered_with_the_reason() -> None:
    player_at_table = TypingPlayer(gathering())
    player_at_table.seat.refuses = True
    assert (await player_at_table.say("start"))[0].startswith("no: The server refuses this.")
    assert (await player_at_table.say("leave"))[0].startswith("no: The server refuses this.")
    assert not player_at_table.commands.has_left


async def test_review_share_and_verify_need_a_finished_race() -> None:
    player_at_table = TypingPlayer(state_after())
    for command in ("review", "share", "verify"):
        assert await player_at_table.say(command) == ["no: No race is over yet."]
    player_at_table = TypingPlayer(over())
    assert (await player_at_table.say("verify"))[0].startswith("no: There is no such record.")
    assert "result 1. ana: 9 banked, -$5, cashed out" in await player_at_table.say("results")


async def test_wait_accepts_only_events_that_it_knows() -> None:
    player_at_table = TypingPlayer(state_after())
    assert await player_at_table.say("wait deal") == []
    (answer,) = await player_at_table.say("wait tomorrow")
    assert answer.startswith("no: Type wait ready, wait ready 3, or wait with countdown, ")
    assert not player_at_table.commands.is_waiting
