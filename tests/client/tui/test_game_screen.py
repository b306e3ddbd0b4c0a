"""The common base of race, practice and replay screens, and the cost of a key there."""

import pytest

from kit.positions import draw
from kit.session_states import board, snapshot, standings, state_after, table
from kit.solo_player import before, finished
from kit.table_screens import table_player
from saratoga_client.input import scene
from saratoga_client.practice.deals import PracticeDeal, from_seed
from saratoga_client.tui import board_widget
from saratoga_client.tui.game_screen import GameScreen
from saratoga_client.tui.screens.practice import PracticeScreen
from saratoga_client.tui.screens.review import ReviewScreen
from saratoga_rules.games import GAMES

CANFIELD = GAMES["canfield"]
POSITION = draw(
    CANFIELD,
    "t1: QS\nt2: KH\nt3: 9D 8S\nt4: 6C\nreserve: 4H\nwaste: 5D\nstock: 2S 3S 4S 5S\nup: D4\nbase: A",
)


def screens() -> list[GameScreen]:
    return [PracticeScreen(from_seed(CANFIELD, "7")), ReviewScreen(finished())]


class Counted:
    """A replacement for a module's function, which counts the calls."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, module: object, name: str) -> None:
        self.calls = 0
        self._function = getattr(module, name)
        monkeypatch.setattr(module, name, self)

    def __call__(self, *arguments: object, **named: object) -> object:
        self.calls += 1
        return self._function(*arguments, **named)


async def test_every_game_screen_has_the_search_the_panel_key_and_the_suits() -> None:
    for screen in screens():
        async with before(screen) as player:
            assert (await player.press("/")).startswith("Find:")
            assert "enter keep" in player.lines[-1]
            await player.press("q", "enter")
            assert screen.finder.text == "Q"
            assert await player.press("escape") == "Search cleared."
            assert await player.press("p") == "The panel is hidden; p shows it."
            assert await player.press("c") in (
                "The suits have four colours now.",
                "The suits have two colours now.",
            )


async def test_the_same_key_copies_the_result_of_practice_and_replay() -> None:
    for screen in screens():
        async with before(screen) as player:
            await player.press("y")
            assert "Saratoga" in player.app.clipboard


async def test_a_click_closes_an_open_question() -> None:
    screen = PracticeScreen(PracticeDeal(CANFIELD, POSITION, race="mint-otter-42/3"))
    async with before(screen) as player:
        await player.press("space", "s")
        assert screen.is_asking
        await player.click("t3")
        assert not screen.is_asking


@pytest.mark.parametrize("key", ["tab", "1", "escape", "/", "p", "?", "w", "é"])
async def test_a_key_that_plays_no_move_lists_no_moves_and_draws_the_board_at_most_once(
    monkeypatch: pytest.MonkeyPatch, key: str
) -> None:
    first = snapshot("y4 a3 r2", board(POSITION), table())
    async with table_player(state_after(first=first), position=POSITION) as at_table:
        listed = Counted(monkeypatch, scene, "legal_moves")
        drawn = Counted(monkeypatch, board_widget, "draw_board")
        await at_table.press(key)
        assert listed.calls == 0
        assert drawn.calls <= 1


async def test_a_key_that_plays_a_move_lists_the_moves_once_and_draws_the_board_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    first = snapshot("y4 a3 r2", board(POSITION), table())
    async with table_player(state_after(first=first), position=POSITION) as at_table:
        await at_table.press("tab")
        listed = Counted(monkeypatch, scene, "legal_moves")
        drawn = Counted(monkeypatch, board_widget, "draw_board")
        await at_table.press("enter")
        assert at_table.seat.asked != []
        assert (listed.calls, drawn.calls) == (1, 1)
        at_table.seat.confirm()
        await at_table.settled()
        assert (listed.calls, drawn.calls) == (1, 1)


async def test_the_panel_and_the_meter_are_drawn_only_when_they_change(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from saratoga_client.tui.screens import race

    first = snapshot("y4 a3 r2", board(POSITION), table())
    async with table_player(state_after(first=first), position=POSITION) as at_table:
        screen = at_table.screen
        assert isinstance(screen, GameScreen)
        screen.tick()
        panel = Counted(monkeypatch, race, "panel")
        meter = Counted(monkeypatch, race, "meter")
        for _ in range(5):
            await at_table.press("tab")
            screen.tick()
        assert (panel.calls, meter.calls) == (0, 0)
        at_table.seat.receive(standings("y4 a7 r2"))
        await at_table.settled()
        assert (panel.calls, meter.calls) == (1, 0)
