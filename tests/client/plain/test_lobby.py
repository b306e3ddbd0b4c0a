"""The lobby in lines, at a house that answers as the test says."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, cast

from kit.leaderboard_pages import BEST
from kit.recorded_output import RecordedOutput, scripted_session
from saratoga_client.net.connection import Connection
from saratoga_client.net.errors import CommandRefused
from saratoga_client.plain.lobby import ask_name, claim_name, run_lobby, tables_lines
from saratoga_client.plain.session import ExitReason
from saratoga_protocol import events


class Hall:
    """A house for whoever has no seat yet."""

    url = "ws://127.0.0.1:9"

    def __init__(self, name: str | None = "Anna", table: str | None = None) -> None:
        self.welcome = SimpleNamespace(name=name, table=table)
        self.asked: list[Any] = []

    async def ask(self, draft: Callable[..., Any], kind: type) -> Any:
        command = draft(id=1)
        self.asked.append(command)
        if kind is events.NameClaimed:
            if command.name == "Anna":
                taken = events.Refused(re=1, code="name_taken", message="Anna is taken.")
                raise CommandRefused(taken)
            return events.NameClaimed(re=1, name=command.name)
        return BEST if kind is events.Leaderboard else events.Tables(re=1, tables=[])

    async def request(self, draft: Callable[..., Any]) -> None:
        self.asked.append(draft(id=1))


async def stayed(hall: Hall, *commands: str) -> tuple[RecordedOutput, ExitReason]:
    session, output = scripted_session(*commands)
    return output, await run_lobby(cast(Connection, hall), session=session)


async def test_who_comes_hears_where_and_as_whom_and_goes_when_the_lines_end() -> None:
    output, reason = await stayed(Hall())
    assert output.lines == ["lobby: ws://127.0.0.1:9, you are Anna. Type help for all commands."]
    assert reason is ExitReason.INPUT_ENDED


async def test_a_seat_that_is_still_kept_is_told_and_can_be_given_up() -> None:
    hall = Hall(table="mint-otter-42")
    output, reason = await stayed(hall, "leave", "quit")
    assert "seat: you still have a seat at mint-otter-42. Type join mint-otter-42, or leave." in (
        output.lines
    )
    assert output.lines[-1] == "ok: your seat at mint-otter-42 was given up"
    assert [command.table for command in hall.asked] == ["mint-otter-42"]
    assert reason is ExitReason.QUIT


async def test_what_is_wrong_with_an_order_is_said_and_no_house_is_asked() -> None:
    hall = Hall(name=None)
    commands = ("jion x", "join 17", "create whist", "create cap 5", "join mint-otter-42", "undo")
    output, _ = await stayed(hall, *commands, "leaderboard whist", "practice whist")
    answers = output.lines[1:]
    assert len(answers) == len(commands) + 2
    assert all(line.startswith("no: ") for line in answers)
    assert "Did you mean join?" in answers[0]
    assert answers[1] == "no: Type the table's code, for example join mint-otter-42."
    assert answers[4] == "no: Choose a name first: type name NAME."
    assert hall.asked == []


async def test_a_table_of_another_house_is_not_looked_for_in_this_one() -> None:
    hall = Hall()
    output, _ = await stayed(hall, "join ws://10.0.0.2:7470/mint-otter-42")
    assert output.lines[-1] == (
        "no: That table is on another server. Type quit, then run: "
        "saratoga join ws://10.0.0.2:7470/mint-otter-42 --plain"
    )
    assert hall.asked == []


async def test_leaders_and_tables_are_a_line_each_under_their_number() -> None:
    output, _ = await stayed(Hall(), "tables", "leaderboard canfield week")
    assert output.lines[1] == "tables: 0"
    assert output.lines[2].startswith("leaderboard: canfield, best")
    assert output.lines[3].startswith("leader 1. Anna: 31 banked")


def test_a_public_table_says_what_is_played_and_whether_there_is_room() -> None:
    found = events.TableSummary(
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
        "table mint-otter-42: caprice, no cap, gathering, host Anna, 2 of 4 seats",
    ]


async def test_a_name_that_is_taken_is_asked_for_again() -> None:
    session, output = scripted_session("tables", "Anna", "name Bert")
    assert await ask_name(cast(Connection, Hall(name=None)), session) is None
    assert [line.split(".")[0] for line in output.lines] == [
        "name: You have no name at this server yet",
        "no: Choose a name first: type name NAME, or quit",
        "no: Anna is taken",
        "name: you are Bert",
    ]


async def test_a_name_that_is_no_name_asks_no_house() -> None:
    hall = Hall(name=None)
    session, output = scripted_session()
    assert not await claim_name(cast(Connection, hall), session, "")
    assert not await claim_name(cast(Connection, hall), session, "x" * 65)
    assert [line.split(":")[0] for line in output.lines] == ["no", "no"]
    assert hall.asked == []
