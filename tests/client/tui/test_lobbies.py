"""The way from lobby to lobby, at a real server: a server on this machine, opened from another lobby."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import pytest

from kit.lobbies import OpenLobby, in_the_lobby, open_lobby
from saratoga_client.local.hosting import LocalServer
from saratoga_client.problems import Exit, Problem
from saratoga_client.tui import lobbies

NOWHERE = "ws://127.0.0.1:1"


@pytest.fixture
async def lobby() -> AsyncIterator[OpenLobby]:
    async with open_lobby() as opened:
        yield opened


@pytest.fixture
def server_here(lobby: OpenLobby, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Use the second test server in place of a started one; return a list of its starts and stops."""
    happened: list[str] = []

    @asynccontextmanager
    async def local_server(report: Callable[[str], None]) -> AsyncIterator[LocalServer]:
        report("Starting a server on this machine ...")
        happened.append("started")
        friends = "ws://192.0.2.7:7470"
        yield LocalServer(own=lobby.url, friends=friends, is_ours=True, people=lobby.people)
        happened.append("closed")

    monkeypatch.setattr(lobbies, "local_server", local_server)
    return happened


async def test_a_server_here_has_the_table_at_once_and_closes_when_the_table_is_left(
    server_here: list[str],
) -> None:
    async with in_the_lobby(NOWHERE, name="Bert") as visitor:
        await visitor.reads("WHAT YOU CAN DO")
        await visitor.press("h", "enter")
        await visitor.reads("SEATS 1 of 16", "saratoga join ws://192.0.2.7:7470/")
        assert server_here == ["started"]
        await visitor.press("q", "y")
        await visitor.reads("WHAT YOU CAN DO", "Your server on this machine has been closed.")
        assert server_here == ["started", "closed"]


async def test_the_server_here_is_not_closed_under_a_friend_without_a_question(
    lobby: OpenLobby, server_here: list[str]
) -> None:
    async with in_the_lobby(NOWHERE, name="Bert") as visitor:
        await visitor.reads("WHAT YOU CAN DO")
        await visitor.press("h", "enter")
        await visitor.reads("SEATS 1 of 16")
        code = visitor.lines[0].split()[1]
        await lobby.sit_down("Anna", code)
        await visitor.reads("SEATS 2 of 16")
        await visitor.press("q", "y")
        await visitor.reads(f"Anna is still at {code}.")
        await visitor.press("n")
        assert server_here == ["started"]
        await visitor.press("q")
        await visitor.reads(f"Anna is still at {code}.")
        await visitor.press("y")
        await visitor.reads("Your server on this machine has been closed.")


async def test_the_server_here_is_closed_for_no_other_step_without_a_question(
    lobby: OpenLobby, server_here: list[str]
) -> None:
    async with in_the_lobby(NOWHERE, name="Bert") as visitor:
        await visitor.reads("WHAT YOU CAN DO")
        await visitor.press("h", "enter")
        await visitor.reads("SEATS 1 of 16")
        other = await lobby.host("Anna")
        await visitor.press("q", "y")
        await visitor.reads(f"Anna is still at {other}. Close this machine's server?")
        await visitor.press("n", "o")
        await visitor.type(NOWHERE)
        await visitor.reads(f"Anna is still at {other}. Close this machine's server?")
        assert server_here == ["started"]
        await visitor.press("y")
        await visitor.reads("WHAT YOU CAN DO")
        assert server_here == ["started", "closed"]


async def test_h_opens_another_table_on_the_server_here_and_closes_nothing(
    lobby: OpenLobby, server_here: list[str]
) -> None:
    async with in_the_lobby(NOWHERE, name="Bert") as visitor:
        await visitor.reads("WHAT YOU CAN DO")
        await visitor.press("h", "enter")
        await visitor.reads("SEATS 1 of 16")
        other = await lobby.host("Anna")
        await visitor.press("q", "y")
        await visitor.reads(f"Anna is still at {other}. Close this machine's server?")
        await visitor.press("n", "h", "enter")
        await visitor.reads("SEATS 1 of 16")
        assert server_here == ["started"]


async def test_a_server_that_cannot_be_started_here_is_reported_in_the_lobby(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def local_server(report: Callable[[str], None]) -> LocalServer:
        raise Problem("The server is not installed here.", "Install it.", Exit.UNREACHABLE)

    monkeypatch.setattr(lobbies, "local_server", local_server)
    async with in_the_lobby(NOWHERE) as visitor:
        await visitor.reads("WHAT YOU CAN DO")
        await visitor.press("h", "enter")
        await visitor.reads("The server is not installed here. Install it.")


@pytest.mark.parametrize(("key", "seen"), [("y", "SEATS 2 of 16"), ("n", "SEATS 1 of 16")])
async def test_a_host_whose_friends_wait_is_asked_before_a_new_table_is_opened(
    lobby: OpenLobby, server_here: list[str], key: str, seen: str
) -> None:
    code = await lobby.host("Anna")
    async with in_the_lobby(lobby.url, name="Bert") as visitor:
        await visitor.reads("You are Bert")
        await visitor.press("j")
        await visitor.type(code)
        await visitor.reads("SEATS 2 of 16")
        await visitor.press("q", "y")
        await visitor.reads(f"your last table: {code}")
    async with in_the_lobby(NOWHERE, name="Bert") as visitor:
        await visitor.reads("WHAT YOU CAN DO")
        await visitor.press("h", "enter")
        await visitor.reads(
            f"Your table {code} is still open: Lafayette, 5 minutes, with Anna. Return there?"
        )
        await visitor.press(key)
        await visitor.reads(seen)
        assert (visitor.lines[0].split()[1] == code) == (key == "y")


async def test_the_way_back_stays_offered_after_the_question_is_dropped(
    lobby: OpenLobby, server_here: list[str]
) -> None:
    async with in_the_lobby(lobby.url, name="Bert") as visitor:
        await visitor.reads("You are Bert")
        await visitor.press("c", "enter")
        await visitor.reads("SEATS 1 of 16")
        code = visitor.lines[0].split()[1]
    async with in_the_lobby(NOWHERE, name="Bert") as visitor:
        await visitor.reads("WHAT YOU CAN DO")
        await visitor.press("h", "enter")
        await visitor.reads("Return there?")
        await visitor.press("escape")
        await visitor.reads(f"you have a seat at {code}; b goes back")
