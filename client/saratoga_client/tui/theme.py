"""The colours and the appearance of the screen: themes, the style of each role, and the player's choices.

A theme names its colours by purpose. Cards are light on a dark table, so suits are clear whatever
the terminal's own colours are. Without a painted background nobody knows whether the terminal is light
or dark: the table's words then have the terminal's own colour, or one that can be read on both.
Rich shows a colour by the nearest that the terminal has.
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Theme:
    """The colours of a theme, as `#rrggbb`; an empty text is the terminal's own colour."""

    name: str
    table: str
    text: str
    dim: str
    title: str
    frame: str
    label: str
    key: str
    key_lit: str
    card: str
    edge: str = "#a9aba2"
    black: str = "#16181d"
    red: str = "#c8102e"
    club: str = "#1d4ed8"
    diamond: str = "#b45309"
    picked: str = "#ffd75f"
    picked_edge: str = "#7a4f00"
    target: str
    target_edge: str = "#0b7a3b"
    found: str = "#bfe0ff"
    found_edge: str = "#1d5fa8"
    back: str = "#1f3f73"
    back_pattern: str
    back_count: str = "#ffffff"
    space: str
    lit: str
    """The highlight of an empty pile that accepts the selected cards."""
    gain: str
    loss: str
    bar: str
    bar_rest: str
    leader: str
    warning: str
    lit_red: str = "#a00018"
    lit_club: str = "#1238a8"
    lit_diamond: str = "#7a3a00"
    """The colour of diamonds on highlighted cards, as `lit_red` and `lit_club` are of other suits."""
    practice: str = "#b79cf2"
    """The background of the title in practice."""
    practice_ink: str = "#1b1030"


FELT: Final = Theme(
    name="felt",
    table="#0e3b2b",
    text="#e4ece4",
    dim="#7fa592",
    title="#ffffff",
    frame="#3f7a62",
    label="#a3c4b3",
    key="#e6c878",
    key_lit="#ffe28a",
    card="#fdfdf8",
    target="#c9f2cf",
    back_pattern="#5d84bd",
    space="#4d8a70",
    lit="#8ff0a4",
    gain="#8ff0a4",
    loss="#ffb3a0",
    bar="#d9b45b",
    bar_rest="#2c6650",
    leader="#ffd75f",
    warning="#ffcf87",
)
"""The colours of a card table: dark green under ivory cards."""

PAPER: Final = Theme(
    name="paper",
    table="#dfe3da",
    text="#20241f",
    dim="#58605a",
    title="#000000",
    frame="#9aa398",
    label="#4a534b",
    key="#6b4600",
    key_lit="#5a2d00",
    card="#ffffff",
    target="#b5ecc0",
    back_pattern="#7fa3d8",
    space="#8b958a",
    lit="#0b6b34",
    gain="#0b6b34",
    loss="#a61b1b",
    bar="#8a5a00",
    bar_rest="#c3c9be",
    leader="#5a2d00",
    warning="#87290b",
)
"""A light theme for bright surroundings."""

PLAIN: Final = Theme(
    name="plain",
    table="#000000",
    text="#ffffff",
    dim="#c0c0c0",
    title="#ffffff",
    frame="#ffffff",
    label="#ffffff",
    key="#ffff55",
    key_lit="#ffff55",
    card="#ffffff",
    edge="#404040",
    black="#000000",
    red="#b00000",
    club="#0000c0",
    diamond="#8a3c00",
    picked="#ffff00",
    picked_edge="#000000",
    target="#80ff80",
    target_edge="#000000",
    found="#80e0ff",
    found_edge="#000000",
    back="#0000a0",
    back_pattern="#8080ff",
    back_count="#ffffff",
    space="#c0c0c0",
    lit="#80ff80",
    gain="#80ff80",
    loss="#ff9090",
    bar="#ffff55",
    bar_rest="#606060",
    leader="#ffff55",
    warning="#ffb060",
)
"""The theme with the highest contrast."""

_BETWEEN, _BETWEEN_RED, _BETWEEN_GREEN, _BETWEEN_AMBER = "#767676", "#d24242", "#00875f", "#b06100"
# A contrast of 4.5 both to black and to white.


def on_any_ground(theme: Theme) -> Theme:
    """Return the theme with words and lines that can be read on a light and on a dark terminal."""
    return replace(
        theme,
        **dict.fromkeys(("table", "text", "title", "label"), ""),
        **dict.fromkeys(("dim", "frame", "space", "bar_rest", "edge"), _BETWEEN),
        **dict.fromkeys(("key", "key_lit", "bar", "leader", "warning"), _BETWEEN_AMBER),
        **dict.fromkeys(("lit", "gain"), _BETWEEN_GREEN),
        loss=_BETWEEN_RED,
    )


