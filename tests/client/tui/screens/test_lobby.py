"""Keys in the lobby: each has an action, an input line, or a message."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import cast

import pytest
from textual import events

from kit.solo_player import Player, before
from saratoga_client.session.join import TableWanted
from saratoga_client.session.lobby import LobbyState
from saratoga_client.tui.lobby_flow import LobbyFlow
from saratoga_client.tui.screens.lobby import LobbyScreen
from saratoga_protocol.events import TableSummary

FORM = TableWanted(game="canfield", cap=10, seats=16, public=False)
OPEN = LobbyState(server="wss://cards.example.org", is_open=True, has_tried=True, name="Zoë")
AWAY = LobbyState(
    server="wss://cards.example.org", has_tried=True, wrong="No server listens there."
)


class RecordedActions:
    """A recorder of the actions that the screen requests."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, object]] = []

    def take_name(self, name: str) -> None:
        self.asked.append(("name", name))

    def join(self, text: str) -> None:
        self.asked.append(("join", text))

    def watch(self, text: str) -> None:
        self.asked.append(("watch", text))

    def open_table(self, table: TableWanted) -> None:
        self.asked.append(("open", table))

    def look_here(self) -> None:
        self.asked.append(("look", None))

    def host_here(self, table: TableWanted) -> None:
        self.asked.append(("host", table))

    def go_to_server(self, text: str) -> None:
        self.asked.append(("server", text))

    def practise(self, game: str) -> None:
        self.asked.append(("practise", game))

    def quit(self) -> None:
        self.asked.append(("quit", None))


@asynccontextmanager
async def looking_at(lobby: LobbyState) -> AsyncIterator[tuple[Player, RecordedActions]]:
    actions = RecordedActions()
    async with before(LobbyScreen(cast(LobbyFlow, actions), lobby, FORM)) as player:
        yield player, actions


@pytest.fixture
def tables() -> list[TableSummary]:
    return [
        TableSummary(
            code=code, game="canfield", cap=3, seats=2, phase="over", host="Anna", seated=1
        )
        for code in ("mint-otter-42", "calm-heron-17")
    ]


async def test_arrows_choose_enter_joins_and_w_watches(tables: list[TableSummary]) -> None:
    async with looking_at(OPEN.with_tables(tables)) as (player, actions):
        await player.press("down", "w", "up", "enter")
    assert actions.asked == [("watch", "calm-heron-17"), ("join", "mint-otter-42")]


@pytest.mark.parametrize(
    ("key", "action"), [("n", "name"), ("j", "join"), ("w", "watch"), ("o", "server")]
)
async def test_a_typed_line_keeps_its_capitals_and_its_letters_are_not_keys(
    key: str, action: str
) -> None:
    async with looking_at(OPEN) as (player, actions):
        await player.press(key, "Q", "q", "question_mark", "space", "c")
        assert ": Qq? c" in player.text
        assert "q quit" not in player.lines[-1]
        await player.press("enter")
    assert actions.asked == [(action, "Qq? c")]


async def test_a_cancelled_or_empty_line_does_nothing() -> None:
    async with looking_at(OPEN) as (player, actions):
        assert await player.press("j", "a", "escape") == "Cancelled."
        await player.press("j", "enter")
        await player.press("j", "space", "enter")
    assert actions.asked == []


async def test_a_pasted_text_is_an_invitation_or_part_of_the_typed_line() -> None:
    async with looking_at(OPEN) as (player, actions):
        player.app.post_message(events.Paste("saratoga join\nmint-otter-42"))
        await player.pilot.pause()
        await player.press("enter", "n", "Z")
        player.app.post_message(events.Paste("oë"))
        await player.pilot.pause()
        await player.press("enter")
    assert actions.asked == [("join", "saratoga join mint-otter-42"), ("name", "Zoë")]


async def test_the_form_describes_a_table_before_it_is_created() -> None:
    async with looking_at(OPEN) as (player, actions):
        await player.press("c", "g", "+", "-", "-", "escape")
        assert "A NEW TABLE" not in player.text
        await player.press("c", "p", "enter")
        await player.press("h", "c", "m", "enter")
    assert actions.asked == [
        ("open", TableWanted(game="canfield", cap=10, seats=16, public=True)),
        ("look", None),
        ("host", TableWanted(game="canfield", cap=20, seats=16, public=False, races=3)),
    ]


async def test_practice_is_chosen_by_number() -> None:
    async with looking_at(AWAY) as (player, actions):
        assert await player.press("p", "9") == "Cancelled."
        await player.press("p")
        assert "1-6 practise it" in player.text
        await player.press("6")
        await player.press("p", "1")
    assert actions.asked == [("practise", "caprice"), ("practise", "klondike")]


@pytest.mark.parametrize("key", ["n", "c", "w", "b", "enter"])
async def test_keys_that_need_a_server_say_so_without_one(key: str) -> None:
    async with looking_at(AWAY) as (player, actions):
        assert "No server answers" in await player.press(key)
    assert actions.asked == []


async def test_every_other_key_gets_an_answer() -> None:
    async with looking_at(OPEN) as (player, actions):
        for key in ("x", "7", "f3", "b", "enter", "question_mark", "t"):
            assert await player.press(key), key
    assert actions.asked == []
