"""Colours: every role has one, and text has enough contrast at every colour depth."""

from itertools import combinations

import pytest
from rich.color import Color, ColorSystem
from rich.style import Style

from saratoga_client.board_view.card_faces import CardState
from saratoga_client.board_view.roles import Role
from saratoga_client.local.terminal import Colours
from saratoga_client.tui.colours import paint
from saratoga_client.tui.themes import THEMES

READABLE = {Colours.ALL: 4.5, Colours.MANY: 3.5}
"""The smallest contrast by number of colours: WCAG 2.2 (1.4.3) for text."""

LINES = 2.5
"""The smallest contrast of the edges of cards, which are no words."""

EDGES = tuple(role for role in Role if role.endswith("-edge"))

TONES = ("black", "red", "club", "diamond")
SYSTEMS = {
    Colours.ALL: ColorSystem.TRUECOLOR,
    Colours.MANY: ColorSystem.EIGHT_BIT,
}
COLOURED = [(depth, theme) for depth in SYSTEMS for theme in THEMES]


def seen(colour: Color | None, depth: Colours) -> tuple[int, int, int]:
    """Return a colour as a terminal of that colour depth shows it, by the usual palettes."""
    assert colour is not None
    return colour.downgrade(SYSTEMS[depth]).get_truecolor()


def luminance(colour: tuple[int, int, int]) -> float:
    # WCAG 2.2, relative luminance
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4
        for part in (value / 255 for value in colour)
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(style: Style, depth: Colours) -> float:
    return ratio(seen(style.color, depth), seen(style.bgcolor, depth))


def ratio(one: tuple[int, int, int], other: tuple[int, int, int]) -> float:
    darker, lighter = sorted((luminance(one), luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


@pytest.mark.parametrize("depth", Colours)
@pytest.mark.parametrize("theme", THEMES)
def test_every_role_has_a_style(depth: Colours, theme: str) -> None:
    assert set(paint(depth, theme)) == set(Role)


@pytest.mark.parametrize(("depth", "theme"), COLOURED)
def test_suits_can_be_read_in_every_state(depth: Colours, theme: str) -> None:
    colours = paint(depth, theme)
    for state in CardState:
        for tone in TONES:
            assert contrast(colours[Role(f"{state}-{tone}")], depth) > READABLE[depth], (
                state,
                tone,
            )


@pytest.mark.parametrize(("depth", "theme"), COLOURED)
@pytest.mark.parametrize(
    "role",
    [
        Role.TEXT,
        Role.LABEL,
        Role.KEY,
        Role.KEY_LIT,
        Role.KEY_TARGET,
        Role.COUNT,
        Role.BACK_COUNT,
        Role.MONEY_UP,
        Role.MONEY_DOWN,
        Role.WARNING,
        Role.ALARM,
        Role.LEADER,
        Role.YOU,
        Role.TITLE,
    ],
)
def test_words_on_the_table_can_be_read(depth: Colours, theme: str, role: Role) -> None:
    assert contrast(paint(depth, theme)[role], depth) > READABLE[depth]


@pytest.mark.parametrize("theme", THEMES)
def test_dim_words_can_be_read_too(theme: str) -> None:
    assert contrast(paint(Colours.ALL, theme)[Role.DIM], Colours.ALL) > READABLE[Colours.ALL]
    # The 256 colours have no dark green, so less is possible.
    assert contrast(paint(Colours.MANY, theme)[Role.DIM], Colours.MANY) > 3.0


@pytest.mark.parametrize(("depth", "theme"), COLOURED)
@pytest.mark.parametrize("ground", ["#ffffff", "#000000"])
def test_without_background_words_can_be_read_on_a_light_and_on_a_dark_terminal(
    depth: Colours, theme: str, ground: str
) -> None:
    for role, style in paint(depth, theme, background=False).items():
        if style.color is None:
            # the terminal's own colour on its own ground
            assert style.bgcolor is None, role
            continue
        painted = style if style.bgcolor is not None else style + Style(bgcolor=ground)
        if role is Role.CARD_BACK:
            # a pattern without meaning
            continue
        least = LINES if role in EDGES else READABLE[depth]
        assert contrast(painted, depth) > least, role


@pytest.mark.parametrize("theme", THEMES)
def test_without_background_roles_that_differ_in_meaning_differ_in_style(theme: str) -> None:
    bare = paint(Colours.ALL, theme, background=False)
    for one, other in combinations(
        (Role.TEXT, Role.DIM, Role.KEY, Role.MONEY_UP, Role.MONEY_DOWN, Role.TITLE), 2
    ):
        assert bare[one] != bare[other]
    assert bare[Role.KEY] != bare[Role.KEY_LIT] != bare[Role.KEY_TARGET]


@pytest.mark.parametrize(("depth", "theme"), COLOURED)
def test_no_two_suits_and_no_two_states_look_alike(depth: Colours, theme: str) -> None:
    colours = paint(depth, theme)
    for state in CardState:
        inks = [seen(colours[Role(f"{state}-{tone}")].color, depth) for tone in TONES]
        assert len(set(inks)) == len(TONES)
    grounds = [seen(colours[Role(f"{state}-edge")].bgcolor, depth) for state in CardState]
    assert all(one != other for one, other in combinations(grounds, 2))
    assert seen(colours[Role.TABLE].bgcolor, depth) not in grounds


def test_without_colours_no_style_has_one() -> None:
    colours = paint(Colours.NONE)
    assert all(style.color is None and style.bgcolor is None for style in colours.values())
    assert colours[Role.PICKED_RED] != colours[Role.CARD_RED] != colours[Role.TARGET_RED]


@pytest.mark.parametrize("theme", THEMES)
def test_without_background_the_table_is_the_terminals_and_cards_are_cards(theme: str) -> None:
    bare, full = paint(Colours.ALL, theme, background=False), paint(Colours.ALL, theme)
    assert bare[Role.TABLE].bgcolor is None
    assert bare[Role.SPACE].bgcolor is None
    assert bare[Role.CARD_RED] == full[Role.CARD_RED]
