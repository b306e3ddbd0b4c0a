"""The rules of exactly this game, and the keys of the screen that they are laid over."""

from saratoga_client.board_view.canvas import Canvas, Piece
from saratoga_client.board_view.roles import Role
from saratoga_client.board_view.text_width import fitted, wrapped
from saratoga_client.tui.pages.help import KEYS, Line, help_lines
from saratoga_client.tui.pages.solo_keys import Keys
from saratoga_client.tui.screens.help import WIDEST, HelpScreen
from saratoga_rules.game import Game


class RulesScreen(HelpScreen):
    """The help of a race, but with the keys of where it was asked for."""

    def __init__(self, game: Game, keys: Keys, heading: str) -> None:
        super().__init__(game, is_race=False)
        self._keys = keys
        self._heading = heading

    def _page(self, width: int) -> Canvas:
        room = min(width - 2, WIDEST)
        lines = (
            *keys_lines(self._keys, self._heading, room),
            *help_lines(self._game, room, is_race=False),
        )
        canvas = Canvas(width, len(lines))
        for y, pieces in enumerate(lines):
            canvas.pieces(1, y, tuple(map(Piece._make, pieces)))
        return canvas


def keys_lines(keys: Keys, heading: str, width: int) -> tuple[Line, ...]:
    """Keys with what they do, under a heading, and an empty line."""
    lines: list[Line] = [((heading, Role.LABEL),)]
    for key, does in keys:
        for number, part in enumerate(wrapped(does, width - KEYS)):
            sign = "" if number else key
            lines.append(((fitted(sign, KEYS), Role.KEY), (part, Role.TEXT)))
    return (*lines, ())
