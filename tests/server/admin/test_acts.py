"""What administrators do is done in the data, told to the nodes, and in the audit log."""

import re
from dataclasses import dataclass, field

import pytest
from msgspec.structs import replace

from kit.fake_store import FakeHouse, FakeStore, fake_store
from kit.races import Entrant, race
from kit.tables import ANN, BEN, CLEO, CODE, NOON, over, running, seated
from kit.walks import banking
from saratoga_rules.record import format_record
from saratoga_server.admin.acts import LONGEST_ANNOUNCEMENT, Administration, NotDone
from saratoga_server.domain.tables import Phase, TableState, disconnect, due, pack, unpack
from saratoga_server.domain.usernames import checked_name
from saratoga_server.messages.node_events import (
    Announce,
    Banned,
    Forgotten,
    NodeEvent,
    RaceVoided,
    Renamed,
    TableClosedByAdmin,
)
from saratoga_server.messages.settlements import pack_settlement
from saratoga_server.ports import (
    BoardKey,
    Millis,
    PlayerRow,
    RaceFinish,
    SettledResult,
    Settlement,
    TableWrite,
)

BEST = BoardKey(game="canfield", ranking="best", period="all", bots=False)


@dataclass
class Open:
    """A house with its administrator, and what the nodes were told."""

    store: FakeStore
    told: list[NodeEvent] = field(default_factory=list)

    async def tell(self, event: NodeEvent) -> int:
        self.told.append(event)
        return 1

    @property
    def admin(self) -> Administration:
        return Administration(self.store, self.tell, "zoe@desk")

    @property
    def noted(self) -> list[tuple[str, str, str]]:
        """Acts, targets and details, the oldest first."""
        return [(act["act"], act["target"], act["detail"]) for act in self.store.house.acts]

    async def save(self, table: TableState, finish: RaceFinish | None = None) -> None:
        stored = await self.store.tables.load_table(table.code)
        write = TableWrite(
            code=table.code,
            expected=stored[0] if stored else 0,
            body=pack(table),
            due=due(table),
            race=table.race,
            finish=finish,
        )
        assert await self.store.tables.save_table(write)

    async def table(self) -> TableState:
        stored = await self.store.tables.load_table(CODE)
        assert stored is not None
        return unpack(stored[1])

    async def player(self, player: str) -> PlayerRow:
        row = await self.store.players.load_player(player)
        assert row is not None
        return row


@pytest.fixture
async def house() -> Open:
    """Ann and Ben sit at a public table; Cleo has a name and no seat."""
    opened = Open(fake_store(FakeHouse(clock=lambda: NOON)))
    players = opened.store.players
    for player, name in ((ANN, "Ann"), (BEN, "Ben"), (CLEO, "Cleo")):
        await players.create_player(PlayerRow(player=player, token_hash=player * 4))
        await players.claim_name(player, *checked_name(name))
    await opened.save(seated(ANN, BEN))
    for player in (ANN, BEN):
        await players.sit(player, CODE)
    await opened.store.tables.set_public(CODE, b"summary")
    return opened


async def test_the_tables_are_listed_the_busiest_first(house: Open) -> None:
    alone = replace(seated(CLEO), code="blue-crane-07")
    gone = disconnect(alone, CLEO, alone.epoch, now=NOON)
    assert gone is not None
    await house.save(gone.table)
    first, second = await house.admin.tables()
    assert (first.code, first.phase, first.seated, first.connected) == (CODE, "gathering", 2, 2)
    assert (first.game, first.race, first.host, first.public) == ("canfield", 1, "Ann", False)
    assert first.touched == "2026-09-21T14:13:20Z"
    assert (second.code, second.seated, second.connected) == ("blue-crane-07", 1, 0)


async def test_a_closed_table_is_closed_for_everybody(house: Open) -> None:
    assert await house.admin.close(CODE, "Closing time.") == 2
    table = await house.table()
    assert (table.phase, table.seats, table.notice) == (Phase.CLOSED, (), "Closing time.")
    assert await house.store.tables.list_public() == []
    assert (await house.player(ANN)).table is None
    assert house.told == [TableClosedByAdmin(CODE, "Closing time.")]
    assert house.noted == [("close", CODE, "Closing time.")]
    assert await house.admin.tables() == []


async def test_a_table_can_be_closed_in_mid_race(house: Open) -> None:
    await house.save(running(ANN, BEN))
    await house.admin.close(CODE, "Closing time.")
    assert (await house.table()).phase is Phase.CLOSED


