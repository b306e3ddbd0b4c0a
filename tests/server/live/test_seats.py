"""Seats that are lost."""

import pytest

from kit.in_process_server import InProcessServer, gathered
from kit.players import Received, RecordingConnection
from saratoga_protocol.codec import CODECS, JSON
from saratoga_protocol.commands import CreateTable, JoinTable, Kick, LeaveTable
from saratoga_protocol.events import SeatLost, Snapshot
from saratoga_protocol.refusals import TAKEN_OVER
from saratoga_server.domain.tables import TableSeat
from saratoga_server.domain.tables.seating import KICKED
from saratoga_server.domain.tables.timers import UNUSED_MILLIS
from saratoga_server.live.session import Session

# Connections


async def test_only_players_who_did_not_leave_are_notified_that_their_seat_is_lost(
    server: InProcessServer,
) -> None:
    anna, bert, cleo = [await server.player(name) for name in ("Anna", "Bert", "Cleo")]
    code = await gathered(anna, bert, cleo)
    await bert.ask(LeaveTable, table=code)
    await anna.ask(Kick, table=code, player=cleo.player)
    assert bert.received.all(SeatLost) == []
    (lost,) = cleo.received.all(SeatLost)
    assert (lost.table, lost.reason) == (code, KICKED)
    for each in (bert, cleo):
        assert each.session.seat is None
        assert (await server.row(each.player)).table is None


async def test_a_connection_is_closed_before_the_change_that_replaces_it_is_sent(
    server: InProcessServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    anna, bert = await server.player("Anna"), await server.player("Bert", bot=True)
    code = await gathered(anna, bert)
    told, received = [], bert.received.events
    monkeypatch.setattr(bert.connection, "close", lambda _: told.append(len(received)))
    newer, known = server.connect("Bert", bot=True), len(received)
    await newer.hello(level="strong")
    await newer.at_table(JoinTable, table=code)
    assert anna.table.seats[1].level == "strong"
    assert told == [known]


async def test_only_the_connection_that_held_the_seat_is_closed_when_a_newer_one_takes_it(
    server: InProcessServer,
) -> None:
    anna, bert = await server.player("Anna"), await server.player("Bert")
    code = await gathered(anna, bert)
    watching, newer = await server.player("Anna"), await server.player("Anna")
    await watching.at_table(JoinTable, table=code, seat=False)
    await newer.at_table(JoinTable, table=code)
    assert anna.close_codes == [TAKEN_OVER.code]
    assert (watching.close_codes, newer.close_codes, bert.close_codes) == ([], [], [])
    assert (anna.session.seat, newer.session.seat) == (None, code)


async def test_a_closed_table_frees_its_players_and_is_not_followed_any_more(
    server: InProcessServer,
) -> None:
    anna, bert = await server.player("Anna"), await server.player("Bert")
    code = await gathered(anna, public=True)
    await bert.at_table(JoinTable, table=code, seat=False)
    await server.pass_time(UNUSED_MILLIS)
    for each in (anna, bert):
        assert [lost.table for lost in each.received.all(SeatLost)] == [code]
        assert (each.session.seat, each.session.watching) == (None, frozenset())
    assert server.node.broadcaster.audience(code) == frozenset()
    assert await server.real.tables.list_public() == []
    assert (await server.row(anna.player)).table is None
    assert isinstance(await anna.ask(CreateTable, game="canfield"), Snapshot)


# Sessions: one connection and its player


@pytest.mark.parametrize(
    ("hello", "epoch", "is_lost"),
    [(7, 3, False), (7, 4, False), (8, 4, True), (7, 5, True), (8, 5, True)],
)
def test_a_seat_is_lost_to_a_newer_connection_but_not_to_an_own_claim_without_a_reply(
    hello: int, epoch: int, is_lost: bool
) -> None:
    session = Session(
        connection=RecordingConnection(Received(CODECS[JSON])),
        codec=CODECS[JSON],
        address="",
        number=1,
    )
    session.hello, session.epoch, session.claimed = 7, 3, 4
    seat = TableSeat(player="a" * 16, name="Ann", hello=hello, epoch=epoch)
    assert session.has_lost(seat) == is_lost
    assert session.epoch == (3 if is_lost else epoch)
