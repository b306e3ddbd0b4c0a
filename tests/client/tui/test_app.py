"""The app on a whole terminal: it runs one flow, uses the theme's colours, and ends."""

import asyncio

import pytest
from textual.drivers.headless_driver import HeadlessDriver
from textual.filter import NoColor

from saratoga_client.local.settings_file import Value
from saratoga_client.local.terminal import Colours
from saratoga_client.problems import Exit, Problem
from saratoga_client.tui import app as app_module
from saratoga_client.tui import terminal_guard
from saratoga_client.tui.app import SaratogaApp, run_flow
from saratoga_client.tui.appearance import Appearance
from saratoga_client.tui.screens.waiting import WaitingScreen
from saratoga_client.tui.themes import THEMES
from saratoga_rules.games import GAMES


async def stay(app: SaratogaApp) -> None:
    await asyncio.Event().wait()


async def test_the_app_ends_with_its_flow() -> None:
    done = asyncio.Event()

    async def flow(app: SaratogaApp) -> None:
        await done.wait()

    app = SaratogaApp(flow)
    async with app.run_test() as pilot:
        assert isinstance(app.screen, WaitingScreen)
        done.set()
        await pilot.pause()
        await pilot.pause()
    assert (app.return_code, app.problem, app.is_interrupted) == (0, None, False)


async def test_a_problem_that_ends_the_flow_is_kept_for_the_normal_screen() -> None:
    trouble = Problem("The server cannot be reached.", "Try again later.", Exit.UNREACHABLE)

    async def flow(app: SaratogaApp) -> None:
        raise trouble

    app = SaratogaApp(flow)
    async with app.run_test() as pilot:
        await pilot.pause()
    assert app.problem is trouble


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
        await run_flow(stay)
    assert alarmed.value.code is Exit.NOT_VERIFIED
    monkeypatch.setattr(app_module, "run", interrupted)
    with pytest.raises(KeyboardInterrupt):
        await run_flow(stay)
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
        await run_flow(flow)
    assert happened == ["the server is stopped"]


async def test_choices_are_kept_for_the_next_run() -> None:
    kept: dict[str, Value] = {}
    app = SaratogaApp(stay, remember=kept.__setitem__)
    async with app.run_test():
        assert app.other_suits(GAMES["canfield"]) == "four"
        assert app.next_theme() == list(THEMES)[1]
    assert kept == {"suits.canfield": "four", "theme": list(THEMES)[1]}


@pytest.mark.parametrize("colours", Colours)
async def test_without_colour_not_one_is_sent(colours: Colours) -> None:
    app = SaratogaApp(stay, Appearance(colours=colours))
    async with app.run_test():
        has_filter = any(isinstance(each, NoColor) for each in app.get_line_filters())
        assert has_filter is (colours is Colours.NONE)


async def test_text_cannot_be_selected_by_dragging_across_a_table() -> None:
    assert not SaratogaApp.ALLOW_SELECT
    assert not SaratogaApp.ENABLE_COMMAND_PALETTE
