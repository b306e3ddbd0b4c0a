"""Administrative actions change the store, are published to the nodes, and are in the audit log."""

from collections.abc import AsyncIterator
from dataclasses import dataclass

import pytest
from msgspec.structs import replace

from kit.positions import banking
from kit.races import Entrant, race
from kit.stores import EventRecorder, SteppedStore, recording, stepped_store
from kit.tables import ANN, BEN, CLEO, CODE, NOON, result_of, running, seated, table_settings
from saratoga_rules.records.record import format_record
from saratoga_rules.records.standing import State
from saratoga_server.admin.acts import LONGEST_ANNOUNCEMENT, Administration, NotDone
from saratoga_server.domain.tables import TablePhase, TableState, disconnect, unpack
from saratoga_server.domain.usernames import checked_name
from saratoga_server.node import Node
from saratoga_server.ports import Millis, PlayerRow, RaceFinish, Settlement
from saratoga_server.store.keys import table_key
from saratoga_server.store.leaderboards import BoardKey
from saratoga_server.store.news import (
    Announce,
    Here,
    NodeEvent,
    PlayerChanged,
    Settled,
    Touched,
)
from saratoga_server.store.tables import TableWrite


@dataclass
class Office:
    """A store with its administration, and a node that listens to events."""

    store: SteppedStore
    admin: Administration
    node: EventRecorder

    async def published(self) -> list[NodeEvent]:
        """Return every event except those that the store publishes itself."""
        marker = Here("marker", 1)
        await self.store.real.events.publish(marker)
        await self.node.receives(marker)
        return [event for event in self.node.events if not isinstance(event, Touched | Here)]

    async def noted(self) -> list[tuple[str, str, str]]:
        """Return actions, targets and details from the audit log, the oldest first."""
        acts = await self.store.real.audit.read(100)
        return [(act["act"], act["target"], act["detail"]) for act in reversed(acts)]

    async def save(self, table: TableState, finish: RaceFinish | None = None) -> None:
        stored = await self.store.tables.load_table(table.code)
        before = unpack(stored[1]) if stored else None
        version = stored[0] if stored else 0
        write = TableWrite(version=version, before=before, after=table, finish=finish)
        assert await self.store.tables.save_table(write) is None

    async def table(self) -> TableState:
        stored = await self.store.tables.load_table(CODE)
        assert stored is not None
        return unpack(stored[1])

    async def player(self, player: str) -> PlayerRow:
        row = await self.store.players.load_player(player)
        assert row is not None
        return row


async def opened_office(store: SteppedStore, node: EventRecorder) -> Office:
    """Return the office of a store in which Ann and Ben sit at a public table; Cleo has a name and no seat."""
    admin = Administration(store, (await Node.for_administration(store)).tables, "zoe@laptop")
    opened = Office(store, admin, node)
    players = store.players
    for player, name in ((ANN, "Ann"), (BEN, "Ben"), (CLEO, "Cleo")):
        await players.create_player(PlayerRow(player=player, token_hash=player * 4))
        await players.claim_name(player, *checked_name(name))
    await opened.save(seated(ANN, BEN, settings=PUBLIC))
    return opened


PUBLIC = table_settings(game="canfield", public=True)
BEST = BoardKey(game="canfield", ranking="best", period="all", bots=False)


@pytest.fixture
async def office() -> AsyncIterator[Office]:
    async with stepped_store() as store, recording(store.real.events, "node-1") as node:
        yield await opened_office(store, node)


async def test_tables_are_listed_with_the_busiest_first(office: Office) -> None:
    alone = replace(seated(CLEO), code="blue-crane-07")
    gone = disconnect(alone, CLEO, alone.epoch, now=NOON)
    await office.save(gone)
    first, second = await office.admin.tables()
    assert (first.code, first.phase, first.seated, first.connected) == (CODE, "gathering", 2, 2)
    assert (first.game, first.race, first.host, first.public) == ("canfield", 1, "Ann", True)
    assert first.touched == "2026-09-21T14:13:20Z"
    assert (second.code, second.seated, second.connected) == ("blue-crane-07", 1, 0)


async def test_tables_that_cannot_be_read_are_listed_as_such(office: Office) -> None:
    await office.store.rewrite(CODE, b"\xc1")
    [line] = await office.admin.tables()
    assert (line.code, line.phase, line.seats) == (CODE, "damaged", 0)
    with pytest.raises(NotDone, match=f"The stored data of the table {CODE} are damaged"):
        await office.admin.close(CODE, "Closing time.")
    await office.store.real.client.command("HSET", table_key(CODE), "version", "abc")
    [line] = await office.admin.tables()
    assert line.phase == "damaged"


async def test_a_table_is_closed_and_its_players_are_free(office: Office) -> None:
    assert await office.admin.close(CODE, "Closing time.") == 2
    table = await office.table()
    assert (table.phase, table.seats, table.notice) == (TablePhase.CLOSED, (), "Closing time.")
    assert await office.store.tables.list_public() == []
    assert (await office.player(ANN)).table is None
    assert await office.published() == []
    assert await office.noted() == [("close", CODE, "Closing time.")]
    assert await office.admin.tables() == []


