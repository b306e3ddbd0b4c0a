"""The styles of all roles, for terminals with colours or without. Rich shows a colour by the nearest that there is."""

from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import TypeAlias

from rich.style import Style

from saratoga_client.board_view.roles import Role
from saratoga_client.local.terminal import Colours
from saratoga_client.tui.themes import FELT, THEMES, Theme, on_any_ground

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
