"""The lobby and practice in plain lines."""

from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any, cast

import pytest

from kit.line_client import RecordedOutput, scripted_session
from kit.messages import BEST
from saratoga_client.net.connection import Connection
from saratoga_client.net.errors import CommandRefused
from saratoga_client.plain import lobby
from saratoga_client.plain.lobby import ask_name, run_lobby, tables_lines, take_name
from saratoga_client.plain.practice import run_practice
from saratoga_client.plain.session import ExitReason
from saratoga_client.practice.deals import from_seed
from saratoga_client.practice.practice_session import kept_runs
from saratoga_client.problems import Exit, Problem
from saratoga_client.session.history import Raced
from saratoga_client.session.record_store import RecordStore
from saratoga_client.session.run_watch import OpenBook
from saratoga_protocol import events
from saratoga_protocol.commands import JoinTable, LeaveTable
from saratoga_protocol.events import LeaderboardRow, TableSummary
from saratoga_rules.games import GAMES

CHALLENGE = events.OpenRaceShown(
    re=1,
    open=events.OpenRace(
        id="k7m2pqk7m2pqk7m2",
        kind="challenge",
        game="caprice",
        rules=1,
        cap=10,
        opened=0,
        closes=1,
        results=[
            events.OpenResult(
                player="bert", name="Bert", place=1, banked=14, net=20, state="stuck", elapsed=9_000
            )
        ],
    ),
    days=[],
)
RATED = events.Leaderboard(
    game="caprice",
    ranking="rating",
    period="all",
    key="all",
    bots=False,
    total=2,
    offset=0,
    rows=[],
    me=LeaderboardRow(rank=2, player="anna", name="Anna", value=1_510, doubt=80),
)


class AnsweringConnection:
    """A connection that records the commands and answers them at once."""

    url = "ws://127.0.0.1:9"
    player = "anna"
    seat: str | None = None

    def __init__(self, name: str | None = "Anna", table: str | None = None) -> None:
        self.welcome = SimpleNamespace(name=name, table=table)
        self.asked: list[Any] = []

    async def ask(self, draft: Callable[..., Any], kind: type, within: float = 0) -> Any:
        command = draft(id=1)
        if kind is events.OpenRaceShown:
            return CHALLENGE
        self.asked.append(command)
        if kind is events.NameClaimed:
            if command.name == "Anna":
                taken = events.Refused(re=1, code="name_taken", message="Anna is taken.")
                raise CommandRefused(taken)
            return events.NameClaimed(re=1, name=command.name)
        if kind is events.Leaderboard:
            return RATED if command.ranking == "rating" else BEST
        return events.Tables(re=1, tables=[])

    async def request(self, draft: Callable[..., Any]) -> None:
        self.asked.append(draft(id=1))


async def stayed(
    connection: AnsweringConnection, *commands: str
) -> tuple[RecordedOutput, ExitReason]:
    session, output = scripted_session(*commands)
    return output, await run_lobby(cast(Connection, connection), session=session)


async def test_a_kept_seat_is_shown_and_can_be_given_up() -> None:
    connection = AnsweringConnection(table="mint-otter-42")
    output, reason = await stayed(connection, "leave", "quit")
    assert "seat: you still have a seat at mint-otter-42. Type join mint-otter-42, or leave." in (
        output.lines
    )
    assert output.lines[-1] == "ok: your seat at mint-otter-42 was given up"
    assert [type(command) for command in connection.asked] == [JoinTable, LeaveTable]
    assert reason is ExitReason.QUIT


async def test_results_of_the_own_challenges_are_told_once_and_the_history_has_the_rating() -> None:
    OpenBook().tell("anna", CHALLENGE.open.id, 0)
    RecordStore().add(
        Raced(race="mint-otter-42/1", game="caprice", at=1, player="anna", place=1, banked=20, net=0, rivals=[])
    )  # fmt: skip
    told = "challenge: Bert ran your challenge: 14 banked."
    rated = "history Caprice: 1 races, 0 won, best 20, last 30 20.0, rating 1510, give or take 80"
    for times in (1, 0):
        output, _ = await stayed(AnsweringConnection(), "history", "quit")
        assert output.lines.count(told) == times
        assert output.lines[-1] == rated


