"""What is shown until there is something to show."""

from textual.app import App

from saratoga_client.tui.canvas_view import CanvasView
from saratoga_client.tui.screens.waiting import WaitingScreen


async def test_the_sentence_stands_in_the_middle_and_can_become_another() -> None:
    app = App[None]()
    async with app.run_test() as pilot:
        screen = WaitingScreen("Going to the house")
        await app.push_screen(screen)
        await pilot.pause()
        screen.say("Sitting down\x1b")
        view = screen.query_one(CanvasView)
        lines = [
            "".join(piece.text for piece in view.render_line(y)) for y in range(view.size.height)
        ]
        assert [line.strip() for line in lines if line.strip()] == ["Sitting down<U+001B>"]
