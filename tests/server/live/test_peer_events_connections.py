"""Two connections of one player on two nodes: only the newer one holds the seat."""

import pytest

from kit.in_process_server import gathered
from kit.two_nodes import Nodes
from saratoga_protocol.commands import (
    ChangeSettings,
    LeaveTable,
    MakeMove,
    Resume,
)
from saratoga_protocol.refusals import TAKEN_OVER
from saratoga_server.ports import StoredBoard


@pytest.mark.parametrize("same_node", [True, False])
async def test_of_two_connections_that_resume_at_once_only_the_newer_one_holds_the_seat(
    nodes: Nodes, monkeypatch: pytest.MonkeyPatch, same_node: bool
) -> None:
    anna, bert = await nodes.two()
    code = await nodes.race(anna, bert)
    slow = await nodes.east.player("Anna")
    quick = await (nodes.east if same_node else nodes.west).player("Anna")
    boards = nodes.east.store.boards
    load = boards.load_board
    loads: list[str] = []

    async def load_board(table: str, race: int, player: str) -> StoredBoard | None:
        if not loads:
            # the older connection's resume is stored, and its node now receives what it missed
            loads.append(player)
            nodes.east.tap.is_deaf = False
            await quick.at_table(Resume, table=code)
            await nodes.east.tap.pass_marker(nodes.east.real.events)
        return await load(table, race, player)

    nodes.east.tap.is_deaf = True
    await bert.ask(LeaveTable, table=code)
    monkeypatch.setattr(boards, "load_board", load_board)
    assert await slow.refused(Resume, table=code) == "taken_over"
    assert loads == [bert.player]
    assert set(slow.close_codes) == {TAKEN_OVER.code}
    assert (quick.close_codes, anna.close_codes) == ([], [TAKEN_OVER.code])
    await quick.moves("draw")
    assert await slow.refused(MakeMove, race=f"{code}/1", after=1, move="draw") == "not_seated"


async def test_an_older_connection_is_refused_though_its_node_missed_the_newer_one(
    nodes: Nodes,
) -> None:
    anna, bert = await nodes.two()
    code = await gathered(anna, bert)
    await nodes.settle()
    nodes.east.tap.is_deaf = True
    newer = await nodes.west.player("Anna")
    await newer.at_table(Resume, table=code)
    assert await anna.refused(ChangeSettings, table=code, cap=5) == "taken_over"
    assert set(anna.close_codes) == {TAKEN_OVER.code}
