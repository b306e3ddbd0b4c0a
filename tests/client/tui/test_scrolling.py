"""Pages higher than the screen."""

import pytest

from saratoga_client.board_view.canvas import Canvas
from saratoga_client.board_view.roles import Role
from saratoga_client.tui.scrolling import Scroll


def page(height: int) -> Canvas:
    canvas = Canvas(40, height)
    for y in range(height):
        canvas.put(0, y, f"line {y}", Role.TEXT)
    return canvas


def lines(scroll: Scroll, height: int, of: int = 20) -> list[str]:
    return scroll.window(page(of), height).text().split("\n")


def test_what_fits_is_shown_as_it_is() -> None:
    assert lines(Scroll(), 20) == [f"line {y}" for y in range(20)]
    assert Scroll().press("down", 20, 20) == Scroll()


def test_what_does_not_fit_says_how_much_is_missing() -> None:
    assert lines(Scroll(), 5) == [
        *(f"line {y}" for y in range(4)),
        " 16 more lines: down shows them",
    ]


@pytest.mark.parametrize("key", ["down", "space", "pagedown"])
def test_every_line_is_seen_on_the_way_down_and_again_on_the_way_up(key: str) -> None:
    for keys in ([key] * 30, [key] * 30 + ["up"] * 30):
        scroll, seen = Scroll(), set(lines(Scroll(), 5))
        for pressed in keys:
            scroll = scroll.press(pressed, 20, 5)
            seen |= set(lines(scroll, 5))
        assert {f"line {y}" for y in range(20)} <= seen
    assert scroll == Scroll()


def test_it_goes_to_the_ends_and_no_further() -> None:
    end = Scroll().press("end", 20, 5)
    assert lines(end, 5)[-1] == "line 19"
    assert end.press("down", 20, 5) == end
    assert end.press("home", 20, 5) == Scroll()


def test_a_page_that_became_shorter_shows_its_end() -> None:
    assert lines(Scroll(15), 5, of=8) == [f"line {y}" for y in range(3, 8)]


def test_other_keys_move_nothing() -> None:
    assert Scroll(3).press("x", 20, 5) == Scroll(3)
