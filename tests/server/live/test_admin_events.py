"""Administrative actions are applied to the connections of a node."""

from typing import cast

import pytest
from msgspec.structs import replace

from kit.in_process_server import InProcessServer, gathered
from saratoga_protocol import events
from saratoga_protocol.commands import (
    CashOut,
    CreateTable,
    GetRecord,
    Hello,
    JoinTable,
    MakeMove,
    WatchTable,
)
from saratoga_protocol.events import SeatLost
from saratoga_protocol.refusals import BANNED
from saratoga_rules.records.verify import verify
from saratoga_rules.records.void_record import parse_void_record
from saratoga_server.admin.acts import Administration, NotDone
from saratoga_server.app import compose_table_cache
from saratoga_server.live.admin_events import AdminEvents
from saratoga_server.messages.node_events import (
    AdminEvent,
    Banned,
    NodeEvent,
    TableClosedByAdmin,
)
from saratoga_server.ports import TableWrite
from saratoga_server.store.event_channel import EventChannel
from saratoga_server.store.leaderboards import BoardKey


class AppliedAtOnce:
    """A listener that applies every published event before `publish` returns."""

    is_listening = False

    def __init__(self, admin_events: AdminEvents) -> None:
        self._admin_events = admin_events

    async def publish(self, event: NodeEvent) -> int:
        assert isinstance(event, AdminEvent)
        await self._admin_events.apply(event)
        return 1


@pytest.fixture
async def administration(server: InProcessServer) -> Administration:
    """An administration whose actions this node applies at once."""
    store = replace(
        server.store, events=cast(EventChannel, AppliedAtOnce(server.node.admin_events))
    )
    return Administration(store, await compose_table_cache(store), "zoe@laptop")


async def test_closing_a_table_frees_its_seats_and_watchers(
    server: InProcessServer, administration: Administration
) -> None:
    anna, wanda = await server.player("Anna"), await server.player("Wanda")
    code = await gathered(anna, public=True)
    await wanda.at_table(WatchTable, table=code)
    await administration.close(code, "Enough.")
    for each in (anna, wanda):
        (lost,) = each.received.all(SeatLost)
        assert (lost.table, lost.reason) == (code, "Enough.")
    assert await server.real.tables.list_public() == []
    assert await anna.refused(JoinTable, table=code) == "table_closed"
    await anna.at_table(CreateTable, game="canfield")


async def test_a_race_is_voided_with_all_its_moves_when_the_table_is_closed(
    server: InProcessServer, administration: Administration
) -> None:
    anna, bert = await server.player("Anna"), await server.player("Bert")
    code = await server.race(anna, bert)
    race = f"{code}/1"
    assert isinstance(await anna.move("draw"), events.MoveMade)
    assert isinstance(await bert.ask(CashOut, race=race), events.MoveMade)
    await administration.close(code, "Enough.")
    for each in (anna, bert):
        shown = each.received.all(events.TableChanged)[-1].table
        assert (shown.phase, [void.race for void in shown.voided]) == ("closed", [race])
        assert (shown.voided[0].reason, shown.voided[0].logs) == ("closed", 2)
        (lost,) = each.received.all(SeatLost)
        assert "Enough. " in lost.reason
        assert "counts for nothing" in lost.reason
    refused = await anna.refused(MakeMove, race=race, after=1, move="draw")
    assert refused == "not_seated"
    answer = await anna.ask(GetRecord, race=race)
    assert isinstance(answer, events.Record)
    assert verify(answer.text).ok
    logs = {racer.player: racer for racer in parse_void_record(answer.text).racers}
    assert [line.text for line in logs[anna.player].log] == ["draw"]
    assert [line.text for line in logs[bert.player].log] == ["cash-out"]
    await server.pass_time(60_000)
    assert await server.record(code) == answer.text
    board = BoardKey(game="canfield", ranking="best", period="all", bots=False)
    assert await server.real.leaderboards.page(board, 0, 10) == (0, [])


async def test_a_move_made_while_the_table_is_closed_is_in_the_record(
    server: InProcessServer, administration: Administration, monkeypatch: pytest.MonkeyPatch
) -> None:
    anna = await server.player("Anna")
    code = await server.race(anna)
    save = server.store.tables.save_table
    moves = ["draw", "draw"]
    writes = []

    async def after_a_move(write: TableWrite) -> bool:
        writes.append(write)
        if moves:
            assert isinstance(await anna.move(moves.pop()), events.MoveMade)
        return await save(write)

    monkeypatch.setattr(administration.stores.tables, "save_table", after_a_move)
    await administration.close(code, "Enough.")
    record = await server.record(code)
    assert record is not None
    assert [line.text for line in parse_void_record(record).racers[0].log] == ["draw", "draw"]
    assert len(writes) == 3, "the logs are read again after each refused write"


async def test_a_table_is_not_closed_while_moves_are_made_all_the_time(
    server: InProcessServer, administration: Administration, monkeypatch: pytest.MonkeyPatch
) -> None:
    anna = await server.player("Anna")
    code = await server.race(anna)

    async def refused(write: TableWrite) -> bool:
        return False

    with monkeypatch.context() as busy:
        busy.setattr(administration.stores.tables, "save_table", refused)
        with pytest.raises(NotDone, match="all the time"):
            await administration.close(code, "Enough.")
    assert anna.received.all(SeatLost) == []


async def test_a_banned_player_is_disconnected_and_leaves_the_race(
    server: InProcessServer, administration: Administration
) -> None:
    anna, bert = await server.player("Anna"), await server.player("Bert")
    await server.race(anna, bert)
    tab = await server.player("Bert")
    await administration.ban("Bert")
    assert bert.close_codes == tab.close_codes == [BANNED.code]
    await server.pass_time(250)
    assert [seat.name for seat in anna.table.seats] == ["Anna"]
    rows = {row.player: row.state for row in anna.received.all(events.Standings)[-1].standings}
    assert rows == {anna.player: "racing", bert.player: "left"}
    back = server.connect("Bert")
    assert await back.refused(Hello, token=back.token) == "banned"


async def test_actions_on_players_and_tables_that_are_not_here_change_nothing(
    server: InProcessServer,
) -> None:
    anna = await server.player("Anna")
    told = len(anna.received.events)
    await server.node.admin_events.apply(Banned("z" * 16))
    await server.node.admin_events.apply(TableClosedByAdmin("odd-emu-11", "Enough."))
    assert (anna.received.events[told:], anna.close_codes) == ([], [])
