"""The colour themes.

A theme names its colours by purpose. Cards are light on a dark table, so suits are clear whatever
the terminal's own colours are. Without a painted background nobody knows whether the terminal is light
or dark: the table's words then have the terminal's own colour, or one that can be read on both.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final


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
    edge: str
    black: str
    red: str
    club: str
    diamond: str
    picked: str
    picked_edge: str
    target: str
    target_edge: str
    found: str
    found_edge: str
    back: str
    back_pattern: str
    back_count: str
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
    edge="#a9aba2",
    black="#16181d",
    red="#c8102e",
    club="#1d4ed8",
    diamond="#b45309",
    picked="#ffd75f",
    picked_edge="#7a4f00",
    target="#c9f2cf",
    target_edge="#0b7a3b",
    found="#bfe0ff",
    found_edge="#1d5fa8",
    back="#1f3f73",
    back_pattern="#5d84bd",
    back_count="#ffffff",
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

NIGHT: Final = Theme(
    name="night",
    table="#15171e",
    text="#d8dce6",
    dim="#7d8596",
    title="#ffffff",
    frame="#454c5e",
    label="#9aa3b5",
    key="#e6c878",
    key_lit="#ffe28a",
    card="#eceff4",
    edge="#9aa0ac",
    black="#16181d",
    red="#c0142f",
    club="#1d4ed8",
    diamond="#a84a05",
    picked="#ffd75f",
    picked_edge="#7a4f00",
    target="#bfeccb",
    target_edge="#0b7a3b",
    found="#b9d8ff",
    found_edge="#1d5fa8",
    back="#3a2a5e",
    back_pattern="#8369bd",
    back_count="#ffffff",
    space="#5a6274",
    lit="#8ff0a4",
    gain="#8ff0a4",
    loss="#ff9d8a",
    bar="#d9b45b",
    bar_rest="#343a48",
    leader="#ffd75f",
    warning="#ffb86b",
)
"""A dark theme without a hue."""

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
    edge="#a9aba2",
    black="#16181d",
    red="#c8102e",
    club="#1d4ed8",
    diamond="#b45309",
    picked="#ffd75f",
    picked_edge="#7a4f00",
    target="#b5ecc0",
    target_edge="#0b7a3b",
    found="#bfe0ff",
    found_edge="#1d5fa8",
    back="#1f3f73",
    back_pattern="#7fa3d8",
    back_count="#ffffff",
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

_BLACK, _RED, _GREEN, _BROWN = "#000000", "#aa0000", "#00aa00", "#aa5500"
_BLUE, _PURPLE, _GREY, _DARK = "#0000aa", "#aa00aa", "#aaaaaa", "#555555"
_PINK, _LIME, _YELLOW, _WHITE = "#ff5555", "#55ff55", "#ffff55", "#ffffff"
# The RGB values of rich's 16 colours, so that rich shows each one unchanged. Most terminals show brown
# as yellow: it can be read on black, but not on white.

FEW: Final = Theme(
    name="few",
    table=_BLACK,
    text=_GREY,
    dim=_DARK,
    title=_WHITE,
    frame=_DARK,
    label=_GREY,
    key=_BROWN,
    key_lit=_YELLOW,
    card=_WHITE,
    edge=_DARK,
    black=_BLACK,
    red=_RED,
    club=_BLUE,
    diamond=_PURPLE,
    picked=_YELLOW,
    picked_edge=_BLACK,
    target=_LIME,
    target_edge=_BLACK,
    found="#55ffff",
    found_edge=_BLACK,
    back=_BLUE,
    back_pattern=_GREY,
    back_count=_WHITE,
    space=_DARK,
    lit=_LIME,
    gain=_LIME,
    loss=_PINK,
    bar=_BROWN,
    bar_rest=_DARK,
    leader=_YELLOW,
    warning=_YELLOW,
    lit_red=_RED,
    lit_club=_BLUE,
    lit_diamond=_PURPLE,
    practice=_PURPLE,
    practice_ink=_WHITE,
)
"""The theme for 16 colours; its table is black, because the 16 include no dark green."""

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
    {theme.name: theme for theme in (FELT, NIGHT, PAPER, PLAIN)}
)
"""The themes, the default one first."""
