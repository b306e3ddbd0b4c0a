"""The program on the screen, and how it leaves the terminal."""

import asyncio
import io
import logging
import signal
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager, suppress
from itertools import combinations
from pathlib import Path

import pytest
from rich.color import Color, ColorSystem
from rich.style import Style
from textual.drivers.headless_driver import HeadlessDriver
from textual.filter import NoColor

from kit.pseudo_terminal import Window, window
from saratoga_client.board_view.faces import CardState, SuitColours
from saratoga_client.board_view.roles import Role
from saratoga_client.local.settings import Settings, load
from saratoga_client.local.terminal import Colours
from saratoga_client.problems import Exit, Problem
from saratoga_client.tui import app as app_module
from saratoga_client.tui import terminal_guard
from saratoga_client.tui.app import SaratogaApp, open_screen
from saratoga_client.tui.terminal_guard import MOST_KEPT, deferred_logs
from saratoga_client.tui.theme import THEMES, Appearance, paint
from saratoga_rules.games import GAMES


async def stay(app: SaratogaApp) -> None:
    await asyncio.Event().wait()


async def test_the_program_ends_with_the_alarms_of_its_tables(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    async def ended(app: SaratogaApp) -> None:
        app.alarms.append("Race 1: gone.")
        await app.flow_ended()

    async def interrupted(app: SaratogaApp) -> None:
        await ended(app)
        app.is_interrupted = True

    monkeypatch.setattr(app_module, "run", ended)
    with pytest.raises(Problem, match="ALARM: Race 1: gone") as alarmed:
        await open_screen(stay, Settings())
    assert alarmed.value.code is Exit.NOT_VERIFIED
    monkeypatch.setattr(app_module, "run", interrupted)
    with pytest.raises(KeyboardInterrupt):
        await open_screen(stay, Settings())
    assert capsys.readouterr().err == "ALARM: Race 1: gone.\n"


@pytest.mark.parametrize("key", ["ctrl+c", "ctrl+q"])
async def test_ctrl_c_ends_it_at_once_from_anywhere(key: str) -> None:
    app = SaratogaApp(stay)
    async with app.run_test() as pilot:
        await pilot.press(key)
        await pilot.pause()
        assert app.is_interrupted
    assert app.return_code == 0


async def test_the_flow_cleans_up_before_the_program_goes_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(SaratogaApp, "get_driver_class", lambda app: HeadlessDriver)
    happened: list[str] = []
    app_has_ended = asyncio.Event()

    async def run(app: SaratogaApp) -> int:
        try:
            return await terminal_guard.run(app)
        finally:
            app_has_ended.set()

    monkeypatch.setattr(app_module, "run", run)

    async def flow(app: SaratogaApp) -> None:
        app.call_later(app.action_interrupt)
        try:
            await asyncio.Event().wait()
        finally:
            await app_has_ended.wait()
            happened.append("the server is stopped")

    with pytest.raises(KeyboardInterrupt):
        await open_screen(flow, Settings())
    assert happened == ["the server is stopped"]


async def test_choices_are_kept_for_the_next_run() -> None:
    app = SaratogaApp(stay)
    async with app.run_test():
        assert app.other_suits(GAMES["canfield"]) == "four"
        assert app.next_theme() == list(THEMES)[1]
    assert (load().suits, load().theme) == ({"canfield": "four"}, list(THEMES)[1])


@pytest.mark.parametrize("colours", Colours)
async def test_without_colour_not_one_is_sent(colours: Colours) -> None:
    app = SaratogaApp(stay, Appearance(colours=colours))
    async with app.run_test():
        has_filter = any(isinstance(each, NoColor) for each in app.get_line_filters())
        assert has_filter is (colours is Colours.NONE)


def test_each_game_has_the_suits_that_it_is_read_best_with_unless_they_were_chosen() -> None:
    appearance = Appearance()
    assert appearance.card_style(GAMES["canfield"]).suits is SuitColours.TWO
    assert appearance.card_style(GAMES["caprice"]).suits is SuitColours.FOUR
    other = appearance.with_other_suits(GAMES["canfield"])
    assert other.card_style(GAMES["canfield"]).suits is SuitColours.FOUR
    assert other.card_style(GAMES["lafayette"]).suits is SuitColours.TWO
    assert other.with_other_suits(GAMES["canfield"]).card_style(GAMES["canfield"]).suits is (
        SuitColours.TWO
    )


def test_themes_go_round_and_an_unknown_one_is_the_first() -> None:
    appearance = Appearance(theme="of another version")
    seen = []
    for _ in THEMES:
        seen.append(appearance.theme_name)
        appearance = appearance.with_next_theme()
    assert seen == list(THEMES)
    assert appearance.theme_name == seen[0]
    assert Appearance(colours=Colours.SIXTEEN).theme_name == "plain"


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


SHAPES = frozenset(
    {Role.CARD_BACK, Role.FRAME, Role.SPACE, Role.SPACE_TARGET, Role.BAR, Role.BAR_REST, Role.TICK}
)
"""Roles of lines and patterns, which are no words."""


@pytest.mark.parametrize(("depth", "theme"), COLOURED)
def test_words_on_the_table_and_on_cards_can_be_read(depth: Colours, theme: str) -> None:
    for role, style in paint(depth, theme).items():
        if role not in (*SHAPES, *EDGES):
            # the 256 colours have no dark green, so less is possible
            is_dim = role is Role.DIM and depth is Colours.MANY
            assert contrast(style, depth) > (3.0 if is_dim else READABLE[depth]), role


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
    assert bare[Role.SPACE].bgcolor is None
    assert bare[Role.CARD_RED] == paint(Colours.ALL, theme)[Role.CARD_RED]


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


LOG = logging.getLogger("saratoga.late")


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@contextmanager
def written(into: io.StringIO) -> Iterator[io.StringIO]:
    """Have log lines written to a stream."""
    handler = logging.StreamHandler(into)
    logging.getLogger().addHandler(handler)
    try:
        yield into
    finally:
        logging.getLogger().removeHandler(handler)


def test_the_last_log_lines_reach_the_terminal_after_the_screen_and_a_file_at_once() -> None:
    with written(Terminal()) as terminal, written(io.StringIO()) as file:
        with suppress(ValueError), deferred_logs():
            for number in range(MOST_KEPT + 5):
                LOG.warning("%d", number)
            assert (terminal.getvalue(), len(file.getvalue().split())) == ("", MOST_KEPT + 5)
            raise ValueError("a failed screen")
        assert terminal.getvalue().split() == [str(number) for number in range(5, MOST_KEPT + 5)]
        LOG.warning("later")
        assert terminal.getvalue().endswith("later\n")


BARE_APP = (sys.executable, str(Path(__file__).with_name("bare_app.py")))


@pytest.fixture
async def app(request: pytest.FixtureRequest) -> AsyncIterator[Window]:
    """A window with the minimal app after its first frame, in an older terminal if a test says so."""
    async with window(*BARE_APP, modern=not hasattr(request, "param")) as opened:
        await opened.shows("this is the only line")
        yield opened


@pytest.mark.parametrize("app", ["older"], indirect=True)
async def test_an_app_that_ends_by_itself_gives_the_terminal_back(app: Window) -> None:
    assert app.settings() != app.before
    app.type(b"q")
    assert await app.given_back() == 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT])
