"""The effects of a change of a table are carried out once it is durable, and repeated if they fail."""

import pytest
from msgspec.structs import replace

from kit.in_process_server import InProcessServer, gathered
from kit.table_changes import kicking, live_table, two_at
from kit.two_nodes import Nodes
from saratoga_protocol.commands import JoinTable, LeaveTable
from saratoga_protocol.events import Done, SeatLost
from saratoga_server.domain.tables import (
    Change,
    CommandRejected,
    TableState,
)
from saratoga_server.domain.tables.seating import KICKED
from saratoga_server.ports import Millis, StoreUnavailable

FAULTS = [StoreUnavailable("away"), CommandRejected("no_such_race"), ValueError("broken")]


async def test_a_refused_change_has_no_effect(server: InProcessServer) -> None:
    anna, bert, code = await two_at(server)
    with pytest.raises(CommandRejected, match="host_only"):
        await server.node.table_service.change(code, kicking(bert, anna))
    assert anna.received.all(SeatLost) == []
    assert live_table(server, code).followed_up is None


# Effects that fail


@pytest.mark.parametrize("fault", FAULTS)
async def test_effects_that_failed_are_carried_out_at_the_next_look(
    server: InProcessServer, monkeypatch: pytest.MonkeyPatch, fault: Exception
) -> None:
    anna, bert, code = await two_at(server)

    async def fails(player: str, table: str, writes: int) -> bool:
        raise fault

    with monkeypatch.context() as broken:
        broken.setattr(server.store.players, "stand_up", fails)
        table = await server.node.table_service.change(code, kicking(anna, bert))
        assert table.state.seat(bert.player) is None, "the change stands"
        assert (await server.row(bert.player)).table == code
    await server.pass_time(1000)
    assert (await server.row(bert.player)).table is None
    assert table.followed_up is None
    assert len(bert.received.all(SeatLost)) == 1


@pytest.mark.parametrize("fault", FAULTS)
async def test_a_change_is_made_though_catching_up_on_others_fails(
    nodes: Nodes, monkeypatch: pytest.MonkeyPatch, fault: Exception
) -> None:
    anna, bert = await nodes.two()
    code = await gathered(anna)
    await bert.at_table(JoinTable, table=code)
    await nodes.settle()
    nodes.east.tap.is_deaf = nodes.west.tap.is_deaf = True
    await nodes.east.node.table_service.change(code, kicking(anna, bert))
    west = nodes.west.node.table_service

    async def fails(player: str) -> None:
        raise fault

    def noting(state: TableState, now: Millis) -> Change:
        return Change(replace(state, notice="Noted."))

    with monkeypatch.context() as broken:
        broken.setattr(nodes.west.store.players, "load_player", fails)
        table = await west.change(code, noting)
        is_behind = table.followed_up is not None
    assert (table.state.notice, is_behind) == ("Noted.", True)
    assert len(bert.received.all(SeatLost)) == 1
    await west.look_over()
    assert table.followed_up is None


# Lost replies


async def test_a_change_whose_reply_was_lost_has_its_effects_when_it_is_found(
    server: InProcessServer,
) -> None:
    anna, bert, code = await two_at(server)
    server.tap.is_deaf = True  # otherwise an event would report it at once
    server.faults.lost_replies = 1
    with pytest.raises(StoreUnavailable):
        await server.node.table_service.change(code, kicking(anna, bert))
    assert bert.received.all(SeatLost) == []
    for _ in range(2):
        await server.node.table_service.look_over()
    (lost,) = bert.received.all(SeatLost)
    assert lost.reason == KICKED
    assert not live_table(server, code).in_doubt


async def test_a_change_that_did_not_happen_has_no_effects(server: InProcessServer) -> None:
    anna, bert, code = await two_at(server)
    server.faults.unavailable = True
    with pytest.raises(StoreUnavailable):
        await server.node.table_service.change(code, kicking(anna, bert))
    server.faults.unavailable = False
    await server.node.table_service.look_over()
    assert bert.received.all(SeatLost) == []
    assert not live_table(server, code).in_doubt
    assert isinstance(await bert.ask(LeaveTable, table=code), Done)
