"""Administrative actions, applied to the connections of a node."""

from dataclasses import replace

import pytest

from kit.fake_news import FakeNews
from kit.rooms import HouseInMemory, gathered
from saratoga_protocol.commands import CreateTable, Hello, JoinTable, WatchTable
from saratoga_protocol.events import Announcement, SeatLost, Standings
from saratoga_protocol.refusals import BANNED
from saratoga_server.admin.acts import Administration
from saratoga_server.app import compose_table_cache
from saratoga_server.live.admin_events import AdminEvents
from saratoga_server.messages.node_events import (
    AdminEvent,
    Announce,
    Banned,
    NodeEvent,
    TableClosedByAdmin,
)


class AppliedAtOnce(FakeNews):
    """Applies every event that is published, before `publish` returns."""

    def __init__(self, admin_events: AdminEvents) -> None:
        super().__init__([], no_wait)
        self._admin_events = admin_events

    async def publish(self, nudge: NodeEvent) -> int:
        assert isinstance(nudge, AdminEvent)
        await self._admin_events.apply(nudge)
        return 1


async def no_wait() -> None:
    return


@pytest.fixture
async def desk(rooms: HouseInMemory) -> Administration:
    """An administrator whose actions this node applies."""
    store = replace(rooms.store, events=AppliedAtOnce(rooms.house.admin_events))
    return Administration(store, await compose_table_cache(store), "zoe@desk")


async def test_an_announcement_is_sent_to_every_connection(
    rooms: HouseInMemory,
) -> None:
    anna, nobody = await rooms.guest("Anna"), rooms.stranger("nobody")
    await rooms.house.admin_events.apply(Announce("We close at ten."))
    for each in (anna, nobody):
        assert each.heard.all(Announcement) == [Announcement(text="We close at ten.")]


async def test_closing_a_table_frees_its_seats_and_watchers(
    rooms: HouseInMemory, desk: Administration
) -> None:
    anna, wanda = await rooms.guest("Anna"), await rooms.guest("Wanda")
    code = await gathered(anna, public=True)
    await wanda.at_table(WatchTable, table=code)
    await desk.close(code, "Enough.")
    for each in (anna, wanda):
        (lost,) = each.heard.all(SeatLost)
        assert (lost.table, lost.reason) == (code, "Enough.")
    assert rooms.fake.public == {}
    assert await anna.refused(JoinTable, table=code) == "table_closed"
    await anna.at_table(CreateTable, game="canfield")


async def test_the_race_of_a_closed_table_is_not_counted(
    rooms: HouseInMemory, desk: Administration
) -> None:
    anna, bert = await rooms.guest("Anna"), await rooms.guest("Bert")
    code = await rooms.race(anna, bert)
    await desk.close(code, "Enough.")
    answer = await anna.move("draw")
    assert answer.re == anna.last_id
    await rooms.pass_time(1000)
    assert rooms.fake.records == {}


async def test_a_banned_player_is_disconnected_and_leaves_the_race(
    rooms: HouseInMemory, desk: Administration
) -> None:
    anna, bert = await rooms.guest("Anna"), await rooms.guest("Bert")
    await rooms.race(anna, bert)
    await desk.ban("Bert")
    assert bert.sent_away == [BANNED.code]
    await rooms.pass_time(250)
    assert [seat.name for seat in anna.table.seats] == ["Anna"]
    rows = {row.player: row.state for row in anna.heard.all(Standings)[-1].standings}
    assert rows == {anna.player: "racing", bert.player: "left"}
    back = rooms.stranger("Bert")
    assert await back.refused(Hello, token=back.token) == "banned"


async def test_a_renamed_player_has_the_new_name_at_the_table(
    rooms: HouseInMemory, desk: Administration
) -> None:
    anna, bert = await rooms.guest("Anna"), await rooms.guest("Bert")
    await gathered(anna, bert)
    await desk.rename("Bert", "Bernard")
    await rooms.settle()
    assert [seat.name for seat in anna.table.seats] == ["Anna", "Bernard"]
    assert bert.session.name == "Bernard"


async def test_a_forgotten_player_loses_connection_seat_and_row(
    rooms: HouseInMemory, desk: Administration
) -> None:
    anna, bert = await rooms.guest("Anna"), await rooms.guest("Bert")
    await gathered(anna, bert)
    await desk.forget("Bert")
    assert bert.sent_away == [BANNED.code]
    assert [seat.name for seat in anna.table.seats] == ["Anna"]
    assert bert.player not in rooms.fake.players
    await rooms.guest("Bert")


async def test_actions_on_players_and_tables_that_are_not_here_change_nothing(
    rooms: HouseInMemory,
) -> None:
    anna = await rooms.guest("Anna")
    told = len(anna.heard.events)
    await rooms.house.admin_events.apply(Banned("z" * 16))
    await rooms.house.admin_events.apply(TableClosedByAdmin("odd-emu-11", "Enough."))
    assert (anna.heard.events[told:], anna.sent_away) == ([], [])
