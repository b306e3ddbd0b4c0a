"""Colours: every role has one, and text has enough contrast at every colour depth."""

from itertools import combinations

import pytest
from rich.color import Color, ColorSystem
from rich.style import Style

from saratoga_client.board_view.card_faces import CardState
from saratoga_client.board_view.roles import Role
from saratoga_client.tui.colours import Depth, paint
from saratoga_client.tui.themes import FEW, THEMES

VGA_COLOURS = (
    "#000000", "#aa0000", "#00aa00", "#aa5500", "#0000aa", "#aa00aa", "#00aaaa", "#aaaaaa",
    "#555555", "#ff5555", "#55ff55", "#ffff55", "#5555ff", "#ff55ff", "#55ffff", "#ffffff",
)  # fmt: skip
"""The sixteen colours of the standard palette, by number."""

PALETTES = {
    "VGA": VGA_COLOURS,
    "xterm": (
        "#000000", "#cd0000", "#00cd00", "#cdcd00", "#0000ee", "#cd00cd", "#00cdcd", "#e5e5e5",
        "#7f7f7f", "#ff0000", "#00ff00", "#ffff00", "#5c5cff", "#ff00ff", "#00ffff", "#ffffff",
    ),
    "Windows": (
        "#0c0c0c", "#c50f1f", "#13a10e", "#c19c00", "#0037da", "#881798", "#3a96dd", "#cccccc",
        "#767676", "#e74856", "#16c60c", "#f9f1a5", "#3b78ff", "#b4009e", "#61d6d6", "#f2f2f2",
    ),
    "macOS": (
        "#000000", "#990000", "#00a600", "#999900", "#0000b2", "#b200b2", "#00a6b2", "#bfbfbf",
        "#666666", "#e50000", "#00d900", "#e5e500", "#0000ff", "#e500e5", "#00e5e5", "#e5e5e5",
    ),
    "GNOME": (
        "#171421", "#c01c28", "#26a269", "#a2734c", "#12488b", "#a347ba", "#2aa1b3", "#d0cfcc",
        "#5e5c64", "#f66151", "#33da7a", "#e9ad0c", "#2a7bde", "#c061cb", "#33c7de", "#ffffff",
    ),
}  # fmt: skip
"""The sixteen colours as terminals show them; they differ most in number 3, brown or yellow."""

READABLE = {Depth.ALL: 4.5, Depth.MANY: 3.5, Depth.SIXTEEN: 3.0}
"""The smallest contrast by colour depth: WCAG 2.2 (1.4.3) for text; with few colours, a little below
its value for large text, because that text is bold.
"""

PALEST = 2.4
"""The smallest contrast in the palette that suits worst: of the purple suit on a picked card in GNOME's."""

LINES = 2.5
"""The smallest contrast of the edges of cards, which are no words."""

PATTERNS = (Role.CARD_BACK, Role.FRAME, Role.SPACE, Role.DIM, Role.BAR_REST)
"""Patterns, lines, and words that only repeat others: with sixteen colours they may be weak."""

EDGES = tuple(role for role in Role if role.endswith("-edge"))

TONES = ("black", "red", "club", "diamond")
SYSTEMS = {
    Depth.ALL: ColorSystem.TRUECOLOR,
    Depth.MANY: ColorSystem.EIGHT_BIT,
    Depth.SIXTEEN: ColorSystem.STANDARD,
}
COLOURED = [(depth, theme) for depth in SYSTEMS for theme in THEMES]


def seen(colour: Color | None, depth: Depth) -> tuple[int, int, int]:
    """Return a colour as a terminal of that colour depth shows it, by the usual palettes."""
    assert colour is not None
    return colour.downgrade(SYSTEMS[depth]).get_truecolor()


def in_palette(colour: Color, palette: str) -> tuple[int, int, int]:
    """Return one of the sixteen colours as a terminal with that palette shows it."""
    number = colour.downgrade(ColorSystem.STANDARD).number
    assert number is not None
    return Color.parse(PALETTES[palette][number]).get_truecolor()


def luminance(colour: tuple[int, int, int]) -> float:
    # WCAG 2.2, relative luminance
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4
        for part in (value / 255 for value in colour)
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(style: Style, depth: Depth) -> float:
    return ratio(seen(style.color, depth), seen(style.bgcolor, depth))


