"""The screens of practice, replay and review with keys and mouse."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from kit.finished_races import finished_race
from kit.positions import draw
from kit.screen_cells import painted_text
from kit.solo_player import SMALL, Player, StoppedClock, before, finished
from saratoga_client.practice.deals import PracticeDeal, from_seed
from saratoga_client.practice.run_store import RunStore
from saratoga_client.review.divergence import first_divergence
from saratoga_client.review.replay import replay_of
from saratoga_client.tui.appearance import Appearance
from saratoga_client.tui.screens.help import HelpScreen
from saratoga_client.tui.screens.practice import PracticeScreen
from saratoga_client.tui.screens.replay import JUMPS, STEPS, ReplayScreen
from saratoga_client.tui.screens.review import ReviewScreen
from saratoga_rules.games import GAMES
from saratoga_rules.records.record import RaceRecord

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


@pytest.fixture(scope="module")
def record() -> RaceRecord:
    return finished()


def screen_of(player: Player) -> ReviewScreen:
    assert isinstance(player.screen, ReviewScreen)
    return player.screen


async def test_the_review_begins_at_the_deal_of_the_players_board(record: RaceRecord) -> None:
    last = record.results[-1].player
    async with before(ReviewScreen(record, last)) as player:
        assert player.lines[0].startswith(" REPLAY  Lafayette  mint-otter-42/2  3. Otto  0/31")
        assert player.message == "The deal, the same for every player."


async def test_keys_step_by_moves(record: RaceRecord) -> None:
    async with before(ReviewScreen(record)) as player:
        assert await player.press("right") == "1. 1 card from the stock to the waste, at 0:00.4"
        await player.press("pagedown", "left")
        assert screen_of(player).replay.step == 10
        await player.press("end", "right", "home", "left")
        assert screen_of(player).replay.step == 0
        assert (await player.press("end")).startswith("Cashed out at 1:44.")


async def test_keys_step_by_time(record: RaceRecord) -> None:
    async with before(ReviewScreen(record)) as player:
        await player.press(">", ">", ".", ",")
        assert screen_of(player).replay.moment == 20_000
        await player.press("<", "<", "<")
        assert screen_of(player).replay.moment == 0


async def test_space_plays_the_race_at_three_speeds(record: RaceRecord) -> None:
    clock = StoppedClock()
    async with before(ReviewScreen(record, seconds=clock)) as player:
        assert await player.press("space") == "Playing at the speed of the race."
        clock.at = 5.0
        await player.until(lambda: screen_of(player).replay.moment == 5_000)
        assert await player.press("space", "space") == "Playing 8 times as fast as the race."
        clock.at = 6.0
        await player.until(lambda: screen_of(player).replay.moment == 13_000)
        assert "x8" in player.lines[0]
        assert await player.press("space") == "Paused; space plays on."
        clock.at = 600.0
        await player.press("space")
        clock.at = 6000.0
        await player.until(lambda: screen_of(player).speed == 0)
        assert screen_of(player).replay.is_over


async def test_boards_are_chosen_in_turn_and_by_place(record: RaceRecord) -> None:
    async with before(ReviewScreen(record)) as player:
        await player.press(">", "tab")
        assert "2. Zoë [bot]" in player.lines[0]
        assert screen_of(player).replay.moment == 10_000
        await player.press("shift+tab", "shift+tab")
        assert "3. Otto" in player.lines[0]
        await player.press("1")
        assert "1. Anna" in player.lines[0]
        assert await player.press("9") == "There is no place 9: 3 boards in this race."


async def test_d_goes_where_the_boards_first_differ(record: RaceRecord) -> None:
    async with before(ReviewScreen(record, record.results[1].player)) as player:
        replay = screen_of(player).replay
        divergence = first_divergence(replay.game, replay.board, replay.boards[0])
        assert divergence is not None
        assert "Differs from Anna after 2 common moves: 6♠" in await player.press("d")
        assert screen_of(player).replay.step == divergence.common == 2


async def test_the_panel_names_the_hidden_cards_in_place_of_the_chart(record: RaceRecord) -> None:
    async with before(ReviewScreen(record)) as player:
        assert "STOCK, FROM THE TOP" not in player.text
        await player.press("o")
        assert "RESERVE, FROM THE TOP" in player.text
        assert "STOCK, FROM THE TOP" in player.text
        await player.press("o")
        assert "0:00" in player.lines[-3]


async def test_w_goes_through_the_longest_pauses(record: RaceRecord) -> None:
    async with before(ReviewScreen(record)) as player:
        longest = float((await player.press("w")).split(" s,")[0].split()[-1])
        second = float((await player.press("w")).split(" s,")[0].split()[-1])
        assert longest >= second > 0


async def test_the_deal_can_be_practised_beside_the_ghost_of_the_board(record: RaceRecord) -> None:
    screen = ReviewScreen(record)
    async with before(screen) as player:
        await player.press("tab", "s")
        assert isinstance(player.screen, PracticeScreen)
        assert player.message == "You race a ghost: Zoë [bot] in mint-otter-42/2. Nothing counts."
        await player.press("q")
        assert player.sees(screen)


async def test_copy_search_and_help(record: RaceRecord) -> None:
    async with before(ReviewScreen(record)) as player:
        assert "clipboard" in await player.press("y")
        assert "saratoga verify mint-otter-42/2" in player.app.clipboard
        await player.press("/", "d")
        assert screen_of(player).finder.text == "D"
        await player.press("escape", "?")
        assert isinstance(player.screen, HelpScreen)


async def test_a_single_board_cannot_be_compared() -> None:
    record = finished()
    alone = replace(record, results=record.results[:1])
    async with before(ReviewScreen(alone)) as player:
        for key in ("d", "tab"):
            assert await player.press(key) == "There is only this board: no one else raced."


@pytest.mark.parametrize("name", GAMES)
async def test_no_text_is_cut_at_80_by_24_in_any_game(name: str) -> None:
    record = finished(name)
    async with before(ReviewScreen(record), appearance=Appearance(ascii=True)) as player:
        for keys in (("d",), ("d", "right"), ("end",), ("w",), ("o",), ("tab", "pagedown")):
            said = await player.press(*keys)
            assert len(said) <= 78
            assert not any(line.endswith(("..", "~")) for line in player.lines)
            assert player.lines[-1].endswith("? help  q back")


def test_steps_and_jumps_go_both_ways() -> None:
    for keys in (STEPS, JUMPS):
        assert sorted(keys.values()) == sorted(-step for step in keys.values())


def test_the_base_has_no_key_for_hidden_cards_or_other_boards() -> None:
    screen = ReplayScreen(replay_of(finished_race()))
    assert set(screen.key_actions()) == {"home", "end", "space", "k", "escape", "w"}
