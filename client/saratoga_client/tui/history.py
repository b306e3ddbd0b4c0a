"""The page of the player's own races on this machine, game by game."""

from collections.abc import Sequence

from rich.console import Group, RenderableType

from saratoga_client.board_view.roles import Role
from saratoga_client.session.history import Raced
from saratoga_client.session.open_race import LAST, own_history
from saratoga_client.tui.base_screen import ReadingScreen
from saratoga_client.tui.widgets import Ink

NONE: str = "Your races will stand here, game by game: races, wins, your best and your average."


class HistoryScreen(ReadingScreen):
    """The player's history."""

    CLOSING = "h"

    def __init__(self, races: Sequence[Raced]) -> None:
        super().__init__()
        self._races = races

    def facts(self) -> list[str]:
        return ["YOUR RACES", f"{len(self._races)} on this machine"]

    def draw_page(self, ink: Ink) -> RenderableType:
        if not self._races:
            return ink.indented(NONE, Role.DIM, 3)
        grid = ink.grid(3, 22, 7, 6, 7, 12, right={2, 3, 4, 5})
        heads = ("GAME", "RACES", "WON", "BEST", f"LAST {LAST}")
        grid.add_row("", *(ink.text(head, Role.LABEL) for head in heads))
        for name, *figures in own_history(self._races):
            grid.add_row("", ink.text(name), *(ink.text(each, Role.COUNT) for each in figures))
        return Group("", grid)
