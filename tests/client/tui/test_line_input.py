"""An input line with a prompt."""

from collections.abc import Iterable

from textual import events, on
from textual.widget import Widget

from kit.solo_player import before
from saratoga_client.session.lobby import one_line
from saratoga_client.tui.base_screen import BaseScreen
from saratoga_client.tui.line_input import LineInput
from saratoga_client.tui.painted_rows import CanvasView


class Asking(BaseScreen):
    """A screen that asks for a name after the key n."""

    def __init__(self) -> None:
        super().__init__()
        self.entered: list[str] = []
        self.is_typing = False

    def body(self) -> Iterable[Widget]:
        yield CanvasView()
        yield LineInput(12, one_line)

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

    @on(LineInput.Entered)
    def _entered(self, event: LineInput.Entered) -> None:
        self.entered.append(event.text)


async def test_the_cursor_edits_in_the_middle_and_enter_hands_the_line_over() -> None:
    screen = Asking()
    async with before(screen) as player:
        await player.press("n", "ë", "B", "left", "left", "backspace", "i", "home", "delete", "M")
        assert player.lines[-3].strip() == "Your name: MiëB"
        await player.press("enter")
        assert screen.entered == ["MiëB"]


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


async def test_the_line_has_a_greatest_length() -> None:
    screen = Asking()
    async with before(screen) as player:
        await player.press("n", *"0123456789abcdef", "enter")
        assert screen.entered == ["Zo0123456789"]


async def test_all_lines_of_a_pasted_text_become_one() -> None:
    screen = Asking()
    async with before(screen) as player:
        await player.press("n")
        player.app.post_message(events.Paste("ë\nB\x1b"))
        await player.pilot.pause()
        await player.press("enter")
        assert screen.entered == ["Zoë B"]


async def test_a_closed_field_is_hidden_and_takes_no_keys() -> None:
    screen = Asking()
    async with before(screen) as player:
        assert "Your name" not in player.text
        await player.press("n", "escape")
        assert "Your name" not in player.text
        assert "does nothing here" in await player.press("x")
        assert screen.query_one(LineInput).text == "Zo"
