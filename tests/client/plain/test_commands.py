"""Commands at a table: those sent to the server, and those answered locally."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Final, cast

import pytest

from kit.line_client import RecordedOutput, scripted_session
from kit.positions import draw
from kit.screens import FakeSession
from kit.session_states import (
    CODE,
    finished_race,
    in_match,
    opening,
    outcome,
    seat,
    snapshot,
    state_after,
    table,
)
from kit.session_states import table as at_table
from saratoga_client.net.errors import LinkState
from saratoga_client.plain.board import parse_typed_move
from saratoga_client.plain.card_names import CardNames
from saratoga_client.plain.commands import TableCommands
from saratoga_client.plain.event_lines import ChangeWriter
from saratoga_client.plain.grammar import COMMANDS, Context, help_lines, parse_line, read_settings
from saratoga_client.problems import Problem
from saratoga_client.session.invitation import qr_lines
from saratoga_client.session.state import SessionState, Verification
from saratoga_client.session.table_session import TableSession
from saratoga_protocol import events
from saratoga_rules.games import GAMES
from saratoga_rules.moves import Move
from saratoga_rules.position import redact
from saratoga_rules.records.digest_words import digest_words
from saratoga_rules.records.record import RaceRecord, digest_of, format_record


class AnsweringSession(FakeSession):
    """A session whose server answers at once."""

    server = "ws://192.168.1.7:7470"

    async def until(self, holds: Callable[[SessionState], bool]) -> None:
        while not holds(self._now()):
            self.confirm()


class TypingPlayer:
    """A player who types commands at a table; the server answers at once."""

    def __init__(
        self,
        first: SessionState,
        context: Context = Context.TABLE,
        record: RaceRecord | None = None,
    ) -> None:
        session, self.output = scripted_session()
        self.session = session
        self.seat = AnsweringSession(first, opening(), record)
        self.context = context
        table = cast(TableSession, self.seat)
        self.writer = ChangeWriter(self.output, table.now)
        self.commands = TableCommands(session, table, self.writer, context)

    async def say(self, line: str) -> list[str]:
        """Type a line; return the lines that answer it."""
        output: RecordedOutput = self.output
        before = len(output.lines)
        await self.commands.do(parse_line(line, self.context))
        return output.lines[before:]


def shown_at(there: events.Table) -> SessionState:
    return state_after(first=snapshot(shown=there))


def gathering(*, ready: bool = False, others: bool = False) -> SessionState:
    seats = [seat("y", ready=ready), seat("a", ready=others), seat("o", ready=others)]
    return shown_at(at_table(phase="gathering", seats=seats))


def over() -> SessionState:
    return state_after(events.RaceOver(outcome=outcome("a9:cash-out y1:cash-out")))


SCENES: Final[dict[str, Callable[[], SessionState]]] = {
    "race": state_after,
    "gathering": gathering,
    "gathering, ready": lambda: gathering(ready=True),
    "gathering, everybody ready": lambda: gathering(ready=True, others=True),
    "gathering, as guest": lambda: shown_at(at_table(phase="gathering", host="a")),
    "without a board": lambda: state_after(first=snapshot("y1 =a1")),
    "over, as host": lambda: shown_at(at_table(phase="over")),
    "over, as guest": lambda: shown_at(at_table(phase="over", host="a")),
    "finished": over,
}

SCRIPT: Final = Path(__file__).with_name("commands.txt").read_text(encoding="utf-8")
CASES: Final = dict(case.split("\n", 1) for case in SCRIPT.split("\n== ")[1:])


async def written(case: str) -> str:
    """Type the commands of a case in its scenes; return them with the answers and what was sent."""
    lines = []
    for line in case.splitlines():
        if line.startswith("["):
            typing = TypingPlayer(SCENES[line[1:-1]]())
            lines.append(line)
        elif line.startswith("> "):
            typing.seat.asked.clear()
            answers = await typing.say(line[2:])
            lines += [line, *answers, *(f"sent {each}" for each in typing.seat.asked)]
    return "\n".join(lines)


@pytest.mark.parametrize("name", CASES)
async def test_commands_are_answered_as_the_script_says(name: str) -> None:
    assert await written(CASES[name]) == CASES[name].strip()


async def test_a_move_without_a_connection_is_answered_at_once_that_it_waits() -> None:
    player_at_table = TypingPlayer(state_after())
    player_at_table.seat.link(LinkState.RECONNECTING)
    assert await player_at_table.say("draw") == ["ok: draw waits for the connection"]
    assert player_at_table.seat.asked == ["draw"]


async def test_a_watcher_leaves_without_a_leave_command() -> None:
    player_at_table = TypingPlayer(state_after(), Context.WATCHING)
    await player_at_table.say("leave yes")
    assert player_at_table.seat.asked == []
    assert player_at_table.commands.has_left


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


async def test_wait_verified_waits_for_the_check_and_not_only_for_the_end_of_the_race(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    over = state_after(first=snapshot(shown=at_table(phase="over")))
    checked = replace(over, verifications={over.table.race: Verification(True, "Good.")})
    typing = TypingPlayer(checked)
    found: list[bool] = []

    async def until(holds: Callable[[SessionState], bool]) -> None:
        found.extend(map(holds, (over, checked)))

    monkeypatch.setattr(typing.seat, "until", until)
    assert await typing.say("wait verified") == []
    assert found == [False, True]


async def test_qr_writes_the_link_for_browsers_and_draws_it() -> None:
    lines = await TypingPlayer(state_after(first=snapshot("y1 a1"))).say("qr")
    assert lines[0].startswith("link: http://")
    assert lines[1:] == list(qr_lines(lines[0].removeprefix("link: ")))


async def test_verify_takes_the_four_words_that_a_friend_was_shown() -> None:
    record = finished_race()
    words = digest_words(digest_of(format_record(record)))
    typing = TypingPlayer(over(), record=record)
    for line in (f"verify #{words}", f"verify {record.race_id}#{words.upper()}"):
        lines = await typing.say(line)
        assert f"check words: ok, the four words of the digest are {words}" in lines
        assert lines[-1].startswith(f"verified: {record.race_id} is verified: this machine did not")
    assert typing.session.alarms == []
    lines = await typing.say("verify #oak-pear-lamp-river")
    assert any(line.startswith("check words: WRONG, ") for line in lines)
    assert lines[-1].startswith("alarm: NOT VERIFIED: ")
    assert len(typing.session.alarms) == 1
    (no,) = await typing.say("verify #oak-pear")
    assert no.startswith("no: 'oak-pear' are not the words of a digest: four words are needed")


@pytest.mark.parametrize("words", ["2", f"{CODE}/2", f"{CODE.upper()}/2"])
async def test_verify_takes_a_race_of_this_table_by_its_number(words: str) -> None:
    typing = TypingPlayer(over(), record=finished_race())
    await typing.say(f"verify {words}")
    assert typing.seat.asked == [f"record {CODE}/2"]


async def test_the_last_race_can_be_seen_while_the_next_one_runs() -> None:
    record = finished_race()
    typing = TypingPlayer(over(), record=record)
    typing.writer.show(over())
    shown = await typing.say("results")
    typing.seat.change_to(state_after(first=snapshot(shown=table(race=f"{CODE}/2"))))
    assert await typing.say("results") == shown
    await typing.say("verify")
    assert typing.seat.asked == [f"record {CODE}/1"]
    typing.writer.pause()


async def test_the_shared_text_keeps_the_match_of_its_race_when_a_new_match_gathers() -> None:
    after = in_match(table(phase="over", version=9), "a9 y1", "a9 y1", "a9 y1")
    shown = state_after(
        *after.changes,
        events.RaceOver(outcome=outcome("a9:cash-out y1:cash-out")),
    )
    typing = TypingPlayer(shown, record=finished_race())
    typing.session.friends = "ws://192.168.1.7:7470"
    typing.writer.show(shown)
    new = in_match(table(phase="gathering", race=f"{CODE}/2"))
    typing.seat.change_to(state_after(first=snapshot(shown=new)))
    lines = await typing.say("share")
    assert lines[0].endswith("ana won the match of 3 races")


@pytest.mark.parametrize(
    "context", [Context.LOBBY, Context.TABLE, Context.PRACTICE, Context.WATCHING]
)
def test_the_help_has_a_line_for_every_command(context: Context) -> None:
    lines = list(help_lines(context))
    assert all(line.startswith("help ") and ": " in line for line in lines)
    commands = [command for command in COMMANDS if context in command.context]
    assert len([line for line in lines if not line.startswith("help a move")]) == len(commands)


def test_no_word_means_two_commands() -> None:
    names = [name for command in COMMANDS for name in (command.name, *command.aliases)]
    assert len(names) == len(set(names))


def answered(words: str, name: str = "lafayette", context: Context = Context.TABLE) -> Move | str:
    view = redact(draw(GAMES[name], "t1: 9C\nt2: 8H\nt3: 9S\nstock: 2C"))
    return parse_typed_move(GAMES[name], view, words, context, CardNames(in_words=True))


def test_an_illegal_move_is_explained_with_the_chosen_card_names() -> None:
    assert answered("3") == "no: 9 of spades, column 3: no place to go now."
    assert answered("1 2") == (
        "no: 9 of clubs to column 2: columns build down in alternating colours."
    )


@pytest.mark.parametrize(
    ("words", "settings"),
    [
        ("", {}),
        ("caprice", {"game": "caprice"}),
        (
            "Game canfield CAP 5 minutes seats 4 public",
            {"game": "canfield", "cap": 5, "seats": 4, "public": True},
        ),
        ("cap none private", {"cap": 0, "public": False}),
        ("races 3 lafayette", {"game": "lafayette", "races": 3}),
        ("races 1", {"races": 1}),
    ],
)
def test_settings_can_be_typed_in_any_order(words: str, settings: dict[str, object]) -> None:
    assert read_settings(words) == settings


@pytest.mark.parametrize(
    ("words", "error"),
    [
        ("game whist", "The games are klondike, canfield, canfield-aisleriot,"),
        ("cap 7", "The time limit is 3, 5, 10 or 20 minutes"),
        ("cap", "The time limit is 3, 5, 10 or 20 minutes"),
        ("seats 0", "A table has "),
        ("races 4", "A match has 3 or 5 races"),
        ("races", "A match has 3 or 5 races"),
        ("fast", "'fast' is not a setting."),
    ],
)
def test_an_invalid_setting_is_explained(words: str, error: str) -> None:
    with pytest.raises(Problem, match=f"^{error}"):
        read_settings(words)
