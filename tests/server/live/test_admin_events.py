"""Administrators' acts, felt by those who are connected here."""

import pytest

from kit.rooms import HouseInMemory, gathered
from saratoga_protocol.commands import CreateTable, Hello, JoinTable, WatchTable
from saratoga_protocol.events import Announcement, SeatLost, Standings
from saratoga_protocol.refusals import BANNED
from saratoga_server.admin.acts import Administration
from saratoga_server.messages.node_events import AdminEvent, Announce, Banned, TableClosedByAdmin


@pytest.fixture
def desk(rooms: HouseInMemory) -> Administration:
    """An administrator whose acts this node hears of."""

    async def tell(event: AdminEvent) -> int:
        await rooms.orders.apply(event)
        return 1

    return Administration(rooms.store, tell, "zoe@desk")


async def test_an_announcement_is_heard_by_everybody_who_is_connected(
    rooms: HouseInMemory,
) -> None:
    anna, nobody = await rooms.guest("Anna"), rooms.stranger("nobody")
    await rooms.orders.apply(Announce("We close at ten."))
    for each in (anna, nobody):
        assert each.heard.all(Announcement) == [Announcement(text="We close at ten.")]


async def test_a_closed_table_lets_everybody_go(rooms: HouseInMemory, desk: Administration) -> None:
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


async def test_a_closed_race_comes_to_nothing(rooms: HouseInMemory, desk: Administration) -> None:
    anna, bert = await rooms.guest("Anna"), await rooms.guest("Bert")
    code = await rooms.race(anna, bert)
    await desk.close(code, "Enough.")
    answer = await anna.move("draw")
    assert answer.re == anna.last_id
    await rooms.pass_time(1000)
    assert rooms.fake.records == {}


async def test_a_banned_player_is_out_at_once_and_leaves_the_race(
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


async def test_a_renamed_player_is_called_so_at_every_followed_table(
    rooms: HouseInMemory, desk: Administration
) -> None:
    anna, bert = await rooms.guest("Anna"), await rooms.guest("Bert")
    await gathered(anna, bert)
    await desk.rename("Bert", "Bernard")
    await rooms.settle()
    assert [seat.name for seat in anna.table.seats] == ["Anna", "Bernard"]
    assert bert.session.name == "Bernard"


async def test_a_forgotten_player_is_gone(rooms: HouseInMemory, desk: Administration) -> None:
    anna, bert = await rooms.guest("Anna"), await rooms.guest("Bert")
    await gathered(anna, bert)
    await desk.forget("Bert")
    assert bert.sent_away == [BANNED.code]
    assert [seat.name for seat in anna.table.seats] == ["Anna"]
    assert bert.player not in rooms.fake.players
    await rooms.guest("Bert")


async def test_acts_on_those_who_are_not_here_are_passed_over(rooms: HouseInMemory) -> None:
    anna = await rooms.guest("Anna")
    told = len(anna.heard.events)
    await rooms.orders.apply(Banned("z" * 16))
    await rooms.orders.apply(TableClosedByAdmin("odd-emu-11", "Enough."))
    assert (anna.heard.events[told:], anna.sent_away) == ([], [])
