"""Sessions: one connection and its player."""

import pytest

from kit.players import Received, RecordingConnection
from saratoga_protocol.codec import CODECS
from saratoga_protocol.events import Announcement
from saratoga_protocol.refusals import NO_HELLO, TAKEN_OVER
from saratoga_protocol.version import JSON, SUBPROTOCOLS
from saratoga_server.domain.tables import TableSeat
from saratoga_server.live.session import Session


@pytest.mark.parametrize("subprotocol", SUBPROTOCOLS)
def test_an_event_is_sent_in_the_connections_own_encoding(subprotocol: str) -> None:
    heard = Received(CODECS[subprotocol])
    session = Session(
        connection=RecordingConnection(heard), codec=CODECS[subprotocol], address="", number=1
    )
    session.send(Announcement(text="hello"))
    assert heard.events == [Announcement(text="hello")]
    assert isinstance(heard.frames[0], str) == (subprotocol == JSON)


def test_a_new_connection_has_no_player_and_follows_nothing() -> None:
    heard = Received(CODECS[JSON])
    one, two = (
        Session(connection=RecordingConnection(heard), codec=CODECS[JSON], address="", number=n)
        for n in (1, 2)
    )
    assert (one.player, one.seat, one.watching) == ("", None, frozenset())
    one.watching |= {"mint-otter-42"}
    assert two.watching == frozenset()
    assert one != two


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


def test_an_evicted_connection_gets_the_reason() -> None:
    line = RecordingConnection(Received(CODECS[JSON]))
    session = Session(connection=line, codec=CODECS[JSON], address="", number=1)
    session.evict()
    session.player = "a" * 16
    session.evict()
    assert line.closed == [NO_HELLO, TAKEN_OVER]
    assert not session.holds_seat
