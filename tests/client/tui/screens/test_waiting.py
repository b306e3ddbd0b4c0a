"""The screen before the first state of the table."""

from kit.screen_cells import painted_text
from saratoga_client.tui.app import SaratogaApp
from saratoga_client.tui.screens.waiting import WaitingScreen


async def test_the_sentence_is_in_the_middle_safe_to_print_and_can_change() -> None:
    async def show(app: SaratogaApp) -> None:
        await app.push_screen_wait(screen)

    screen = WaitingScreen("Connecting")
    app = SaratogaApp(show)
    async with app.run_test(size=(80, 24)) as pilot:
        while app.screen is not screen:
            await pilot.pause()
        await pilot.pause()
        (row,) = [row for row, line in enumerate(painted_text(screen)) if "Connecting" in line]
        assert row in (11, 12)
        screen.say("Joining\x1b the table")
        await pilot.pause()
        lines = [line for line in painted_text(screen) if line]
        assert [line.strip() for line in lines] == ["Joining<U+001B> the table"]
        assert abs(len(lines[0]) - len(lines[0].lstrip()) - (80 - len(lines[0].strip())) // 2) <= 1
