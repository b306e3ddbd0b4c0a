"""The lobby's list of public tables."""

from typing import cast

import pytest

from kit.solo_player import Player, before
from kit.terminals import HOSTILE, OBEYED
from saratoga_client.session.join import TableWanted
from saratoga_client.session.lobby import LobbyState
from saratoga_client.tui.lobby_flow import LobbyFlow
from saratoga_client.tui.screens.lobby import LobbyScreen
from saratoga_client.tui.table_list import TableList
from saratoga_protocol.table_rows import TableSummary


class NoActions:
    """A lobby whose actions the test does not use."""

    def take_name(self, name: str) -> None: ...
    def join(self, text: str) -> None: ...
    def watch(self, text: str) -> None: ...
    def open_table(self, table: TableWanted) -> None: ...
    def look_here(self) -> None: ...
    def host_here(self, table: TableWanted) -> None: ...
    def go_to_server(self, text: str) -> None: ...
    def practise(self, game: str) -> None: ...
    def quit(self) -> None: ...


def tables(count: int, host: str = "Anna") -> list[TableSummary]:
    return [
        TableSummary(
            code=f"mint-otter-{number}",
            game="canfield",
            cap=10,
            seats=16,
            phase="gathering",
            host=host,
            seated=1,
        )
        for number in range(10, 10 + count)
    ]


def lobby(found: list[TableSummary]) -> LobbyScreen:
    state = LobbyState(server="wss://cards.example", is_open=True, has_tried=True, name="Zoë")
    form = TableWanted(game="canfield", cap=10, seats=16, public=False)
    return LobbyScreen(cast(LobbyFlow, NoActions()), state.with_tables(found), form)


def marked(player: Player) -> list[str]:
    return [line.split()[1] for line in player.lines if line.startswith("▸")]


async def test_the_chosen_table_is_marked_and_visible_in_a_long_list() -> None:
    async with before(lobby(tables(40))) as player:
        assert "PUBLIC TABLES  40" in player.text
        assert marked(player) == ["mint-otter-10"]
        for steps, code in ((1, "mint-otter-11"), (24, "mint-otter-35"), (14, "mint-otter-49")):
            await player.press(*["down"] * steps)
            await player.pilot.pause()
            assert marked(player) == [code]
        await player.press("down")
        await player.pilot.pause()
        assert marked(player) == ["mint-otter-10"], "the list goes round"


async def test_a_click_on_a_table_chooses_it() -> None:
    async with before(lobby(tables(3))) as player:
        await player.pilot.click(TableList, offset=(4, 2))
        await player.pilot.pause()
        assert marked(player) == ["mint-otter-12"]


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (60, 20)])
async def test_a_name_from_a_server_commands_nothing_and_moves_no_column(
    size: tuple[int, int],
) -> None:
    async with before(
        lobby([*tables(1), *tables(1, HOSTILE), *tables(1, "王" * 20)]), size
    ) as player:
        assert not OBEYED & set("".join(player.lines))
        assert len({line.index("Canfield") for line in player.lines if " 10 min" in line}) == 1
