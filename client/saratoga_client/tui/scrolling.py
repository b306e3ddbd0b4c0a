"""Pages higher than the screen: which part of them is seen, and the keys that move it."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from saratoga_client.board_view.canvas import Canvas
from saratoga_client.board_view.roles import Role

PAGE: Final = 10_000
"""Stands for as many lines as are seen at once."""

STEPS: Final[Mapping[str, int]] = {
    "down": 1, "up": -1, "pagedown": PAGE, "pageup": -PAGE, "space": PAGE,
    "home": -PAGE * PAGE, "end": PAGE * PAGE,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Scroll:
    """How far a page was scrolled."""

    top: int = 0
    """The first line that is seen."""

    def press(self, key: str, page: int, height: int) -> "Scroll":
        """After a key, on a page so high, of which so many lines are seen."""
        step = STEPS.get(key, 0)
        if abs(step) == PAGE:
            # a line of what was seen is seen again
            step = (height - 2) * (step // PAGE)
        return self.within(self.top + step, page, height)

    def within(self, top: int, page: int, height: int) -> "Scroll":
        """No further than to the last line."""
        return replace(self, top=max(0, min(top, page - height)))

    def window(self, page: Canvas, height: int) -> Canvas:
        """What is seen of a page; its last line says how much stands below."""
        seen = Canvas(page.width, height)
        top = self.within(self.top, page.height, height).top
        seen.paste(page, 0, -top)
        below = page.height - top - height
        if below > 0:
            seen.fill(0, height - 1, page.width, 1, Role.TABLE)
            seen.put(1, height - 1, f"{below + 1} more lines: down shows them", Role.DIM)
        return seen
