"""The common base of race, practice and replay screens, and the cost of a key there."""

from kit.positions import draw
from kit.solo_player import before, finished
from saratoga_client.practice.deals import PracticeDeal, from_seed
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
