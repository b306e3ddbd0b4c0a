"""The appearance of the screen, from the settings and the terminal's capabilities."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from saratoga_client.board_view.card_style import CardStyle, SuitColours, suit_colours
from saratoga_client.local.terminal import Colours
from saratoga_client.tui.themes import FELT, PLAIN, THEMES
from saratoga_rules.game import Game


@dataclass(frozen=True, slots=True, kw_only=True)
class Appearance:
    """The player's choices about the screen, limited by the terminal."""

    colours: Colours = Colours.ALL
    theme: str = ""
    """The name of a theme in `colours.THEMES`; any other text selects the default of the terminal."""
    ascii: bool = False
    background: bool = True
    """True to paint the table with the theme's background colour."""
    suits: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    """The number of suit colours, `two` or `four`, by game; other games use their default."""
    quick: bool = False
    """True to play a move at once if a key allows only that move."""

    @property
    def theme_name(self) -> str:
        if self.theme in THEMES:
            return self.theme
        # the other themes' shades have no likeness among 16 colours
        return PLAIN.name if self.colours is Colours.SIXTEEN else FELT.name

    def card_style(self, game: Game) -> CardStyle:
        """Return the style of a game's cards."""
        named = self.suits.get(game.name)
        return CardStyle(
            suits=SuitColours(named) if named else suit_colours(game),
            ascii=self.ascii,
            hollow=self.colours is Colours.NONE,
        )

    def with_other_suits(self, game: Game) -> "Appearance":
        """Return the appearance with the other number of suit colours in a game."""
        now = self.card_style(game).suits
        other = SuitColours.TWO if now is SuitColours.FOUR else SuitColours.FOUR
        return replace(self, suits=MappingProxyType({**self.suits, game.name: other.value}))

    def with_next_theme(self) -> "Appearance":
        """Return the appearance with the next theme."""
        names = list(THEMES)
        following = names[(names.index(self.theme_name) + 1) % len(names)]
        return replace(self, theme=following)
