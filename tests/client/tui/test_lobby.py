"""The lobby's screen at its sizes: tables, leaders and choices; its keys are in `scripts/lobby.txt`."""

from typing import Any

import pytest
from msgspec.structs import replace

from kit.solo_player import Player, before
from kit.terminals import HOSTILE, OBEYED
from saratoga_client.local.settings import CAPS, Settings
from saratoga_client.tui.lobby import LobbyScreen
from saratoga_client.tui.theme import Appearance
from saratoga_protocol.events import LeaderboardRow, TableSummary
from saratoga_rules.games import GAMES

TABLE = TableSummary(
    code="mint-otter-10",
    game="canfield",
    cap=10,
    seats=16,
    phase="gathering",
    host="Anna",
    seated=1,
)
LEADER = LeaderboardRow(
    rank=1, player="b" * 16, name="Bert", value=31, net=105, elapsed=1, race="a-1/1", races=1, rivals=12
)  # fmt: skip


def tables(count: int) -> list[TableSummary]:
    return [replace(TABLE, code=f"mint-otter-{number}") for number in range(10, 10 + count)]


def lobby(cap: int = 10, **shown: Any) -> LobbyScreen:
    """Return the screen of a lobby with a server, showing these attributes."""
    chosen = Settings(server="wss://cards.example", game="canfield").given(cap=cap)
    screen = LobbyScreen(chosen)
    given = {"is_open": True, "has_tried": True, "player_name": "Zoe", **shown}
    for name, value in given.items():
        setattr(screen, name, value)
    screen.show()
    return screen


def marked(player: Player) -> list[str]:
    return [line.split()[1] for line in player.lines if line.startswith("▸")]


async def test_nothing_is_said_to_be_absent_before_it_is_loaded() -> None:
    screen = lobby()
    async with before(screen) as player:
        assert "loading" in player.text
        assert "none" not in player.text
        screen.tables = []
        screen.show()
        await player.pilot.pause()
        assert "none now" in player.text


async def test_each_game_has_its_leader_of_today() -> None:
    async with before(lobby(leaders={"canfield": LEADER, "caprice": None})) as player:
        shown = [line.split() for line in player.lines]
        assert ["Klondike"] in shown
        assert ["Canfield", "Bert", "31", "banked", "+$105", "vs", "12", "people"] in shown
        assert ["Caprice", "none", "yet"] in shown


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (60, 20)])
async def test_texts_from_a_server_command_nothing_and_move_no_column(
    size: tuple[int, int],
) -> None:
    odd = [
        replace(TABLE, code=HOSTILE, host=HOSTILE, phase=HOSTILE),
        replace(TABLE, host="王" * 20),
    ]
    screen = lobby(tables=[TABLE, *odd])
    async with before(screen, size) as player:
        assert not OBEYED & set("".join(player.lines))
        assert len({line.index("Canfield") for line in player.lines if " 10 min" in line}) == 1
        screen.leaders = dict.fromkeys(GAMES, replace(LEADER, name=HOSTILE))
        screen.player_name = screen.seat = HOSTILE
        screen.show()
        await player.pilot.pause()
        assert not OBEYED & set("".join(player.lines))
        screen.is_open, screen.tables, screen.wrong = False, None, HOSTILE
        screen.show()
        await player.pilot.pause()
        assert "WHAT YOU CAN DO" in player.text
        assert not OBEYED & set("".join(player.lines))


async def test_in_ascii_there_are_no_other_symbols() -> None:
    screen = lobby(tables=tables(2), leaders={"canfield": replace(LEADER, name="x" * 60)})
    async with before(screen, appearance=Appearance(ascii=True)) as player:
        assert player.text.isascii()


async def test_the_chosen_table_is_marked_and_visible_in_a_long_list() -> None:
    async with before(lobby(tables=tables(40))) as player:
        assert "PUBLIC TABLES  40" in player.text
        assert marked(player) == ["mint-otter-10"]
        for steps, code in ((1, "mint-otter-11"), (24, "mint-otter-35"), (14, "mint-otter-49")):
            await player.press(*["down"] * steps)
            await player.pilot.pause()
            assert marked(player) == [code]
        await player.press("down")
        await player.pilot.pause()
        assert marked(player) == ["mint-otter-10"], "the list goes round"


async def test_a_click_chooses_a_table_which_stays_chosen_while_others_come_and_go() -> None:
    screen = lobby(tables=tables(3))
    async with before(screen) as player:
        await player.pilot.click("#tables", offset=(4, 2))
        await player.pilot.pause()
        assert marked(player) == ["mint-otter-12"]
        for left, chosen in (([2, 0], "mint-otter-12"), ([1, 0], "mint-otter-11"), ([], "")):
            screen.tables = [tables(3)[place] for place in left]
            screen.show()
            assert screen.chosen == chosen


async def test_a_public_table_always_has_a_cap() -> None:
    async with before(lobby(cap=0)) as player:
        await player.press("c", "p")
        assert "10 minutes" in player.text
        for _ in CAPS:
            await player.press("c")
            assert "no time limit" not in player.text
