"""Playing from the command line: the program asks for a name before it opens the screen."""

from collections.abc import AsyncIterator

import pytest

from kit.lobbies import OpenLobby, open_lobby
from saratoga_client.cli import play
from saratoga_client.cli.play import ensure_name


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
    assert "saratoga token use" in capsys.readouterr().err
