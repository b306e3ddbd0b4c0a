"""Commands at a table: those sent to the server, and those answered locally."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from kit.plain_sessions import TypingPlayer
from kit.session_states import (
    CODE,
    outcome,
    player,
    seat,
    snapshot,
    state_after,
)
from kit.session_states import table as at_table
from saratoga_client.board_view.qr_code import qr_lines
from saratoga_client.net.link_state import LinkState
from saratoga_client.plain.grammar import Context
from saratoga_client.session.state import SessionState, Verification
from saratoga_protocol import events


def gathering(**seats: bool) -> SessionState:
    table = at_table(phase="gathering", seats=[seat("y", **seats), seat("a"), seat("o")])
    return state_after(first=snapshot(shown=table))


def over() -> SessionState:
    return state_after(events.RaceOver(outcome=outcome("a9:cashed_out y1:cashed_out")))


async def test_a_move_without_a_connection_is_answered_at_once_that_it_waits() -> None:
    player_at_table = TypingPlayer(state_after())
    player_at_table.seat.link(LinkState.RECONNECTING)
    assert await player_at_table.say("draw") == ["ok: draw waits for the connection"]
    assert player_at_table.seat.asked == ["draw"]


@pytest.mark.parametrize("between", ["no", "gap", "draw"])
async def test_any_other_command_cancels_a_question(between: str) -> None:
    player_at_table = TypingPlayer(state_after())
    await player_at_table.say("cash out")
    await player_at_table.say(between)
    assert await player_at_table.say("yes") == ["no: There is no question to answer."]
    assert "cash out" not in player_at_table.seat.asked


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


@pytest.mark.parametrize(("host", "who"), [("y", "Type next"), ("a", "The host types next")])
async def test_after_a_race_the_answer_says_who_prepares_the_next_one(host: str, who: str) -> None:
    table = at_table(phase="over", host=host)
    typing = TypingPlayer(state_after(first=snapshot(shown=table)))
    assert await typing.say("ready") == [f"no: The next race is not being prepared yet. {who}."]
    assert await typing.say("look") == [f"no: This race is over. {who} to prepare another one."]


async def test_a_host_locks_the_table_and_ends_the_race() -> None:
    player_at_table = TypingPlayer(gathering())
    for command in ("lock", "unlock", "end race"):
        await player_at_table.say(command)
    assert player_at_table.seat.asked == ["lock", "unlock", "end race"]


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
    assert (await player_at_table.say("start now"))[0].startswith("no: The server refuses this.")
    assert (await player_at_table.say("leave"))[0].startswith("no: The server refuses this.")
    assert not player_at_table.commands.has_left


async def test_wait_verified_waits_for_the_check_of_the_race_before_the_open_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    checked = {f"{CODE}/1": Verification(True, "Good.")}
    typing = TypingPlayer(replace(gathering(), verifications=checked))
    found: list[bool] = []

    async def until(holds: Callable[[SessionState], bool]) -> None:
        assert typing.seat.state is not None
        for typing.seat.is_checking in (True, False):
            found.append(holds(typing.seat.state))

    monkeypatch.setattr(typing.seat, "until", until)
    assert await typing.say("wait verified") == []
    assert found == [False, True]


async def test_start_asks_once_while_somebody_is_not_ready_and_a_second_start_starts() -> None:
    typing = TypingPlayer(gathering(ready=True))
    question = "start: ana isn't ready. Start without ana? Type start again, or wait."
    assert await typing.say("start") == [question]
    assert typing.seat.asked == []
    await typing.say("start")
    assert typing.seat.asked == ["start"]
    # any other command drops the question
    assert await typing.say("start") == [question]
    await typing.say("table")
    assert await typing.say("start") == [question]
    await typing.say("yes")
    await typing.say("start now")
    assert typing.seat.asked == ["start"] * 3


async def test_start_does_not_ask_if_everybody_is_ready_or_the_player_is_not_the_host() -> None:
    everybody = at_table(phase="gathering", seats=[seat("y", ready=True), seat("a", ready=True)])
    for shown in (everybody, at_table(phase="gathering", host="a")):
        typing = TypingPlayer(state_after(first=snapshot(shown=shown)))
        assert await typing.say("start") == []
        assert typing.seat.asked == ["start"]


async def test_qr_writes_the_link_for_browsers_and_draws_it() -> None:
    lines = await TypingPlayer(state_after(first=snapshot("y1 a1"))).say("qr")
    assert lines[0].startswith("link: http://")
    assert lines[1:] == list(qr_lines(lines[0].removeprefix("link: ")))
