"""The list of public tables, which is right also after restarts."""

from typing import cast

import pytest
from msgspec.structs import replace

from kit.in_process_server import InProcessServer, gathered, listed
from kit.tables import ANN, BEN, CODE, running, seated
from saratoga_protocol.commands import ChangeSettings, JoinTable, LeaveTable, LockTable, Resume
from saratoga_server.domain.tables import TableOptions, TableState
from saratoga_server.domain.tables.timers import ALONE_MILLIS
from saratoga_server.live.live_table import LiveTable
from saratoga_server.live.public_tables import PublicTables
from saratoga_server.ports import TableStore

PUBLIC, PRIVATE = TableOptions(game="canfield", public=True), TableOptions(game="canfield")


class RecordingTables:
    """A table store that records whether a line of the list was written (True) or deleted."""

    def __init__(self) -> None:
        self.writes: list[bool] = []

    async def set_public(self, code: str, summary: bytes | None) -> None:
        self.writes.append(summary is not None)


@pytest.fixture
def tables() -> RecordingTables:
    return RecordingTables()


@pytest.fixture
def public_tables(tables: RecordingTables) -> PublicTables:
    return PublicTables(cast(TableStore, tables))


def live(state: TableState) -> LiveTable:
    return LiveTable(CODE, 1, state)


async def test_a_line_is_written_only_when_it_changes(
    tables: RecordingTables, public_tables: PublicTables
) -> None:
    table = live(seated(ANN, settings=PUBLIC))
    await public_tables.opened(table)
    table.state = replace(table.state, notice="Nobody sees this in the list.")
    await public_tables.update(table)
    assert tables.writes == [True]
    table.state = running(ANN, BEN, settings=PUBLIC)
    await public_tables.update(table)
    assert tables.writes == [True, True]


async def test_a_new_private_table_costs_no_write(
    tables: RecordingTables, public_tables: PublicTables
) -> None:
    table = live(seated(ANN, settings=PRIVATE))
    await public_tables.opened(table)
    await public_tables.update(table)
    assert tables.writes == []


async def test_a_table_of_which_nothing_is_known_is_written_once(
    tables: RecordingTables, public_tables: PublicTables
) -> None:
    table = live(seated(ANN, settings=PRIVATE))
    for _ in range(2):
        await public_tables.update(table)
    assert tables.writes == [False], "another node may have listed it"


async def test_tables_that_are_not_held_any_more_are_forgotten(
    tables: RecordingTables, public_tables: PublicTables
) -> None:
    table = live(seated(ANN, settings=PUBLIC))
    await public_tables.opened(table)
    public_tables.forget_others([CODE])
    await public_tables.update(table)
    assert tables.writes == [True]
    public_tables.forget_others([])
    await public_tables.update(table)
    assert tables.writes == [True, True]


async def test_a_closed_table_is_deleted_from_the_list(
    tables: RecordingTables, public_tables: PublicTables
) -> None:
    await public_tables.opened(live(seated(ANN, settings=PUBLIC)))
    await public_tables.closed(CODE)
    assert tables.writes == [True, False]


async def test_public_tables_are_listed_as_they_are_now(server: InProcessServer) -> None:
    anna, bert, cleo = [await server.player(name) for name in ("Anna", "Bert", "Cleo")]
    code = await gathered(anna, public=True)
    await gathered(cleo)
    assert await listed(bert) == [("Anna", "gathering", 1)]
    await bert.at_table(JoinTable, table=code)
    assert await listed(bert) == [("Anna", "gathering", 2)]
    await server.deal(anna, bert)
    assert await listed(bert) == [("Anna", "running", 2)]
    await anna.ask(LeaveTable, table=code)
    assert await listed(bert) == [("Bert", "running", 1)]


async def test_a_locked_table_is_not_listed(server: InProcessServer) -> None:
    anna = await server.player("Anna")
    code = await gathered(anna, public=True)
    await anna.ask(LockTable, table=code)
    assert await listed(anna) == []
    await anna.ask(LockTable, table=code, locked=False)
    assert await listed(anna) == [("Anna", "gathering", 1)]


async def test_a_table_made_private_is_not_listed_even_after_a_restart(
    server: InProcessServer,
) -> None:
    anna = await server.player("Anna")
    code = await gathered(anna, public=True)
    await server.restart()
    back = await server.player("Anna")
    await back.at_table(Resume, table=code)
    await back.ask(ChangeSettings, table=code, public=False)
    assert await listed(back) == []


async def test_a_table_that_lost_its_last_player_in_a_restart_is_not_listed(
    server: InProcessServer,
) -> None:
    anna = await server.player("Anna")
    await gathered(anna, public=True)
    await server.restart()
    await server.pass_time(ALONE_MILLIS)
    bert = await server.player("Bert")
    await server.pass_time(ALONE_MILLIS)
    assert await listed(bert) == []
