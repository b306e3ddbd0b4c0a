"""Administrative actions are applied to the connections of a node."""

from collections.abc import Mapping
from dataclasses import replace

import pytest

from kit.in_process_server import InProcessServer, gathered
from saratoga_protocol import events
from saratoga_protocol.commands import CreateTable, Hello, JoinTable, WatchTable
from saratoga_protocol.events import Announcement, SeatLost
from saratoga_protocol.refusals import BANNED, DELETED
from saratoga_server.admin.acts import Administration
from saratoga_server.app import compose_table_cache
from saratoga_server.live.admin_events import AdminEvents
from saratoga_server.messages.node_events import (
    AdminEvent,
    Announce,
    Banned,
    NodeEvent,
    NodeEventListener,
    Standings,
    TableClosedByAdmin,
)


class AppliedAtOnce:
    """A listener that applies every published event before `publish` returns."""

    is_listening = False

    def __init__(self, admin_events: AdminEvents) -> None:
        self._admin_events = admin_events

    async def publish(self, event: NodeEvent) -> int:
        assert isinstance(event, AdminEvent)
        await self._admin_events.apply(event)
        return 1

    async def publish_standings(self, node: str, races: Mapping[str, Standings]) -> frozenset[str]:
        raise AssertionError("an administrator publishes no standings")

    async def listen(self, listener: NodeEventListener) -> None:
        raise AssertionError("an administrator does not listen")


@pytest.fixture
async def administration(server: InProcessServer) -> Administration:
    """An administration whose actions this node applies at once."""
    store = replace(server.store, events=AppliedAtOnce(server.node.admin_events))
    return Administration(store, await compose_table_cache(store), "zoe@laptop")


async def test_an_announcement_is_sent_to_every_connection(
    server: InProcessServer,
) -> None:
    anna, nobody = await server.player("Anna"), server.connect("nobody")
    await server.node.admin_events.apply(Announce("We close at ten."))
    for each in (anna, nobody):
        assert each.received.all(Announcement) == [Announcement(text="We close at ten.")]


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


async def test_the_race_of_a_closed_table_is_not_counted(
    server: InProcessServer, administration: Administration
) -> None:
    anna, bert = await server.player("Anna"), await server.player("Bert")
    code = await server.race(anna, bert)
    await administration.close(code, "Enough.")
    answer = await anna.move("draw")
    assert answer.re == anna.last_id
    await server.pass_time(1000)
    assert await server.record(code) is None


async def test_a_banned_player_is_disconnected_and_leaves_the_race(
    server: InProcessServer, administration: Administration
) -> None:
    anna, bert = await server.player("Anna"), await server.player("Bert")
    await server.race(anna, bert)
    await administration.ban("Bert")
    assert bert.close_codes == [BANNED.code]
    await server.pass_time(250)
    assert [seat.name for seat in anna.table.seats] == ["Anna"]
    rows = {row.player: row.state for row in anna.received.all(events.Standings)[-1].standings}
    assert rows == {anna.player: "racing", bert.player: "left"}
    back = server.connect("Bert")
    assert await back.refused(Hello, token=back.token) == "banned"


async def test_a_renamed_player_has_the_new_name_at_the_table(
    server: InProcessServer, administration: Administration
) -> None:
    anna, bert = await server.player("Anna"), await server.player("Bert")
    await gathered(anna, bert)
    await administration.rename("Bert", "Bernard")
    await server.settle()
    assert [seat.name for seat in anna.table.seats] == ["Anna", "Bernard"]
    assert bert.session.name == "Bernard"


async def test_a_forgotten_player_loses_connection_seat_and_row(
    server: InProcessServer, administration: Administration
) -> None:
    anna, bert = await server.player("Anna"), await server.player("Bert")
    await gathered(anna, bert)
    await administration.forget("Bert")
    assert bert.close_codes == [DELETED.code]
    assert [seat.name for seat in anna.table.seats] == ["Anna"]
    assert await server.real.players.load_player(bert.player) is None
    back = server.connect("Bert")
    assert await back.refused(Hello, token=back.token, name="Bert") == "name_taken"
    assert (await back.hello(name="Benno")).name == "Benno"


async def test_actions_on_players_and_tables_that_are_not_here_change_nothing(
    server: InProcessServer,
) -> None:
    anna = await server.player("Anna")
    told = len(anna.received.events)
    await server.node.admin_events.apply(Banned("z" * 16))
    await server.node.admin_events.apply(TableClosedByAdmin("odd-emu-11", "Enough."))
    assert (anna.received.events[told:], anna.close_codes) == ([], [])