async def test_a_signal_restores_the_terminal_and_sets_the_exit_code(
    app: Window, number: signal.Signals
) -> None:
    app.process.send_signal(number)
    assert await app.given_back() == 128 + number


async def test_ctrl_c_from_outside_is_an_interrupt_as_everywhere(app: Window) -> None:
    app.process.send_signal(signal.SIGINT)
    # the signal is not caught here; `saratoga` turns it into exit code 130
    assert await app.given_back() == -signal.SIGINT
    assert b"KeyboardInterrupt" in app.written


async def test_an_error_after_a_signal_does_not_change_the_exit_code(app: Window) -> None:
    app.type(b"l")
    assert await app.given_back() == 128 + signal.SIGTERM


async def test_a_signal_while_the_terminal_is_being_taken() -> None:
    async with window(*BARE_APP) as early:
        await early.shows("\x1b[?1049h")
        early.process.send_signal(signal.SIGTERM)
        assert await early.given_back() == 128 + signal.SIGTERM


async def test_a_second_signal_does_not_wait_for_an_app_that_hangs(app: Window) -> None:
    app.type(b"h")
    await app.shows("will never end")
    app.process.send_signal(signal.SIGTERM)
    await app.shows("\x1b[?1049l")
    assert app.process.returncode is None
    app.process.send_signal(signal.SIGTERM)
    assert await app.given_back() == 128 + signal.SIGTERM


async def test_a_program_that_is_busy_for_ever_is_ended_all_the_same(app: Window) -> None:
    app.type(b"b")
    await app.shows("will never read a key")
    app.process.send_signal(signal.SIGTERM)
    app.process.send_signal(signal.SIGHUP)
    # two signals that arrive together are handled in any order
    assert await app.given_back() in (128 + signal.SIGTERM, 128 + signal.SIGHUP)


async def test_a_fault_is_raised_and_no_trace_of_textual_is_printed(app: Window) -> None:
    app.type(b"f")
    assert await app.given_back() == 1
    said = bytes(app.written).rpartition(b"\x1b[?1049l")[2]
    # as Python prints it; `saratoga` prints a sentence instead
    assert said.rstrip().endswith(b"ValueError: raised by the key f")
    assert said.count(b"Traceback") == 1


async def test_the_terminal_notices_what_a_killed_program_keeps(app: Window) -> None:
    """No program can catch SIGKILL; only `reset` restores the terminal after it."""
    app.process.send_signal(signal.SIGKILL)
    assert await app.ended() == -signal.SIGKILL
    assert "alternate screen (?1049) is on" in app.modes.kept
    assert "mouse motion (?1003) is on" in app.modes.kept
    assert "the cursor shows (?25) is off" in app.modes.kept
    assert app.settings() != app.before