def ratio(one: tuple[int, int, int], other: tuple[int, int, int]) -> float:
    darker, lighter = sorted((luminance(one), luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


@pytest.mark.parametrize("depth", Depth)
@pytest.mark.parametrize("theme", THEMES)
def test_every_role_has_a_style(depth: Depth, theme: str) -> None:
    assert set(paint(depth, theme)) == set(Role)


@pytest.mark.parametrize(("depth", "theme"), COLOURED)
def test_suits_can_be_read_in_every_state(depth: Depth, theme: str) -> None:
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
def test_words_on_the_table_can_be_read(depth: Depth, theme: str, role: Role) -> None:
    assert contrast(paint(depth, theme)[role], depth) > READABLE[depth]


@pytest.mark.parametrize("theme", THEMES)
def test_dim_words_can_be_read_too(theme: str) -> None:
    assert contrast(paint(Depth.ALL, theme)[Role.DIM], Depth.ALL) > READABLE[Depth.ALL]
    # The 256 colours have no dark green, so less is possible.
    assert contrast(paint(Depth.MANY, theme)[Role.DIM], Depth.MANY) > READABLE[Depth.SIXTEEN]


@pytest.mark.parametrize(("depth", "theme"), COLOURED)
@pytest.mark.parametrize("ground", ["#ffffff", "#000000"])
def test_without_background_words_can_be_read_on_a_light_and_on_a_dark_terminal(
    depth: Depth, theme: str, ground: str
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


@pytest.mark.parametrize("palette", PALETTES)
@pytest.mark.parametrize("background", [True, False])
def test_sixteen_colours_can_be_read_in_the_palettes_of_usual_terminals(
    palette: str, background: bool
) -> None:
    for role, style in paint(Depth.SIXTEEN, background=background).items():
        if style.color is None or role in PATTERNS or role in EDGES:
            continue
        ink = in_palette(style.color, palette)
        grounds = (
            [in_palette(style.bgcolor, palette)]
            if style.bgcolor is not None
            else [(255, 255, 255), (0, 0, 0)]
        )
        assert min(ratio(ink, ground) for ground in grounds) > PALEST, role


@pytest.mark.parametrize("theme", THEMES)
def test_without_background_roles_that_differ_in_meaning_differ_in_style(theme: str) -> None:
    bare = paint(Depth.ALL, theme, background=False)
    for one, other in combinations(
        (Role.TEXT, Role.DIM, Role.KEY, Role.MONEY_UP, Role.MONEY_DOWN, Role.TITLE), 2
    ):
        assert bare[one] != bare[other]
    assert bare[Role.KEY] != bare[Role.KEY_LIT] != bare[Role.KEY_TARGET]
    few = paint(Depth.SIXTEEN, background=False)
    roles = (Role.TEXT, Role.DIM, Role.KEY, Role.KEY_LIT, Role.KEY_TARGET, Role.MONEY_DOWN)
    assert len({few[role] for role in roles}) == len(roles)


@pytest.mark.parametrize(("depth", "theme"), COLOURED)
def test_no_two_suits_and_no_two_states_look_alike(depth: Depth, theme: str) -> None:
    colours = paint(depth, theme)
    for state in CardState:
        inks = [seen(colours[Role(f"{state}-{tone}")].color, depth) for tone in TONES]
        assert len(set(inks)) == len(TONES)
    grounds = [seen(colours[Role(f"{state}-edge")].bgcolor, depth) for state in CardState]
    assert all(one != other for one, other in combinations(grounds, 2))
    assert seen(colours[Role.TABLE].bgcolor, depth) not in grounds


def test_the_sixteen_colours_are_those_that_are_meant() -> None:
    for style in paint(Depth.SIXTEEN).values():
        for colour in (style.color, style.bgcolor):
            assert colour is not None
            number = colour.downgrade(ColorSystem.STANDARD).number
            assert number is not None
            assert VGA_COLOURS[number] == colour.get_truecolor().hex
    assert FEW.name not in THEMES


def test_without_colours_no_style_has_one() -> None:
    colours = paint(Depth.NONE)
    assert all(style.color is None and style.bgcolor is None for style in colours.values())
    assert colours[Role.PICKED_RED] != colours[Role.CARD_RED] != colours[Role.TARGET_RED]


@pytest.mark.parametrize("theme", THEMES)
def test_without_background_the_table_is_the_terminals_and_cards_are_cards(theme: str) -> None:
    bare, full = paint(Depth.ALL, theme, background=False), paint(Depth.ALL, theme)
    assert bare[Role.TABLE].bgcolor is None
    assert bare[Role.SPACE].bgcolor is None
    assert bare[Role.CARD_RED] == full[Role.CARD_RED]
