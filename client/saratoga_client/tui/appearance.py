"""How the player wants the screen: from flags, environment and settings, decided before it opens."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from saratoga_client.board_view.card_style import CardStyle, SuitColours, suit_colours
from saratoga_client.local.terminal import Colours
from saratoga_client.tui.colours import THEMES, Depth
from saratoga_rules.game import Game

_DEPTHS: Mapping[Colours, Depth] = MappingProxyType(
    {
        Colours.NONE: Depth.NONE,
        Colours.SIXTEEN: Depth.SIXTEEN,
        Colours.MANY: Depth.MANY,
        Colours.ALL: Depth.ALL,
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Appearance:
    """What a player chose about looks and manners of the screen, or what the terminal asks for."""

    colours: Colours = Colours.ALL
    theme: str = ""
    """One of `colours.THEMES`; anything else is the first of them."""
    ascii: bool = False
    background: bool = True
    """Whether the table has a colour of its own, or the terminal's."""
    suits: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    """`two` or `four` by game; a game that is not there has what suits it."""
    quick: bool = False
    """A key plays at once where it can mean one move only."""
    mouse: bool = True

    @property
    def depth(self) -> Depth:
        return _DEPTHS[self.colours]

    @property
    def theme_name(self) -> str:
        return self.theme if self.theme in THEMES else next(iter(THEMES))

    def card_style(self, game: Game) -> CardStyle:
        """How the cards of this game look."""
        named = self.suits.get(game.name)
        return CardStyle(
            suits=SuitColours(named) if named else suit_colours(game),
            ascii=self.ascii,
            hollow=self.colours is Colours.NONE,
            background=self.background,
        )

    def with_other_suits(self, game: Game) -> "Appearance":
        """Two colours in this game where there were four, and the other way around."""
        now = self.card_style(game).suits
        other = SuitColours.TWO if now is SuitColours.FOUR else SuitColours.FOUR
        return replace(self, suits=MappingProxyType({**self.suits, game.name: other.value}))

    def with_next_theme(self) -> "Appearance":
        """The theme after this one."""
        names = list(THEMES)
        following = names[(names.index(self.theme_name) + 1) % len(names)]
        return replace(self, theme=following)
