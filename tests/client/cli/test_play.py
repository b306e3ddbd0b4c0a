"""Playing from the command line: the program asks for a name before it opens the screen."""

from collections.abc import AsyncIterator

import pytest

from kit.lobbies import OpenLobby, open_lobby
from kit.session_states import CODE, seat, snapshot, state_after, table
from saratoga_client.cli import play
from saratoga_client.cli.play import ensure_name, left_race_line


@pytest.fixture
async def lobby() -> AsyncIterator[OpenLobby]:
    async with open_lobby() as opened:
        yield opened


@pytest.fixture
def questions(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the questions asked at the terminal; the player answers Anna, then Cleo."""
    asked: list[str] = []
    answers = ["Anna", "Cleo"]

    async def prompt(question: str) -> str:
        asked.append(question)
        return answers.pop(0)

    monkeypatch.setattr(play, "prompt", prompt)
    return asked


async def test_a_player_with_a_name_is_not_asked(lobby: OpenLobby, questions: list[str]) -> None:
    await ensure_name(await lobby.player("Bert"), "Dora")
    assert questions == []


async def test_the_wanted_name_is_claimed_without_a_question(
    lobby: OpenLobby, questions: list[str]
) -> None:
    bert = await lobby.player()
    await ensure_name(bert, "Bert")
    assert questions == []


async def test_a_name_is_asked_for_on_one_connection_until_the_server_accepts_it(
    lobby: OpenLobby, questions: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    await lobby.player("Anna")
    await ensure_name(await lobby.player(), "")
    assert questions == ["Your name at this server", "Another name"]
    assert "saratoga token import" in capsys.readouterr().err


def test_a_player_who_left_a_race_reads_its_result_and_the_way_back() -> None:
    assert left_race_line(state_after(), "") == (
        f"Your race ended with 1 banked, -$45. To come back for the next race: saratoga join {CODE}"
    )


def test_without_a_race_or_another_person_there_is_no_way_back() -> None:
    gathering = snapshot(shown=table(phase="gathering"))
    assert left_race_line(state_after(first=gathering), "") == ""
    with_bot = snapshot(shown=table(seats=[seat("y"), seat("o")]))
    assert left_race_line(state_after(first=with_bot), "") == ""
