"""The colours and the appearance of the screen: themes, the style of each role, and the player's choices.

A theme names its colours by purpose. Cards are light on a dark table, so suits are clear whatever
the terminal's own colours are. Without a painted background nobody knows whether the terminal is
light or dark: the table's words then have the terminal's own colour, or one that can be read on
both. Rich shows a colour by the nearest that the terminal has.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from types import MappingProxyType
from typing import Final, TypeAlias

from rich.style import Style

from saratoga_client.board_view.faces import CardStyle, SuitColours, suit_colours
from saratoga_client.board_view.roles import Role
from saratoga_client.local.terminal import Colours
from saratoga_rules.game import Game

_COLOURS: Final = """
                felt     paper    plain    bare

ground          #0e3b2b  #dfe3da  #000000  none
table           #e4ece4  #20241f  #ffffff  none
text            #e4ece4  #20241f  #ffffff  none
dim             #8fb5a2  #58605a  #c0c0c0  #767676
title           #ffffff  #000000  #ffffff  none
frame           #3f7a62  #9aa398  #ffffff  #767676
label           #a3c4b3  #4a534b  #ffffff  none
key             #e6c878  #6b4600  #ffff55  #b06100
key-lit         #ffe28a  #5a2d00  #ffff55  #b06100
key-target      #8ff0a4  #0b6b34  #80ff80  #00875f
space           #4d8a70  #8b958a  #c0c0c0  #767676
space-target    #8ff0a4  #0b6b34  #80ff80  #00875f
count           #e4ece4  #20241f  #ffffff  none
money-up        #8ff0a4  #0b6b34  #80ff80  #00875f
money-down      #ffb3a0  #a61b1b  #ff9090  #d24242
bar             #d9b45b  #8a5a00  #ffff55  #b06100
bar-rest        #2c6650  #c3c9be  #606060  #767676
tick            #ffffff  #000000  #ffffff  none
you             #ffffff  #000000  #ffffff  none
leader          #ffd75f  #5a2d00  #ffff55  #b06100
warning         #ffcf87  #87290b  #ffb060  #b06100
alarm           #ffb3a0  #a61b1b  #ff9090  #d24242
racer-1         #ffd75f  #7a5200  #ffd75f  #b16000
racer-2         #8fc7ff  #1450a0  #8fc7ff  #1776ce
racer-3         #ff9fb8  #a3174a  #ff9fb8  #d92973
racer-4         #b6ee8a  #3b6410  #b6ee8a  #218707
racer-5         #cdb4ff  #6234b0  #cdb4ff  #974fe0
racer-6         #ffb070  #94430a  #ffb070  #dd3019
racer-7         #7fe3dc  #0b625c  #7fe3dc  #008282

card            #fdfdf8  #ffffff  #ffffff  same
card-edge       #a9aba2  #a9aba2  #404040  #767676
picked          #ffd75f  #ffd75f  #ffff00  same
picked-edge     #7a4f00  #7a4f00  #000000  same
target          #c9f2cf  #b5ecc0  #80ff80  same
target-edge     #0b7a3b  #0b7a3b  #000000  same
found           #bfe0ff  #bfe0ff  #80e0ff  same
found-edge      #1d5fa8  #1d5fa8  #000000  same
black           #16181d  #16181d  #000000  same
red             #c8102e  #c8102e  #b00000  same
club            #1d4ed8  #1d4ed8  #0000c0  same
diamond         #b45309  #b45309  #8a3c00  same
lit-black       #16181d  #16181d  #000000  same
lit-red         #a00018  #a00018  #a00018  same
lit-club        #1238a8  #1238a8  #1238a8  same
lit-diamond     #7a3a00  #7a3a00  #7a3a00  same
back            #1f3f73  #1f3f73  #0000a0  same
card-back       #5d84bd  #7fa3d8  #8080ff  same
back-count      #ffffff  #ffffff  #ffffff  same
practice        #b79cf2  #b79cf2  #b79cf2  same
practice-ink    #1b1030  #1b1030  #1b1030  same
"""
"""The colours of the themes: a dark green table, a light one for bright surroundings, and the highest contrast.

