"""The practice screen with keys and mouse: every input gets an answer, and no run is lost."""

from collections.abc import Sequence

import pytest

from kit.positions import draw
from kit.screen_cells import painted_text
from kit.solo_player import SMALL, Player, StoppedClock, before
from saratoga_client.practice.deals import PracticeDeal, from_seed
from saratoga_client.practice.run_store import RunStore
from saratoga_client.tui.appearance import Appearance
from saratoga_client.tui.screens.practice import PracticeScreen
from saratoga_rules.games import GAMES

CANFIELD, LADY_PALK = GAMES["canfield"], GAMES["lady-palk"]

NEARLY_WON = draw(CANFIELD, "t1: KS\nt2: KH\nup: C13 S12 H12 D13\nbase: A")
PAIR = draw(LADY_PALK, "t1: KD QD\nt2: 9H KS QH JS TD\nt3: JC\nt5: 4C AS\nstock: 2H 3H")


def practice(name: str = "canfield", **more: object) -> PracticeScreen:
    return PracticeScreen(from_seed(GAMES[name], "7"), **more)  # type: ignore[arg-type]


def drawn(picture: object, name: str = "lady-palk") -> PracticeScreen:
    return PracticeScreen(PracticeDeal(GAMES[name], picture, race="mint-otter-42/3"))  # type: ignore[arg-type]


def moves(player: Player) -> list[str]:
    assert isinstance(player.screen, PracticeScreen)
    return [str(made.move) for made in player.screen.practice.made]


@pytest.mark.parametrize("name", GAMES)
async def test_the_practice_screen_has_no_word_of_a_race(name: str) -> None:
    screen = practice(name)
    async with before(screen) as player:
        assert player.lines[0].startswith(f" PRACTICE {GAMES[name].title}  seed 7")
        assert "nothing counts here" in player.text
        for racy in ("RACE", "YOU", "place", "cash"):
            assert racy not in player.text


async def test_two_keys_play_a_move_and_z_and_i_undo_and_redo_it() -> None:
    async with before(drawn(PAIR)) as player:
        await player.press("3", "1", "5", "5")
        assert moves(player) == ["t3>t1", "t5>up"]
        assert await player.press("z") == "Undone; 1 move stands, i redoes 1."
        assert moves(player) == ["t3>t1"]
        assert await player.press("i") == "Redone; 2 moves stand."
        assert moves(player) == ["t3>t1", "t5>up"]


async def test_a_move_says_which_card_it_turns_up() -> None:
    dealt = draw(GAMES["klondike"], "t1: 2C | 9H\nt2: 3D | TC\nt3: 8S\nstock: 2H")
    async with before(drawn(dealt, "klondike")) as player:
        assert await player.press("1", "2") == "9♥ from column 1 to column 2; 2♣ turns up."
        assert await player.press("3", "2") == "8♠ from column 3 to column 2."


async def test_undo_at_the_deal_and_unknown_keys_get_an_answer() -> None:
    async with before(practice()) as player:
        assert await player.press("z") == "There is no move to undo."
        assert await player.press("i") == "There is no move to redo."
        assert await player.press("j")
        assert await player.press("a") == "Nothing is safe to bank now: f banks what you choose."


async def test_a_hint_is_highlighted_and_enter_plays_it() -> None:
    async with before(practice()) as player:
        assert (await player.press("h")).startswith("Hint: 3 cards from the stock")
        await player.press("enter")
        assert moves(player) == ["draw"]
        assert "helped" in player.lines[0]
        assert "hints 1" in player.text


async def test_a_restart_after_a_move_asks_first_and_keeps_the_run() -> None:
    async with before(practice()) as player:
        said = await player.press("s")
        assert said == "Here nothing counts. Press a pile's key, then another's; h hints, z undoes."
        await player.press("space")
        assert "(y/n)" in await player.press("s")
        assert "y yes" in player.lines[-1]
        assert await player.press("n") == "Cancelled."
        assert moves(player) == ["draw"]
        await player.press("s", "y")
        assert moves(player) == []
        assert len(RunStore().runs(from_seed(CANFIELD, "7"))) == 1


async def test_a_new_deal_has_another_seed() -> None:
    async with before(practice()) as player:
        await player.press("n")
        assert "seed 7 " not in player.lines[0]
        assert "seed " in player.lines[0]


async def test_a_run_that_is_left_is_kept_as_the_ghost_of_the_next() -> None:
    clock = StoppedClock()
    async with before(practice(seconds=clock)) as player:
        await player.press("space")
        clock.at = 9.0
        await player.press("q")
    async with before(practice(with_ghost=True, seconds=StoppedClock())) as player:
        assert player.message.startswith("You race a ghost: your run, 1 banked in 0:09.")
        assert "level with the ghost" in player.text
        assert await player.press("e") == "The ghost is off; e brings it back."
        assert "GHOST" not in player.text


async def test_the_run_is_kept_when_the_program_ends() -> None:
    async with before(practice()) as player:
        await player.press("space")
        player.app.exit()
    assert len(RunStore().runs(from_seed(CANFIELD, "7"))) == 1


async def test_a_won_game_says_so_and_which_keys_go_on() -> None:
    async with before(drawn(NEARLY_WON, "canfield")) as player:
        assert (await player.press("a")).startswith("Won: all 52 banked in 0:0")
        assert "s again  n new deal" in player.lines[-1]
        assert (await player.press("1")).startswith("The game is won:")


async def test_a_board_where_nothing_more_can_be_banked_is_called_stuck() -> None:
    stuck = draw(CANFIELD, "t1: 9S 8H\nt2: 7S\nt3: QC\nup: C1\nbase: A\npass: 2")
    async with before(drawn(stuck, "canfield")) as player:
        await player.press("2", "1")
        assert moves(player) == ["t2>t1"]
        await player.until(lambda: player.message.startswith("Stuck: nothing more can be banked."))


async def test_y_copies_the_result_with_the_seed() -> None:
    async with before(practice()) as player:
        await player.press("space")
        assert "clipboard" in await player.press("y")
        assert "saratoga practice canfield --seed 7" in player.app.clipboard


async def test_colours_and_suits_are_changed_and_kept() -> None:
    async with before(practice()) as player:
        assert await player.press("c") == "The suits have four colours now."
        assert (await player.press("t")).startswith("Colours: ")
        assert player.kept["suits.canfield"] == "four"
        assert "theme" in player.kept
        assert await player.press("p") == "The panel is hidden; p shows it."
        assert "banked 1/52" not in player.text


@pytest.mark.parametrize("size", [(60, 20), SMALL, (100, 30), (120, 40), (200, 60)])
@pytest.mark.parametrize("name", ["canfield", "caprice"])
async def test_every_size_shows_the_notice_the_board_and_the_keys(
    name: str, size: tuple[int, int]
) -> None:
    async with before(practice(name), size, Appearance(ascii=True)) as player:
        lines: Sequence[str] = painted_text(player.screen)
        assert lines[0].startswith(" PRACTICE ")
        assert lines[-1].endswith("? help  q back")
        assert "space" in lines[1]
        assert player.text.isascii()