async def test_a_name_that_is_taken_or_reserved_is_refused(office: Office) -> None:
    with pytest.raises(NotDone, match="taken"):
        await office.admin.rename(BEN, "ANN")
    with pytest.raises(NotDone, match="reserved for the server"):
        await office.admin.rename(BEN, "admin")
    assert (await office.player(BEN)).name == "Ben"
    assert (await office.published(), await office.noted()) == ([], [])


def away(table: TableState, player: str) -> TableState:
    seat = table.seat(player)
    assert seat is not None
    return disconnect(table, player, seat.epoch, now=NOON)


@pytest.mark.parametrize("act", ["ban", "forget"])
async def test_a_disconnected_player_who_is_banned_or_forgotten_loses_the_seat(
    office: Office, act: str
) -> None:
    await office.save(away(seated(ANN, BEN, settings=PUBLIC), BEN))
    await getattr(office.admin, act)("Ben")
    assert [seat.player for seat in (await office.table()).seats] == [ANN]
    row = await office.store.players.load_player(BEN)
    assert row is None or row.table is None
    assert [each.code for each in await office.store.tables.list_public()] == [CODE]


async def test_a_player_who_is_banned_while_racing_leaves_the_race(office: Office) -> None:
    await office.save(away(running(ANN, BEN), BEN))
    await office.admin.ban("Ben")
    table = await office.table()
    assert (table.phase, table.left) == (TablePhase.RUNNING, {BEN: State.GONE})


async def test_a_voided_race_is_off_the_leaderboards_but_keeps_its_record(office: Office) -> None:
    walkers = [Entrant(name, banking, patience=5) for name in ("Ann", "Ben")]
    record = race("canfield", 0, walkers)
    settlement = Settlement(
        race=record.race_id,
        game="canfield",
        ended=Millis(record.start_at),
        results=(result_of(record.racers[0].player, banked=9, net=-5, reached=1000),),
        people=(record.racers[0].player,),
    )
    await office.save(
        running(ANN, BEN),
        RaceFinish(race=1, record=format_record(record), settlement=settlement),
    )
    assert record.race_id == f"{CODE}/1"
    assert await office.admin.void(f"{CODE}/1") == "canfield"
    assert await office.store.leaderboards.page(BEST, 0, 10) == (0, [])
    assert await office.store.tables.load_record(CODE, 1) is not None
    assert await office.published() == [Settled("canfield"), Settled("canfield")]
    assert await office.noted() == [("void", f"{CODE}/1", "canfield")]


async def test_only_a_finished_race_can_be_voided(office: Office) -> None:
    with pytest.raises(NotDone, match="no finished race"):
        await office.admin.void(f"{CODE}/1")
    for text in (CODE, f"{CODE}/0", f"{CODE}/x", f"{CODE}/1/1"):
        with pytest.raises(NotDone, match="not a race"):
            await office.admin.void(text)
    assert await office.noted() == []


async def test_an_announcement_is_one_line_and_is_published(office: Office) -> None:
    assert await office.admin.announce(" The house\nrestarts  at ten. ") == 1
    assert await office.published() == [Announce("The house restarts at ten.")]
    assert await office.noted() == [("announce", "", "The house restarts at ten.")]


async def test_an_announcement_is_read_as_utf_8_whatever_the_locale(office: Office) -> None:
    typed = "Grüße".encode().decode("ascii", "surrogateescape")
    await office.admin.announce(typed)
    assert await office.published() == [Announce("Grüße")]


@pytest.mark.parametrize("text", ["", " \n", "x" * (LONGEST_ANNOUNCEMENT + 1)])
async def test_an_announcement_of_the_wrong_length_is_refused(office: Office, text: str) -> None:
    with pytest.raises(NotDone, match="characters"):
        await office.admin.announce(text)


async def test_a_forgotten_players_name_is_nowhere_any_more(office: Office) -> None:
    await office.admin.ban("Cleo")
    await office.admin.unban("Cleo")
    assert await office.admin.forget("Cleo") == CLEO
    assert await office.store.players.load_player(CLEO) is None
    assert await office.store.players.find_player(checked_name("Cleo")[1]) == "", "held for nobody"
    with pytest.raises(NotDone, match="no player with the name"):
        await office.admin.ban("Cleo")
    assert (await office.published())[-1] == PlayerChanged(CLEO, is_deleted=True)
    assert ("forget", CLEO, "") in await office.noted()
    assert "Cleo" not in repr(await office.store.real.audit.read(100))


async def test_an_action_that_the_audit_log_did_not_take_is_not_done(office: Office) -> None:
    office.store.faults.lost_replies = 1
    with pytest.raises(Exception, match="does not answer"):
        await office.admin.ban("Cleo")
    assert not (await office.player(CLEO)).banned
    assert await office.noted() == [("ban", CLEO, "Cleo")]
