"""The ways from the lobby to a table: by a code before a name, and back to a seat or the last table."""

from collections.abc import AsyncIterator

import pytest

from kit.lobbies import OpenLobby, in_the_lobby, open_lobby
from saratoga_client.local.settings import load


@pytest.fixture
async def lobby() -> AsyncIterator[OpenLobby]:
    async with open_lobby() as opened:
        yield opened


async def test_an_unknown_code_is_reported_before_a_name_is_asked(lobby: OpenLobby) -> None:
    code = await lobby.host("Anna")
    async with in_the_lobby(lobby.url) as visitor:
        await visitor.reads("Your name:")
        await visitor.press("escape", "j")
        await visitor.type("not-there-77")
        await visitor.reads("There is no table with that code.", "not-there-77")
        await visitor.press("ctrl+u")
        await visitor.type(code)
        await visitor.reads("Your name:")
        await visitor.type("Bert")
        await visitor.reads("SEATS 2 of", code)


async def test_the_lobby_offers_the_last_table_after_it_was_left(lobby: OpenLobby) -> None:
    code = await lobby.host("Anna")
    async with in_the_lobby(lobby.url, name="Bert") as visitor:
        await visitor.reads("You are Bert")
        await visitor.press("j")
        await visitor.type(code)
        await visitor.reads("SEATS 2 of")
        await visitor.press("q", "y")
        await visitor.reads(f"your last table: {code}, b goes back", f"b back to {code}")
    # the program is closed and opened again
    async with in_the_lobby(lobby.url) as visitor:
        await visitor.reads(f"your last table: {code}, b goes back")
        await visitor.press("b")
        await visitor.reads("SEATS 2 of")
    assert load({}).server_url == lobby.url


async def test_the_lobby_returns_to_a_seat_from_an_earlier_session(lobby: OpenLobby) -> None:
    async with in_the_lobby(lobby.url, name="Bert") as visitor:
        await visitor.reads("You are Bert", "none now")
        await visitor.press("c", "enter")
        await visitor.reads("SEATS 1 of 16")
        code = visitor.lines[0].split()[1]
    async with in_the_lobby(lobby.url) as visitor:
        await visitor.reads(f"You are Bert, and you have a seat at {code}; b goes back")
        await visitor.press("b")
        await visitor.reads("SEATS 1 of 16", code)
