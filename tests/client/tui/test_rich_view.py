"""Pages of Rich text: without terminal commands, in the theme's colours, and scrollable."""

from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager

import pytest
from rich.console import RenderableType
from textual.widget import Widget

from kit.screen_cells import INK, page_text, painted_rows
from kit.solo_player import Player, before
from kit.terminals import HOSTILE, OBEYED
from saratoga_client.board_view.roles import Role
from saratoga_client.local.terminal import Colours
from saratoga_client.tui.appearance import Appearance
from saratoga_client.tui.base_screen import BaseScreen
from saratoga_client.tui.rich_view import SCROLL_KEYS, Ink, RichView, ScrollPage

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
async def reading(appearance: Appearance = Appearance()) -> AsyncIterator[tuple[Long, Player]]:  # noqa: B008 - frozen
    screen = Long()
    async with before(screen, appearance=appearance) as player:
        yield screen, player


def numbers(player: Player) -> set[str]:
    return {line.split()[1] for line in player.lines if line.startswith(" line ")}


def test_control_characters_and_markup_are_printed_and_not_obeyed() -> None:
    text = page_text(INK.line((HOSTILE, Role.TEXT)), 400)
    assert not OBEYED & set(text.replace("\n", ""))
    assert "[red on blue]" in text


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


async def test_home_and_end_go_to_the_ends() -> None:
    async with reading() as (screen, player):
        assert screen.page.is_cut
        await player.press("end")
        assert str(LINES - 1) in numbers(player)
        assert screen.page.lines_below == 0
        await player.press("down")
        assert screen.page.lines_below == 0
        await player.press("home")
        assert "0" in numbers(player)


async def test_other_keys_are_left_to_the_screen() -> None:
    async with reading() as (screen, _):
        assert not screen.page.press("x")
        assert all(screen.page.press(key) for key in SCROLL_KEYS)


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


async def test_the_theme_key_paints_the_page_anew() -> None:
    async with reading() as (screen, player):
        first = [str(piece.style) for piece in painted_rows(screen)[5]]
        await player.press("t")
        assert [str(piece.style) for piece in painted_rows(screen)[5]] != first
