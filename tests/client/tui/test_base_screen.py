"""The base of all screens: every key gets an answer, and at most one question is open."""

from collections.abc import Iterable

from rich.cells import cell_len
from textual.widget import Widget

from kit.solo_player import before
from saratoga_client.tui.base_screen import LEAST_HEIGHT, LEAST_WIDTH, BaseScreen, too_small
from saratoga_client.tui.lines import Guide
from saratoga_client.tui.painted_rows import CanvasView
from saratoga_client.tui.rich_view import RichView, ScrollPage


class OneAction(BaseScreen):
    """A screen with one action, which the player must confirm."""

    done = 0

    def body(self) -> Iterable[Widget]:
        return (CanvasView(),)

    def press(self, key: str) -> None:
        if key == "x":
            self.ask("Really? (y/n)", y=("yes", self._do))
        else:
            super().press(key)

    def _do(self) -> None:
        self.done += 1


def test_the_notice_for_small_terminals_fits_them() -> None:
    for width in range(12, LEAST_WIDTH + 1):
        lines = too_small(width, LEAST_HEIGHT - 1)
        assert all(cell_len(line) <= width for line in lines)
    assert len(too_small(30, 12)) <= 12


async def test_a_small_terminal_shows_the_notice_in_place_of_the_screen() -> None:
    async with before(OneAction(), size=(40, 12)) as player:
        assert "This terminal has 40 x 12 cells" in player.text
        await player.pilot.resize_terminal(80, 24)
        await player.pilot.pause()
        assert "This terminal has" not in player.text
        assert player.lines[-1].split() == ["?", "help", "q", "back"]


async def test_a_key_without_an_effect_gets_an_answer() -> None:
    async with before(OneAction()) as player:
        assert await player.press("j") == "j does nothing here; ? shows the keys."
        assert (await player.press("t")).startswith("Colours: ")


async def test_a_question_is_answered_by_its_key_and_closed_by_any_other() -> None:
    screen = OneAction()
    async with before(screen) as player:
        assert await player.press("x") == "Really? (y/n)"
        assert player.lines[-1].split() == ["y", "yes", "any", "other", "key", "no"]
        assert await player.press("escape") == "Cancelled."
        await player.press("x", "j", "y")
        assert screen.done == 0
        await player.press("x", "y")
        assert screen.done == 1
        assert not screen.is_asking


async def test_a_key_that_closes_a_question_also_has_its_usual_effect() -> None:
    async with before(OneAction()) as player:
        assert (await player.press("x", "t")).startswith("Colours: ")


async def test_a_message_waits_until_the_question_is_closed_without_an_answer() -> None:
    screen = OneAction()
    async with before(screen) as player:
        await player.press("x")
        screen.say("First news.")
        screen.say("Latest news.")
        assert screen.message == "Really? (y/n)"
        assert await player.press("n") == "Latest news."
        await player.press("x")
        screen.say("Latest news.")
        assert (await player.press("t")).startswith("Colours: ")
        assert await player.press("x", "n") == "Cancelled.", "older news is not repeated"


async def test_q_closes_the_screen_and_ends_the_program_that_showed_it() -> None:
    async with before(OneAction()) as player:
        await player.press("q")
        await player.pilot.pause()
        assert player.app.return_code == 0


class LongPage(BaseScreen):
    """A screen whose page is higher than the terminal."""

    def body(self) -> Iterable[Widget]:
        with ScrollPage():
            yield RichView(lambda ink: ink.indented("\n".join(map(str, range(60)))))

    def guide(self) -> Guide:
        return self.scroll_guide()


async def test_the_key_line_shows_how_many_lines_are_below_and_space_shows_them() -> None:
    async with before(LongPage()) as player:
        assert player.lines[-1].startswith(" space 39 more lines")
        await player.press("space")
        await player.pilot.pause()
        assert player.lines[-1].startswith(" space 19 more lines")
        await player.press("end")
        await player.pilot.pause()
        assert player.lines[-1].startswith(" pageup scroll back")
