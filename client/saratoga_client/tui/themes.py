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
