"""What is sent to the terminal when a part of the screen has changed: that part, and no more.

Textual writes a changed part from the left edge of its widget on. A packet dragged at the right
end of a board would carry half of the board with it at every step, over SSH too.
"""

from rich.console import Console, RenderableType
from rich.control import Control
from textual._compositor import ChopsUpdate


class LeanUpdate(ChopsUpdate):
    """Each changed span of a line from its own first cell to its last."""

    def render_segments(self, console: Console) -> str:
        said: list[str] = []
        for y, left, right in self.spans:
            for end, (start, strip) in zip(self.chop_ends[y], self.chops[y].items(), strict=False):
                if strip is None or start >= right or end <= left:
                    continue
                first = max(start, left)
                part = strip.crop(first - start, min(end, right) - start)
                said += Control.move_to(first, y).segment.text, part.render(console)
        return "".join(said)


def lean(update: RenderableType | None) -> RenderableType | None:
    """The same update as it is to be sent."""
    if type(update) is ChopsUpdate:
        return LeanUpdate(update.chops, update.spans, update.chop_ends)
    return update