def test_a_public_table_shows_its_game_and_free_seats() -> None:
    found = TableSummary(
        code="mint-otter-42",
        game="caprice",
        cap=0,
        phase="gathering",
        host="Anna",
        seated=2,
        seats=4,
    )
    assert list(tables_lines(events.Tables(re=1, tables=[found]))) == [
        "tables: 1",
        "table mint-otter-42: caprice, no time limit, gathering, host Anna, 2 of 4 seats",
    ]


async def test_a_table_that_is_gone_with_a_race_is_an_alarm_of_the_program(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def gone(*_: object, **__: object) -> ExitReason:
        raise Problem("No such table. ALARM: Race 1: gone.", "", Exit.NOT_VERIFIED)

    monkeypatch.setattr(lobby, "play_table", gone)
    session, output = scripted_session("join mint-otter-42", "quit")
    connection = cast(Connection, AnsweringConnection())
    assert await run_lobby(connection, session=session) is ExitReason.QUIT
    assert session.alarms == ["No such table. ALARM: Race 1: gone."]
    assert output.lines[-1] == "no: No such table. ALARM: Race 1: gone."


async def test_a_taken_name_is_asked_for_again() -> None:
    session, output = scripted_session("tables", "Anna", "name Bert")
    assert await ask_name(cast(Connection, AnsweringConnection(name=None)), session) is None
    assert [line.split(".")[0] for line in output.lines] == [
        "name: You have no name at this server yet",
        "no: Choose a name first: type name NAME, or quit",
        "no: Anna is taken",
        "name: you are Bert",
    ]


@pytest.mark.parametrize("known", [None, "Carl"])
async def test_a_name_that_the_program_was_started_with_is_claimed_by_a_player_without_one(
    known: str | None,
) -> None:
    connection = AnsweringConnection(name=known)
    session, output = scripted_session("quit")
    await run_lobby(cast(Connection, connection), name="Bert", session=session)
    assert [command.name for command in connection.asked] == ([] if known else ["Bert"])
    assert f"you are {known or 'Bert'}. Type help" in output.lines[-1]


async def test_an_empty_or_too_long_name_is_not_sent() -> None:
    connection = AnsweringConnection(name=None)
    session, output = scripted_session()
    assert not await take_name(cast(Connection, connection), session, "")
    assert not await take_name(cast(Connection, connection), session, "x" * 65)
    assert [line.split(":")[0] for line in output.lines] == ["no", "no"]
    assert connection.asked == []


async def test_the_question_for_a_name_suggests_none_that_may_be_taken() -> None:
    session, output = scripted_session("name", "quit")
    await ask_name(cast(Connection, AnsweringConnection(name=None)), session)
    assert output.lines == [
        "name: You have no name at this server yet. Type name and your name: name NAME.",
        "no: Which name? Type name and your name: name NAME.",
    ]


CANFIELD = GAMES["canfield"]


async def practised(
    *commands: str, name: str = "canfield", seed: str = "7"
) -> tuple[list[str], ExitReason]:
    """Practise with these commands; return the lines and the reason for the end."""
    session, output = scripted_session(*commands)
    reason = await run_practice(GAMES[name], seed, session=session)
    return output.lines, reason


def answers(said: Sequence[str], beginning: str) -> list[str]:
    return [line for line in said if line.startswith(beginning)]


async def test_a_run_is_saved_at_the_end_of_the_input_and_becomes_the_ghost() -> None:
    await practised("draw", "draw")
    (run,) = kept_runs(from_seed(CANFIELD, "7"))
    assert len(run.climb.counts) == 2
    said, _ = await practised("ghost")
    assert answers(said, "ghost: You race a ghost: your run, 1 banked")
    assert answers(said, "ghost: your run, 1 banked")