The rows have the names of roles; a row without a role is a background, or the colour of a suit on
plain cards or, after `lit-`, on highlighted ones. The last column has the colours without a painted
background, where `none` is the terminal's own and `same` the theme's; the others have a contrast of
4.5 both to black and to white.
"""

_HEADS, *_ROWS = (line.split() for line in _COLOURS.splitlines() if line)

THEMES: Final[Mapping[str, Mapping[str, str]]] = MappingProxyType(
    {
        theme: {name: colours[column] for name, *colours in _ROWS}
        for column, theme in enumerate(_HEADS[:-1])
    }
)
"""The themes by name, the default one first, each with its colours by the names of `_COLOURS`."""

_BARE: Final = {name: "" if bare == "none" else bare for name, *_, bare in _ROWS if bare != "same"}

_STATES: Final = ("card", "picked", "target", "found")
_TONES: Final = ("black", "red", "club", "diamond")

_THIN: Final = frozenset(
    {
        *(Role.TABLE, Role.TEXT, Role.DIM, Role.FRAME, Role.SPACE, Role.LABEL, Role.KEY),
        *(Role.COUNT, Role.BAR, Role.BAR_REST),
    }
)
"""The roles on the table that are not bold."""

Paint: TypeAlias = Mapping[Role, Style]
"""A style for every role."""


@lru_cache(maxsize=32)
def paint(colours: Colours, theme: str = "felt", *, background: bool = True) -> Paint:
    """Return the style of each role; without `background` the table keeps the terminal's colour.

    The theme is ignored on terminals without colours.
    """
    if colours is Colours.NONE:
        return MappingProxyType(_without_colours())
    of = {**THEMES[theme], **({} if background else _BARE)}
    ground = of["ground"] or None
    styles = {
        role: Style(color=of.get(role) or None, bgcolor=ground, bold=role not in _THIN or None)
        for role in Role
    }
    for state in _STATES:
        styles[Role(f"{state}-edge")] = Style(color=of[f"{state}-edge"], bgcolor=of[state])
        for tone in _TONES:
            ink = of[tone if state == "card" else f"lit-{tone}"]
            styles[Role(f"{state}-{tone}")] = Style(color=ink, bgcolor=of[state], bold=True)
    styles[Role.CARD_BACK] = Style(color=of["card-back"], bgcolor=of["back"])
    styles[Role.BACK_COUNT] = Style(color=of["back-count"], bgcolor=of["back"], bold=True)
    styles[Role.ALERT] = styles[Role.WARNING] + Style(reverse=True)
    styles[Role.PRACTICE] = Style(color=of["practice-ink"], bgcolor=of["practice"], bold=True)
    return MappingProxyType(styles)


def _without_colours() -> dict[Role, Style]:
    """Return styles without colours; shapes and lines show suits and highlights."""
    bold, reverse = Style(bold=True), Style(bold=True, reverse=True)
    styles = dict.fromkeys(Role, bold)
    for tone in _TONES:
        styles[Role(f"picked-{tone}")] = styles[Role(f"found-{tone}")] = reverse
        styles[Role(f"target-{tone}")] = Style(bold=True, underline=True)
    plain = (
        Role.CARD_BACK,
        Role.CARD_EDGE,
        Role.FOUND_EDGE,
        Role.TICK,
        Role.MONEY_UP,
        Role.MONEY_DOWN,
    )
    styles |= dict.fromkeys((*_THIN, *plain), Style())
    for role in (Role.DIM, Role.SPACE, Role.BAR_REST):
        styles[role] = Style(dim=True)
    for role in (Role.KEY_TARGET, Role.ALARM, Role.ALERT, Role.PRACTICE):
        styles[role] = reverse
    styles[Role.PICKED_EDGE] = Style(reverse=True)
    return styles


@dataclass(frozen=True, slots=True, kw_only=True)
class Appearance:
    """The player's choices about the screen, limited by the terminal."""

    colours: Colours = Colours.ALL
    theme: str = ""
    """The name of a theme in `THEMES`; any other text selects the default of the terminal."""
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
        return "plain" if self.colours is Colours.SIXTEEN else "felt"

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
