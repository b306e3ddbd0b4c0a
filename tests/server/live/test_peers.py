"""Two nodes of one house, in memory: what one does is felt on the other, and what was missed is found."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from kit.guests import HEARD_WITHIN
from kit.rooms import HouseInMemory, gathered
from kit.two_nodes import Nodes, beside
from saratoga_protocol.commands import (
    ChangeSettings,
    JoinTable,
    Kick,
    LeaveTable,
    ListTables,
    MakeMove,
    Resume,
    WatchTable,
)
from saratoga_protocol.events import (
    BoardEnded,
    Dealt,
    Done,
    RaceOver,
    SeatLost,
    Standings,
    TableChanged,
    Tables,
)
from saratoga_protocol.refusals import BANNED, TAKEN_OVER
from saratoga_server.cancellation import cancel_all
from saratoga_server.domain.tables import Change, TableState
from saratoga_server.domain.tables.countdown import MINUTE
from saratoga_server.live.live_race import LiveRace
from saratoga_server.live.live_table import LiveTable
from saratoga_server.messages.node_events import Here
from saratoga_server.ports import StoreUnavailable


@pytest.fixture
async def nodes(rooms: HouseInMemory) -> AsyncIterator[Nodes]:
    async with beside(rooms) as opened:
        yield opened


async def test_a_table_is_the_same_on_both_nodes(nodes: Nodes) -> None:
    anna, bert = await nodes.two()
    code = await gathered(anna, bert)
    await nodes.settle()
    assert [seat.name for seat in anna.table.seats] == ["Anna", "Bert"]
    answer = await anna.ask(ChangeSettings, table=code, game="lady-palk")
    assert isinstance(answer, Done)
    await nodes.settle()
    assert (bert.table.settings.game, bert.table) == ("lady-palk", anna.table)


async def test_a_race_over_two_nodes_is_told_the_same_on_both(nodes: Nodes) -> None:
    anna, bert = await nodes.two()
    await nodes.race(anna, bert)
    deals = [guest.heard.all(Dealt)[0] for guest in (anna, bert)]
    assert deals[0].board == deals[1].board
    await anna.moves("draw")
    await anna.cash_out()
    await nodes.pass_time(250)
    rows = {row.player: row.state for row in bert.heard.all(Standings)[-1].standings}
    assert rows == {anna.player: "cashed out", bert.player: "racing"}
    await bert.cash_out()
    await nodes.pass_time(250)
    (over,), (also,) = anna.heard.all(RaceOver), bert.heard.all(RaceOver)
    assert over == also
    assert anna.heard.all(Standings)[-1] == bert.heard.all(Standings)[-1]


async def test_a_newer_connection_on_another_node_closes_the_older_one(nodes: Nodes) -> None:
    anna, bert = await nodes.two()
    code = await nodes.race(anna, bert)
    await anna.moves("draw")
    newer = await nodes.west.guest("Anna")
    snapshot = await newer.at_table(Resume, table=code)
    assert snapshot.board is not None
    assert snapshot.board.count == 1
    await nodes.settle()
    assert anna.sent_away == [TAKEN_OVER.code]
    await newer.moves("draw")


async def test_who_is_kicked_on_another_node_is_told_so(nodes: Nodes) -> None:
    anna, bert = await nodes.two()
    code = await gathered(anna, bert)
    await nodes.settle()
    await anna.ask(Kick, table=code, player=bert.player)
    await nodes.settle()
    (lost,) = bert.heard.all(SeatLost)
    assert (lost.table, lost.reason) == (code, "The host has kicked you from the table.")
    assert await bert.refused(JoinTable, table=code) == "kicked"


async def test_a_board_that_another_node_ends_is_told_to_its_player_once(nodes: Nodes) -> None:
    anna, bert = await nodes.two()
    await nodes.race(anna, bert, cap=5)
    # west ends what is out of time before east has looked
    nodes.east.time.at += 5 * MINUTE
    await nodes.west.pass_time(0)
    await nodes.settle()
    await nodes.pass_time(1000)
    for guest in (anna, bert):
        (ended,) = guest.heard.all(BoardEnded)
        assert ended.board.state == "out of time"
        assert len(guest.heard.all(RaceOver)) == 1


async def test_a_no_to_what_a_node_thinks_is_not_said_before_it_has_looked(nodes: Nodes) -> None:
    anna, bert = await nodes.two()
    code = await gathered(anna, bert)
    cleo = await nodes.west.guest("Cleo")
    await anna.ask(ChangeSettings, table=code, seats=2)
    await nodes.settle()
    assert await cleo.refused(JoinTable, table=code) == "table_full"
    nodes.east.fake.ears.remove(nodes.west.house.peer_events)
    await anna.ask(ChangeSettings, table=code, seats=3)
    await cleo.at_table(JoinTable, table=code)


async def test_the_list_of_tables_follows_whoever_changes_them(nodes: Nodes) -> None:
    anna, bert = await nodes.two()
    code = await gathered(anna, public=True)
    cleo = await nodes.west.guest("Cleo")
    for seated in (2, 1, 2, 1):
        if seated == 2:
            await bert.at_table(JoinTable, table=code)
        else:
            await anna.ask(Kick, table=code, player=cleo.player)
            await bert.ask(LeaveTable, table=code)
        await nodes.settle()
        tables = await anna.ask(ListTables)
        assert isinstance(tables, Tables)
        assert [table.seated for table in tables.tables] == [seated]


async def test_a_watcher_sees_what_happens_on_another_node(nodes: Nodes) -> None:
    anna, bert = await nodes.two()
    wanda = await nodes.west.guest("Wanda")
    code = await gathered(anna)
    await wanda.at_table(WatchTable, table=code)
    await bert.at_table(JoinTable, table=code)
    await anna.hang_up()
    await nodes.settle()
    assert [seat.connected for seat in wanda.table.seats] == [False, True]
    assert wanda.heard.all(TableChanged)[-1].table == bert.table


async def test_a_node_that_seemed_dead_claims_its_seats_again(nodes: Nodes) -> None:
    anna, bert = await nodes.two()
    code = await gathered(anna, bert)
    await nodes.settle()
    nodes.east.fake.nodes.discard(nodes.west.house.name)
    await nodes.east.house.scheduler.sweep()
    await nodes.east.settle()
    await asyncio.sleep(0)
    assert [seat.connected for seat in anna.table.seats] == [True, False]
    nodes.east.fake.nodes.add(nodes.west.house.name)
    await nodes.settle()
    await nodes.west.house.scheduler.sweep()
    await nodes.settle()
    assert [seat.connected for seat in anna.table.seats] == [True, True]
    assert isinstance(await bert.ready(), Done)
    assert code == bert.table.code


async def test_a_node_that_is_alone_tells_nobody(rooms: HouseInMemory) -> None:
    anna = await rooms.guest("Anna")
    await rooms.race(anna)
    assert rooms.house.peer_events.is_alone
    await anna.moves("draw")
    await anna.cash_out()
    await rooms.settle()
    assert rooms.house.peer_events._untold == {}
    kinds = set(rooms.house.metrics.node_events)
    assert kinds == {"touched"}, "what the store says by itself"


async def test_who_comes_is_told_where_everybody_stands(rooms: HouseInMemory) -> None:
    anna = await rooms.guest("Anna")
    await rooms.race(anna)
    await anna.moves("draw")
    news = rooms.house.peer_events
    news.hear(Here("newcomer", 1))
    assert not news.is_alone
    (race,) = rooms.house.races.all()
    assert news._untold == {race.id: race.stands}
    rooms.fake.unavailable = True
    await news.tell_standings()
    assert news._untold == {race.id: race.stands}, "what could not be told is told later"
    rooms.fake.unavailable = False
    await news.tell_standings()
    assert news._untold == {}


async def test_after_a_gap_who_was_banned_or_renamed_meanwhile_is_so_here(nodes: Nodes) -> None:
    anna, bert = await nodes.two()
    news = nodes.west.house.peer_events
    await news.opened()
    nodes.west.fake.ears.remove(news)
    await nodes.west.store.players.set_banned(bert.player, True)
    cleo = await nodes.west.guest("Cleo")
    await nodes.west.store.players.claim_name(cleo.player, "Chloe", "chloe")
    await news.opened()
    assert bert.sent_away == [BANNED.code]
    assert cleo.session.name == "Chloe"
    assert (cleo.sent_away, anna.sent_away) == ([], [])
    assert nodes.west.house.metrics.resubscriptions == 1


async def test_what_could_not_be_looked_at_after_a_gap_is_looked_at_later(
    nodes: Nodes, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, bert = await nodes.two()
    house = nodes.west.house
    await house.peer_events.opened()
    nodes.west.fake.ears.remove(house.peer_events)
    await nodes.west.store.players.set_banned(bert.player, True)
    nodes.west.fake.unavailable = True
    await house.peer_events.opened()
    nodes.west.fake.unavailable = False
    assert bert.sent_away == []
    monkeypatch.setattr("saratoga_server.live.peers.LOOK_EVERY", 0.0)
    is_sent_away = asyncio.Event()
    monkeypatch.setattr(bert.line, "close", lambda code: is_sent_away.set())
    keeping = asyncio.create_task(house.peer_events._keep_looking())
    await asyncio.wait_for(is_sent_away.wait(), HEARD_WITHIN)
    await cancel_all([keeping])


async def test_a_race_that_cannot_be_looked_at_holds_up_no_other(
    nodes: Nodes, monkeypatch: pytest.MonkeyPatch
) -> None:
    anna, bert = await nodes.two()
    await nodes.race(anna, bert)
    cleo, dora = await nodes.east.guest("Cleo"), await nodes.west.guest("Dora")
    await nodes.race(cleo, dora)
    house = nodes.west.house
    looked: list[LiveRace] = []
    first = house.races.all()[0]

    async def look_again(race: LiveRace) -> None:
        if race is first:
            raise StoreUnavailable("its primary is away")
        looked.append(race)

    monkeypatch.setattr(house.races, "look_again", look_again)
    await house.peer_events.opened()
    assert len(looked) == 1


@pytest.mark.parametrize("same_node", [True, False])
async def test_of_two_connections_that_resume_at_once_only_the_newer_one_holds_the_seat(
    nodes: Nodes, same_node: bool
) -> None:
    anna, bert = await nodes.two()
    code = await nodes.race(anna, bert)
    slow = await nodes.east.guest("Anna")
    quick = await (nodes.east if same_node else nodes.west).guest("Anna")
    table_cache = nodes.east.house.table_cache
    follow_up = table_cache.on_change

    async def interrupted(live_table: LiveTable, before: TableState, change: Change) -> None:
        table_cache.on_change = follow_up
        await quick.at_table(Resume, table=code)
        await nodes.settle()

    table_cache.on_change = interrupted
    assert await slow.refused(Resume, table=code) == "taken_over"
    assert set(slow.sent_away) == {TAKEN_OVER.code}
    assert (quick.sent_away, anna.sent_away) == ([], [TAKEN_OVER.code])
    await quick.moves("draw")
    assert await slow.refused(MakeMove, race=f"{code}/1", after=1, move="draw") == "not_seated"


async def test_an_older_connection_does_nothing_at_the_table_though_its_node_heard_nothing(
    nodes: Nodes,
) -> None:
    anna, bert = await nodes.two()
    code = await gathered(anna, bert)
    await nodes.settle()
    nodes.east.fake.ears.remove(nodes.east.house.peer_events)
    newer = await nodes.west.guest("Anna")
    await newer.at_table(Resume, table=code)
    assert await anna.refused(ChangeSettings, table=code, cap=5) == "taken_over"
    assert set(anna.sent_away) == {TAKEN_OVER.code}
