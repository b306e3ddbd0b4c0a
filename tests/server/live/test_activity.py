"""Signs of activity, and the acts of an administrator, as they reach a node's tables."""

import pytest

from kit.in_process_server import InProcessServer, Nodes
from kit.players import MemoryPlayer
from saratoga_protocol import events
from saratoga_protocol.commands import (
    AllowReady,
    CashOut,
    CreateTable,
    EndRace,
    Heartbeat,
    JoinTable,
    Kick,
    LockTable,
    MakeMove,
    NextRace,
)
from saratoga_protocol.events import Done
from saratoga_rules.records.record import parse_record
from saratoga_rules.records.standing import IDLE_MILLIS
from saratoga_rules.records.verify import verify
from saratoga_server.admin.acts import Administration
from saratoga_server.domain.board import AHEAD_MILLIS
from saratoga_server.live.scheduler import LOOK_EVERY
from saratoga_server.node import Node
from saratoga_server.store.tables import NotSaved, TableWrite

# Signs of activity, and what a host without them loses


async def state(server: InProcessServer, player: MemoryPlayer) -> str:
    return (await server.board(player.table.code, player.player)).state


async def two_racing(server: InProcessServer) -> tuple[MemoryPlayer, MemoryPlayer]:
    anna, bert = await server.player("Anna"), await server.player("Bert")
    await server.race(anna, bert, cap=20)
    return anna, bert


@pytest.mark.parametrize(
    "command",
    [
        (LockTable, {"locked": True}),
        (Kick, {"player": "nobodynobodynobo"}),
        (AllowReady, {"player": "nobodynobodynobo"}),
        (EndRace, {}),
        (MakeMove, {"move": "t1>t1", "after": 0}),
        (MakeMove, {"move": "draw", "after": 9}),
        (MakeMove, {"move": "draw!", "after": 0}),
    ],
    ids=lambda given: given[0].__name__,
)
async def test_other_commands_and_refused_moves_are_signs_too(
    server: InProcessServer, command: tuple[type, dict[str, object]]
) -> None:
    anna, bert = await two_racing(server)
    await server.pass_time(IDLE_MILLIS - int(LOOK_EVERY * 1000))
    kind, fields = command
    code = anna.table.code
    where = {"race": f"{code}/1"} if kind in (MakeMove, CashOut, EndRace) else {"table": code}
    await anna.ask(kind, **where, **fields)
    await server.pass_time(int(LOOK_EVERY * 1000) + AHEAD_MILLIS)
    assert [await state(server, each) for each in (anna, bert)] == ["racing", "idle"]


# Between races


@pytest.mark.parametrize("is_over", [False, True], ids=["gathering", "over"])
async def test_friends_do_not_wait_between_races_for_a_host_who_has_gone(
    nodes: Nodes, is_over: bool
) -> None:
    anna, bert = await nodes.two()
    if is_over:
        await nodes.race(anna, bert, cap=20)
        for player in (anna, bert):
            await player.cash_out()
        await nodes.settle()
    else:
        await anna.at_table(CreateTable, game="canfield")
        await bert.at_table(JoinTable, table=anna.table.code)
    await nodes.pass_time(60_000)
    await bert.ask(Heartbeat, active=True)
    await nodes.pass_time(IDLE_MILLIS - 60_000 - 1)
    assert bert.table.host == anna.player
    await nodes.pass_time(1)
    for player in (anna, bert):
        assert player.table.host == bert.player
        assert player.table.notice == "Anna has been away for three minutes; Bert is host now."
    kind = NextRace if is_over else LockTable
    fields = {} if is_over else {"locked": True}
    assert isinstance(await bert.ask(kind, table=bert.table.code, **fields), Done)


# A table that an administrator closes


async def test_a_move_made_while_the_table_is_closed_is_in_the_record(
    server: InProcessServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    administration = Administration(
        server.store, (await Node.for_administration(server.store)).tables, "zoe@laptop"
    )
    anna = await server.player("Anna")
    code = await server.race(anna)
    save = server.store.tables.save_table
    moves = ["draw", "draw"]
    writes = []

    async def after_a_move(write: TableWrite) -> NotSaved | None:
        writes.append(write)
        if moves:
            assert isinstance(await anna.move(moves.pop()), events.BoardChanged)
        return await save(write)

    monkeypatch.setattr(administration.stores.tables, "save_table", after_a_move)
    await administration.close(code, "Enough.")
    record = await server.record(code)
    assert record is not None
    assert verify(record).ok
    assert [line.text for line in parse_record(record).racers[0].log] == ["draw", "draw"]
    assert len(writes) == 3, "the logs are read again after each refused write"
