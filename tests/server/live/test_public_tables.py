"""The list of public tables, which is right also after restarts."""

import asyncio
from typing import cast

import pytest
from msgspec.structs import replace

from kit.in_process_server import InProcessServer, gathered, listed
from kit.players import MemoryPlayer
from kit.tables import ANN, BEN, CLEO, CODE, NOON, running, seated
from saratoga_protocol.commands import (
    ChangeSettings,
    CreateTable,
    JoinTable,
    LeaveTable,
    LockTable,
    Resume,
)
from saratoga_server.domain.tables import TableOptions, TableState, disconnect
from saratoga_server.domain.tables.lifecycle import UNLISTED
from saratoga_server.domain.tables.timers import ALONE_MILLIS
from saratoga_server.live.live_table import LiveTable
from saratoga_server.live.public_tables import PublicTables
from saratoga_server.live.table_cache import TableCache
from saratoga_server.ports import MOST_PLACES
from saratoga_server.rate_limits.limiter import NO_CONNECTION, RateLimiter
from saratoga_server.store.tables import TableStore

PUBLIC, PRIVATE = TableOptions(game="canfield", public=True), TableOptions(game="canfield")


class RecordingTables:
    """A table store that records whether a line of the list was written (True) or deleted."""

    def __init__(self) -> None:
        self.writes: list[bool] = []
        self.people: list[int] = []
        self.has_place = True
        self.held: asyncio.Event | None = None
        """Holds the writes back until it is set."""

    async def set_public(
        self, code: str, summary: bytes | None, opener: str = "", people: int = 0
    ) -> bool:
        if self.held is not None:
            await self.held.wait()
        self.writes.append(summary is not None)
        self.people.append(people)
        return self.has_place


class RecordingCache:
    """A table cache that records the codes of the tables that are changed."""

    def __init__(self) -> None:
        self.changed: list[str] = []

    async def change(self, code: str, transition: object) -> None:
        self.changed.append(code)


@pytest.fixture
def tables() -> RecordingTables:
    return RecordingTables()


@pytest.fixture
def public_tables(tables: RecordingTables) -> PublicTables:
    return PublicTables(cast(TableStore, tables), cast(TableCache, None))


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


async def test_only_people_who_are_connected_move_a_table_up_the_list(
    tables: RecordingTables, public_tables: PublicTables
) -> None:
    table = live(seated(ANN, BEN, CLEO, settings=PUBLIC, bots=(CLEO,)))
    await public_tables.opened(table)
    gone = disconnect(table.state, BEN, 2, now=NOON)
    assert gone is not None
    table.state = replace(gone.table, host=BEN)
    await public_tables.update(table)
    assert tables.people == [2, 1]


async def test_a_line_that_is_written_late_never_replaces_a_newer_one(
    tables: RecordingTables, public_tables: PublicTables
) -> None:
    table = live(seated(ANN, settings=PUBLIC))
    tables.held = asyncio.Event()
    first = asyncio.create_task(public_tables.opened(table))
    await asyncio.sleep(0)
    held, tables.held = tables.held, None
    table.state = replace(table.state, locked=True)
    second = asyncio.create_task(public_tables.update(table))
    await asyncio.sleep(0)
    held.set()
    await asyncio.gather(first, second)
    assert tables.writes == [True, False]


async def test_a_table_without_a_place_gets_one_notice(tables: RecordingTables) -> None:
    cache = RecordingCache()
    public_tables = PublicTables(cast(TableStore, tables), cast(TableCache, cache))
    tables.has_place = False
    table = live(seated(ANN, settings=PUBLIC))
    await public_tables.opened(table)
    table.state = running(ANN, BEN, settings=PUBLIC)
    await public_tables.update(table)
    assert (tables.writes, cache.changed) == ([True, True], [CODE])


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


async def opened_by(server: InProcessServer, name: str, address: str) -> MemoryPlayer:
    """Connect a player from this address, who opens a public table."""
    player = await server.player(name)
    player.session.address = address
    player.session.quota = RateLimiter(lambda: 0.0).open(address, NO_CONNECTION)
    await player.at_table(CreateTable, game="canfield", public=True)
    return player


async def test_one_address_has_eight_places_and_a_host_without_a_place_is_told(
    server: InProcessServer,
) -> None:
    first, *_ = [
        await opened_by(server, f"Crowd {number}", f"2001:db8:0:{number}::1")  # one household
        for number in range(MOST_PLACES)
    ]
    ninth = await opened_by(server, "Nina", "2001:db8::99")
    other = await opened_by(server, "Otto", "2001:db8:0:100::1")
    await server.settle()
    names = [name for name, *_ in await listed(other)]
    assert (len(names), "Otto" in names, "Nina" in names) == (MOST_PLACES + 1, True, False)
    assert ninth.table.notice == UNLISTED
    assert UNLISTED not in (first.table.notice, other.table.notice)
    _, body = await server.stored(other.table.code)
    assert b"2001:db8" not in body
    await first.disconnect()
    friend = await server.player("Freda")
    await friend.at_table(JoinTable, table=ninth.table.code)
    names = [name for name, *_ in await listed(other)]
    assert (len(names), names[0], "Crowd 0" in names) == (MOST_PLACES + 1, "Nina", False)


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
