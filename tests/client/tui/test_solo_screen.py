"""What all screens without a table do: an answer to every key, and one open question at a time."""

from kit.solo import before
from saratoga_client.tui.solo_screen import SoloScreen


class Plain(SoloScreen):
    """A screen with one deed, which is asked about."""

    done = 0

    def press(self, key: str) -> None:
        if key == "x":
            self.ask("Really?", self._do)
        else:
            super().press(key)

    def _do(self) -> None:
        self.done += 1


async def test_a_key_without_a_meaning_is_answered() -> None:
    async with before(Plain()) as player:
        assert await player.press("j") == "j does nothing here; ? lists the keys."
        assert (await player.press("t")).startswith("Colours: ")


async def test_a_question_is_answered_by_y_and_by_nothing_else() -> None:
    screen = Plain()
    async with before(screen) as player:
        assert await player.press("x") == "Really?"
        assert await player.press("escape") == "Nothing was done."
        await player.press("x", "j", "y")
        assert screen.done == 0
        await player.press("x", "y")
        assert screen.done == 1


async def test_q_ends_it_and_the_program_with_it() -> None:
    async with before(Plain()) as player:
        await player.press("q")
        await player.pilot.pause()
        assert player.app.return_code == 0