async def test_a_player_who_has_moved_on_keeps_the_new_seat(house: Open) -> None:
    await house.store.players.sit(BEN, "blue-crane-07", instead_of=CODE)
    await house.admin.close(CODE, "Closing time.")
    assert (await house.player(BEN)).table == "blue-crane-07"


async def test_a_table_is_closed_once(house: Open) -> None:
    await house.admin.close(CODE, "Closing time.")
    with pytest.raises(NotDone, match="closed already"):
        await house.admin.close(CODE, "Again.")
    with pytest.raises(NotDone, match="no table"):
        await house.admin.close("no-such-01", "Why not.")
    assert len(house.noted) == 1


async def test_a_close_is_judged_anew_if_a_node_wrote_first(
    house: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    save = house.store.tables.save_table
    meanwhile = [running(ANN, BEN)]

    async def interfered(write: TableWrite) -> bool:
        if meanwhile:
            monkeypatch.setattr(house.store.tables, "save_table", save)
            await house.save(meanwhile.pop())
        return await save(write)

    monkeypatch.setattr(house.store.tables, "save_table", interfered)
    await house.admin.close(CODE, "Closing time.")
    assert (await house.table()).phase is Phase.CLOSED


async def test_a_player_is_renamed_everywhere(house: Open) -> None:
    assert await house.admin.rename("ben", "Benjamin") == ("Ben", "Benjamin")
    assert (await house.player(BEN)).name == "Benjamin"
    assert [seat.name for seat in (await house.table()).seats] == ["Ann", "Benjamin"]
    assert house.told == [Renamed(BEN, "Benjamin")]
    assert house.noted == [("rename", BEN, "Ben to Benjamin")]


async def test_a_name_that_is_taken_is_not_given_again(house: Open) -> None:
    with pytest.raises(NotDone, match="taken"):
        await house.admin.rename(BEN, "ANN")
    with pytest.raises(NotDone, match="reserved for the server"):
        await house.admin.rename(BEN, "admin")
    assert (await house.player(BEN)).name == "Ben"
    assert (house.told, house.noted) == ([], [])


async def test_a_ban_lasts_until_it_is_lifted(house: Open) -> None:
    assert await house.admin.ban("Cleo") == CLEO
    assert (await house.player(CLEO)).banned
    assert await house.admin.unban(CLEO) == CLEO
    assert not (await house.player(CLEO)).banned
    with pytest.raises(NotDone, match="not banned"):
        await house.admin.unban(CLEO)
    assert house.told == [Banned(CLEO)]
    assert house.noted == [("ban", CLEO, "Cleo"), ("unban", CLEO, "Cleo")]


def away(table: TableState, player: str) -> TableState:
    seat = table.seat(player)
    assert seat is not None
    gone = disconnect(table, player, seat.epoch, now=NOON)
    assert gone is not None
    return gone.table


@pytest.mark.parametrize("act", ["ban", "forget"])
async def test_whoever_is_turned_out_while_away_gives_up_the_seat(house: Open, act: str) -> None:
    await house.save(away(seated(ANN, BEN), BEN))
    await getattr(house.admin, act)("Ben")
    assert [seat.player for seat in (await house.table()).seats] == [ANN]
    row = await house.store.players.load_player(BEN)
    assert row is None or row.table is None
    assert await house.store.tables.list_public() == [b"summary"]


async def test_whoever_is_let_in_again_is_told_an_id_for_sitting_down_there(house: Open) -> None:
    table = away(seated(ANN, BEN), BEN)
    seat = table.seat(BEN)
    assert seat is not None
    await house.save(table.with_seat(replace(seat, last_id=41)))
    await house.admin.ban("Ben")
    await house.admin.unban("Ben")
    assert (await house.table()).departed[BEN] == (await house.player(BEN)).last_id == 41


async def test_whoever_is_banned_in_mid_race_leaves_the_race(house: Open) -> None:
    await house.save(away(running(ANN, BEN), BEN))
    await house.admin.ban("Ben")
    table = await house.table()
    assert (table.phase, table.left) == (Phase.RUNNING, (BEN,))


async def test_a_table_whose_last_player_is_banned_is_listed_no_more(house: Open) -> None:
    await house.save(away(seated(ANN), ANN))
    await house.admin.ban("Ann")
    assert (await house.table()).seats == ()
    assert await house.store.tables.list_public() == []


async def test_who_is_banned_without_a_seat_changes_no_table(house: Open) -> None:
    before = await house.store.tables.load_table(CODE)
    await house.store.players.sit(CLEO, CODE)
    await house.admin.ban("Cleo")
    assert await house.store.tables.load_table(CODE) == before
    assert (await house.player(CLEO)).table is None


@pytest.mark.parametrize(
    ("table", "unraced"),
    [(seated(ANN, BEN), True), (running(ANN, BEN), False), (over(ANN, BEN), False)],
)
async def test_a_closed_table_that_saw_no_race_need_not_be_kept(
    house: Open, monkeypatch: pytest.MonkeyPatch, table: TableState, unraced: bool
) -> None:
    await house.save(table)
    save, written = house.store.tables.save_table, []

    async def noted(write: TableWrite) -> bool:
        written.append(write.unraced)
        return await save(write)

    monkeypatch.setattr(house.store.tables, "save_table", noted)
    await house.admin.close(CODE, "Closing time.")
    assert written == [unraced]


async def test_nobody_is_found_by_a_name_that_nobody_has(house: Open) -> None:
    for named in ("Dan", "d" * 16, "", "admin", "\x00"):
        with pytest.raises(NotDone, match="no player"):
            await house.admin.ban(named)
    assert house.noted == []


async def test_a_voided_race_is_off_the_leaderboards_but_keeps_its_record(house: Open) -> None:
    walkers = [Entrant(name, banking, patience=5) for name in ("Ann", "Ben")]
    record = race("canfield", 0, walkers)
    settlement = Settlement(
        race=record.race_id,
        game="canfield",
        start_at=Millis(record.start_at),
        results=(SettledResult(player=ANN, bot=False, banked=9, net=-5, elapsed=1000),),
    )
    await house.save(
        running(ANN, BEN),
        RaceFinish(race=1, record=format_record(record), settlement=pack_settlement(settlement)),
    )
    assert record.race_id == f"{CODE}/1"
    assert await house.admin.void(f"{CODE}/1") == "canfield"
    assert await house.store.leaderboards.page(BEST, 0, 10) == (0, [])
    assert await house.store.tables.load_record(CODE, 1) is not None
    assert house.told == [RaceVoided(f"{CODE}/1", "canfield")]
    assert house.noted == [("void", f"{CODE}/1", "canfield")]


async def test_only_a_finished_race_can_be_voided(house: Open) -> None:
    with pytest.raises(NotDone, match="no finished race"):
        await house.admin.void(f"{CODE}/1")
    for text in (CODE, f"{CODE}/0", f"{CODE}/x", f"{CODE}/1/1"):
        with pytest.raises(NotDone, match="not a race"):
            await house.admin.void(text)
    assert house.noted == []


async def test_an_announcement_is_one_line_and_reaches_every_node(house: Open) -> None:
    assert await house.admin.announce(" The house\nrestarts  at ten. ") == 1
    assert house.told == [Announce("The house restarts at ten.")]
    assert house.noted == [("announce", "", "The house restarts at ten.")]


@pytest.mark.parametrize("text", ["", " \n", "x" * (LONGEST_ANNOUNCEMENT + 1)])
async def test_an_announcement_that_cannot_be_shown_is_refused(house: Open, text: str) -> None:
    with pytest.raises(NotDone, match="characters"):
        await house.admin.announce(text)


async def test_a_player_who_asks_for_it_is_forgotten(house: Open) -> None:
    assert await house.admin.forget("Cleo") == CLEO
    assert await house.store.players.load_player(CLEO) is None
    assert await house.store.players.find_player("cleo") is None
    assert house.told == [Forgotten(CLEO)]
    assert house.noted == [("forget", CLEO, "")]
    assert "Cleo" not in repr(house.store.house.acts)


async def test_the_audit_log_says_who_and_when(house: Open) -> None:
    await house.admin.ban("Cleo")
    await house.admin.announce("hello")
    newest, oldest = await house.admin.audit(10)
    assert (newest["act"], oldest["act"]) == ("announce", "ban")
    assert oldest["who"] == "zoe@desk"
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", oldest["time"])
    assert await house.admin.audit(1) == [newest]


async def test_nothing_is_done_that_the_log_did_not_take(house: Open) -> None:
    house.store.house.lose_answers = 1
    with pytest.raises(Exception, match="does not answer"):
        await house.admin.ban("Cleo")
    assert not (await house.player(CLEO)).banned
    assert house.noted == [("ban", CLEO, "Cleo")]
