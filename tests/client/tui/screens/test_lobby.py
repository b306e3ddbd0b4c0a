"""Keys in the lobby: what is typed, what is wished for, and an answer to every key."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from textual import events

from kit.solo import Player, before
from saratoga_client.session.join import TableWanted
from saratoga_client.session.lobby import LobbyState
from saratoga_client.tui.screens.lobby import LobbyScreen
from saratoga_protocol.events import TableSummary

FORM = TableWanted(game="canfield", cap=10, seats=16, public=False)
OPEN = LobbyState(server="wss://cards.example.org", is_open=True, is_met=True, name="Zoë")
AWAY = LobbyState(server="wss://cards.example.org", is_met=True, wrong="Nobody is there.")


class Wished:
    """Writes down what is wished for."""

    def __init__(self) -> None:
        self.for_: list[tuple[str, object]] = []

    def take_name(self, name: str) -> None:
        self.for_.append(("name", name))

    def join(self, text: str) -> None:
        self.for_.append(("join", text))

    def watch(self, text: str) -> None:
        self.for_.append(("watch", text))

    def open_table(self, table: TableWanted) -> None:
        self.for_.append(("open", table))

    def host_here(self, table: TableWanted) -> None:
        self.for_.append(("host", table))

    def go_to_server(self, text: str) -> None:
        self.for_.append(("house", text))

    def practise(self, game: str) -> None:
        self.for_.append(("practise", game))

    def quit(self) -> None:
        self.for_.append(("quit", None))


@asynccontextmanager
async def looking_at(lobby: LobbyState) -> AsyncIterator[tuple[Player, Wished]]:
    wished = Wished()
    async with before(LobbyScreen(wished, lobby, FORM)) as player:
        yield player, wished


@pytest.fixture
def tables() -> list[TableSummary]:
    return [
        TableSummary(
            code=code, game="canfield", cap=3, seats=2, phase="over", host="Anna", seated=1
        )
        for code in ("mint-otter-42", "calm-heron-17")
    ]


async def test_arrows_choose_enter_joins_and_w_watches(tables: list[TableSummary]) -> None:
    async with looking_at(OPEN.with_tables(tables)) as (player, wished):
        await player.press("down", "w", "up", "enter")
    assert wished.for_ == [("watch", "calm-heron-17"), ("join", "mint-otter-42")]


@pytest.mark.parametrize(
    ("key", "wish"), [("n", "name"), ("j", "join"), ("w", "watch"), ("o", "house")]
)
async def test_a_line_is_typed_with_its_capitals_and_nothing_in_it_is_a_key(
    key: str, wish: str
) -> None:
    async with looking_at(OPEN) as (player, wished):
        await player.press(key, "Q", "q", "question_mark", "space", "c")
        assert ": Qq? c" in player.text
        assert "q quit" not in player.lines[-1]
        await player.press("enter")
    assert wished.for_ == [(wish, "Qq? c")]


async def test_a_line_that_is_given_up_or_empty_wishes_for_nothing() -> None:
    async with looking_at(OPEN) as (player, wished):
        assert await player.press("j", "a", "escape") == "Cancelled."
        await player.press("j", "enter")
        await player.press("j", "space", "enter")
    assert wished.for_ == []


async def test_what_is_pasted_is_an_invitation_or_part_of_what_is_being_typed() -> None:
    async with looking_at(OPEN) as (player, wished):
        player.app.post_message(events.Paste("saratoga join\nmint-otter-42"))
        await player.pilot.pause()
        await player.press("enter", "n", "Z")
        player.app.post_message(events.Paste("oë"))
        await player.pilot.pause()
        await player.press("enter")
    assert wished.for_ == [("join", "saratoga join mint-otter-42"), ("name", "Zoë")]


async def test_a_table_is_described_before_it_is_opened() -> None:
    async with looking_at(OPEN) as (player, wished):
        await player.press("c", "g", "+", "-", "-", "escape")
        assert "A NEW TABLE" not in player.text
        await player.press("c", "p", "enter")
        await player.press("h", "c", "enter")
    assert wished.for_ == [
        ("open", TableWanted(game="canfield", cap=10, seats=16, public=True)),
        ("host", TableWanted(game="canfield", cap=20, seats=16, public=False)),
    ]


async def test_practice_is_chosen_by_number() -> None:
    async with looking_at(AWAY) as (player, wished):
        assert await player.press("p", "9") == "Cancelled."
        await player.press("p", "5")
    assert wished.for_ == [("practise", "caprice")]


@pytest.mark.parametrize("key", ["n", "c", "w", "b", "enter"])
async def test_what_needs_a_house_says_so_where_there_is_none(key: str) -> None:
    async with looking_at(AWAY) as (player, wished):
        assert "No server answers" in await player.press(key)
    assert wished.for_ == []


async def test_every_other_key_is_answered_too() -> None:
    async with looking_at(OPEN) as (player, wished):
        for key in ("x", "7", "f3", "b", "enter", "question_mark", "t"):
            assert await player.press(key), key
    assert wished.for_ == []
