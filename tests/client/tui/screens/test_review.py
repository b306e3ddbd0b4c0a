"""The review of a race: by moves, by time, beside another board; no text is cut."""

from dataclasses import replace

import pytest

from kit.solo_player import Player, StoppedClock, before, finished
from saratoga_client.review.divergence import first_divergence
from saratoga_client.tui.appearance import Appearance
from saratoga_client.tui.screens.help import HelpScreen
from saratoga_client.tui.screens.practice import PracticeScreen
from saratoga_client.tui.screens.review import ReviewScreen
from saratoga_rules.games import GAMES
from saratoga_rules.records.record import RaceRecord


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