THEMES: Final[Mapping[str, Theme]] = MappingProxyType(
    {theme.name: theme for theme in (FELT, PAPER, PLAIN)}
)
"""The themes, the default one first."""


Paint: TypeAlias = Mapping[Role, Style]
"""A style for every role."""


@lru_cache(maxsize=32)
def paint(colours: Colours, theme: str = FELT.name, *, background: bool = True) -> Paint:
    """Return the style of each role; without `background` the table keeps the terminal's colour.

    The theme is ignored on terminals without colours.
    """
    if colours is Colours.NONE:
        return MappingProxyType(_without_colours())
    chosen = THEMES[theme]
    if not background:
        chosen = on_any_ground(chosen)
    return MappingProxyType({**_cards(chosen), **_table(chosen)})


def _cards(theme: Theme) -> dict[Role, Style]:
    grounds = {
        "card": (theme.card, theme.edge),
        "picked": (theme.picked, theme.picked_edge),
        "target": (theme.target, theme.target_edge),
        "found": (theme.found, theme.found_edge),
    }
    tones = {
        "black": theme.black,
        "red": theme.red,
        "club": theme.club,
        "diamond": theme.diamond,
    }
    lit_tones = {
        "black": theme.black,
        "red": theme.lit_red,
        "club": theme.lit_club,
        "diamond": theme.lit_diamond,
    }
    styles = {
        Role(f"{state}-{tone}"): Style(color=colour, bgcolor=ground, bold=True)
        for state, (ground, _) in grounds.items()
        for tone, colour in (tones if state == "card" else lit_tones).items()
    }
    for state, (ground, edge) in grounds.items():
        styles[Role(f"{state}-edge")] = Style(color=edge, bgcolor=ground)
    styles[Role.CARD_BACK] = Style(color=theme.back_pattern, bgcolor=theme.back)
    styles[Role.BACK_COUNT] = Style(color=theme.back_count, bgcolor=theme.back, bold=True)
    return styles


def _table(theme: Theme) -> dict[Role, Style]:
    colours = {
        Role.TABLE: theme.text,
        Role.TEXT: theme.text,
        Role.DIM: theme.dim,
        Role.FRAME: theme.frame,
        Role.SPACE: theme.space,
        Role.LABEL: theme.label,
        Role.KEY: theme.key,
        Role.COUNT: theme.text,
        Role.BAR: theme.bar,
        Role.BAR_REST: theme.bar_rest,
    }
    strong = {
        Role.TITLE: theme.title,
        Role.SPACE_TARGET: theme.lit,
        Role.KEY_LIT: theme.key_lit,
        Role.KEY_TARGET: theme.lit,
        Role.MONEY_UP: theme.gain,
        Role.MONEY_DOWN: theme.loss,
        Role.TICK: theme.title,
        Role.LEADER: theme.leader,
        Role.YOU: theme.title,
        Role.WARNING: theme.warning,
        Role.ALARM: theme.loss,
    }
    ground = theme.table or None
    styles = {role: Style(color=colour or None, bgcolor=ground) for role, colour in colours.items()}
    for role, colour in strong.items():
        styles[role] = Style(color=colour or None, bgcolor=ground, bold=True)
    styles[Role.PRACTICE] = Style(color=theme.practice_ink, bgcolor=theme.practice, bold=True)
    return styles


def _without_colours() -> dict[Role, Style]:
    """Return styles without colours; shapes and lines show suits and highlights."""
    styles = dict.fromkeys(Role, Style())
    for tone in ("black", "red", "club", "diamond"):
        styles[Role(f"card-{tone}")] = Style(bold=True)
        styles[Role(f"picked-{tone}")] = Style(bold=True, reverse=True)
        styles[Role(f"target-{tone}")] = Style(bold=True, underline=True)
        styles[Role(f"found-{tone}")] = Style(bold=True, reverse=True)
    styles[Role.PICKED_EDGE] = Style(reverse=True)
    for role in (
        Role.TITLE,
        Role.TARGET_EDGE,
        Role.SPACE_TARGET,
        Role.KEY_LIT,
        Role.BACK_COUNT,
        Role.LEADER,
        Role.YOU,
        Role.WARNING,
    ):
        styles[role] = Style(bold=True)
    for role in (Role.KEY_TARGET, Role.ALARM, Role.PRACTICE):
        styles[role] = Style(bold=True, reverse=True)
    for role in (Role.DIM, Role.SPACE, Role.BAR_REST):
        styles[role] = Style(dim=True)
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
