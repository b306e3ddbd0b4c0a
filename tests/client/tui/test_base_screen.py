"""The base of all screens: every key gets an answer, and at most one question is open."""

from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import RenderableType
from textual import events, on
from textual.widget import Widget
from textual.widgets import Input

from kit.screens import ScreenPlayer, before
from saratoga_client.board_view.roles import Role
from saratoga_client.input.find import Finder
from saratoga_client.local.terminal import Colours
from saratoga_client.tui.base_screen import BaseScreen, MessageLine, key_line, title_line
from saratoga_client.tui.theme import Appearance
from saratoga_client.tui.widgets import CanvasView, Ink, LineInput, RichView, ScrollPage

LINES = 30


class Long(BaseScreen):
    """A screen with a page of numbered lines."""

    def body(self) -> Iterable[Widget]:
        with ScrollPage():
            yield RichView(self._draw)

    def _draw(self, ink: Ink) -> RenderableType:
        return ink.indented("\n".join(f"line {number}" for number in range(LINES)))

    @property
    def page(self) -> ScrollPage:
        return self.query_one(ScrollPage)


@asynccontextmanager
async def reading(
    appearance: Appearance = Appearance(),  # noqa: B008 - frozen
) -> AsyncIterator[tuple[Long, ScreenPlayer]]:
    screen = Long()
    async with before(screen, appearance=appearance) as player:
        yield screen, player


def numbers(player: ScreenPlayer) -> set[str]:
    return {line.split()[1] for line in player.rows if line.startswith(" line ")}


@pytest.mark.parametrize("key", ["down", "space", "pagedown"])
async def test_every_line_is_seen_on_the_way_down_and_again_on_the_way_up(key: str) -> None:
    async with reading() as (screen, player):
        for keys in ([key] * 10, ["up"] * 10):
            seen = numbers(player)
            for pressed in keys:
                await player.press(pressed)
                seen |= numbers(player)
            assert len(seen) == LINES
        assert screen.page.lines_below == LINES - 21


async def test_a_line_below_the_screen_is_scrolled_to() -> None:
    async with reading() as (screen, player):
        screen.page.show_line(screen.query_one(RichView), 25)
        await player.pilot.pause()
        assert "25" in numbers(player)


@pytest.mark.parametrize("appearance", [Appearance(ascii=True), Appearance(colours=Colours.NONE)])
async def test_without_block_characters_or_colours_there_is_no_scroll_bar(
    appearance: Appearance,
) -> None:
    async with reading(appearance) as (_, player):
        assert player.text.isascii()


class Asking(BaseScreen):
    """A screen that asks for a name after the key n."""

    def __init__(self) -> None:
        super().__init__()
        self.entered: list[str] = []
        self.is_typing = False

    def body(self) -> Iterable[Widget]:
        yield CanvasView()
        yield LineInput()

    def takes_key(self, key: str) -> bool:
        return not self.is_typing or key == "escape"

    def press(self, key: str) -> None:
        field = self.query_one(LineInput)
        if key == "n":
            self.is_typing = True
            field.open("Your name", "Zo")
        elif key == "escape":
            self.is_typing = False
            field.close()
        else:
            super().press(key)

    def type_key(self, event: events.Key) -> None:
        self.query_one(LineInput).type_key(event)

    @on(Input.Submitted)
    def _entered(self, event: Input.Submitted) -> None:
        self.entered.append(event.value)


async def test_keys_that_are_pressed_at_once_with_the_key_that_opens_the_field_are_typed() -> None:
    screen = Asking()
    async with before(screen) as player:
        for key in "nën":
            player.app.post_message(events.Key(key, key))
        for key in ("left", "left", "backspace"):
            player.app.post_message(events.Key(key, None))
        player.app.post_message(events.Key("enter", "\r"))
        await player.pilot.pause()
        assert screen.entered == ["Zën"]


KEYS = (("space", "draw 3"), ("1-4 w r", "pick"), ("f", "bank"), ("tab", "moves"))
ALWAYS = (("x", "cash out"), ("?", "help"), ("q", "leave"))


def test_the_title_leaves_out_its_last_facts_and_cuts_none() -> None:
    facts = ["CANFIELD", "mint-otter-42", "pass 3/3", "base 6"]
    right = [("●", Role.MONEY_UP), ("9:58", Role.TITLE)]
    assert title_line(facts, right, 80).text().split() == [*" ".join(facts).split(), "●", "9:58"]
    assert title_line(facts, right, 40).text().split() == [*facts[:2], "●", "9:58"]


@given(width=st.integers(40, 120))
def test_the_key_line_shows_keys_whole_or_not_at_all_and_some_always(width: int) -> None:
    text = key_line(KEYS, ALWAYS, width).text()
    assert cell_len(text) <= width
    for key, does in ALWAYS:
        assert f"{key} {does}" in text
    rest = text
    for key, does in (*KEYS, *ALWAYS):
        rest = rest.replace(f"{key} {does}", "")
    assert rest.strip() == ""


async def test_the_message_line_takes_the_rows_it_needs_and_gives_them_back() -> None:
    async with reading() as (screen, player):
        line = screen.query_one(MessageLine)
        for text, at_80, at_60 in (("One line.", 1, 2), ("word " * 20, 2, 2), ("word " * 40, 3, 4)):
            for columns, rows in ((80, at_80), (60, at_60), (80, at_80)):
                await player.pilot.resize_terminal(columns, 24)
                screen.say(text)
                await player.pilot.pause()
                await player.pilot.pause()
                assert line.size.height == rows
                shown = player.rows[-1 - rows : -1]
                assert " ".join(shown).split() == text.split()


@pytest.mark.parametrize(
    ("keys", "text", "is_open"),
    [
        ("q", "Q", True),
        ("qh", "QH", True),
        ("hq", "QH", True),
        ("0", "10", True),
        ("1", "10", True),
        ("as", "AS", True),
        ("a2", "2", True),
        (["q", "enter"], "Q", False),
        (["q", "h", "backspace"], "", True),
        (["q", "escape"], "", False),
        (["q", "enter", "/"], "", True),
    ],
)
def test_keys_name_a_card_and_end(keys: str | list[str], text: str, is_open: bool) -> None:
    finder = Finder(is_open=True)
    for key in keys:
        finder = finder.press(key)
    assert (finder.text, finder.is_open) == (text, is_open)
