"""Followers of tables, and events that go to many connections."""

import gc
import weakref
from typing import Any

from kit.players import Received, RecordingConnection
from saratoga_protocol.codec import CODECS
from saratoga_protocol.events import Announcement, AnyEvent, Standing, Standings
from saratoga_protocol.version import JSON, MSGPACK
from saratoga_server.live.broadcaster import TABLES_AT_ONCE, Broadcaster, send_to_all
from saratoga_server.live.session import Session

CODE, OTHER = "mint-otter-42", "odd-emu-11"
EVENT = Announcement(text="maintenance at noon")


class CountingCodec:
    """A codec that counts what it encodes."""

    def __init__(self, subprotocol: str) -> None:
        self._codec = CODECS[subprotocol]
        self.subprotocol = subprotocol
        self.encoded = 0

    def encode_event(self, event: AnyEvent) -> bytes | str:
        self.encoded += 1
        return self._codec.encode_event(event)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._codec, name)


def session(player: str = "", subprotocol: str = MSGPACK) -> Session:
    heard = Received(CODECS[subprotocol])
    return Session(
        connection=RecordingConnection(heard),
        codec=CODECS[subprotocol],
        address="",
        number=1,
        player=player,
    )


def received(by: Session) -> list[AnyEvent]:
    assert isinstance(by.connection, RecordingConnection)
    return by.connection.received.events


def standings(place: int) -> Standings:
    row = Standing(player="a" * 16, place=place, banked=1, net=-45, state="racing")
    return Standings(race=f"{CODE}/1", standings=[row])


def test_an_event_to_many_is_encoded_once_for_each_encoding() -> None:
    packed, text = CountingCodec(MSGPACK), CountingCodec(JSON)
    many = [session() for _ in range(5)]
    for number, each in enumerate(many):
        each.codec = packed if number % 2 else text
        assert isinstance(each.connection, RecordingConnection)
        each.connection.received.codec = each.codec
    send_to_all(many, EVENT)
    assert [received(each) for each in many] == [[EVENT]] * 5
    assert (packed.encoded, text.encoded) == (1, 1)


def test_an_event_for_a_table_goes_to_its_audience_only() -> None:
    broadcaster = Broadcaster()
    anna, bert, cleo = session("anna"), session("bert"), session("cleo")
    for each in (anna, bert, cleo):
        broadcaster.enter(each)
    broadcaster.follow(anna, CODE)
    broadcaster.follow(bert, CODE)
    broadcaster.follow(bert, OTHER)
    broadcaster.send_to_table(CODE, EVENT)
    assert [len(received(each)) for each in (anna, bert, cleo)] == [1, 1, 0]
    broadcaster.unfollow(bert, CODE)
    broadcaster.send_to_table(CODE, EVENT)
    broadcaster.send_to_table(OTHER, EVENT)
    broadcaster.send_to_table("no-table-00", EVENT)
    assert [len(received(each)) for each in (anna, bert, cleo)] == [2, 2, 0]
    assert broadcaster.audience(CODE) == {anna}
    assert broadcaster.audience(OTHER) == {bert}


def test_a_connection_that_ends_follows_nothing_any_more() -> None:
    broadcaster = Broadcaster()
    anna = session("anna")
    broadcaster.enter(anna)
    broadcaster.follow(anna, CODE)
    broadcaster.follow(anna, OTHER)
    assert broadcaster.sessions_of("anna") == [anna]
    broadcaster.leave(anna)
    assert (
        broadcaster.audience(CODE),
        broadcaster.audience(OTHER),
        broadcaster.sessions_of("anna"),
    ) == (frozenset(), frozenset(), [])
    broadcaster.leave(anna)
    broadcaster.unfollow(anna, CODE)


def test_standings_are_sent_once_a_tick_as_they_are_then() -> None:
    broadcaster = Broadcaster()
    anna = session("anna")
    broadcaster.follow(anna, CODE)
    for place in (1, 2, 3):
        broadcaster.standings_changed(CODE, lambda place=place: standings(place))  # type: ignore[misc]
    assert received(anna) == []
    list(broadcaster.send_standings())
    assert received(anna) == [standings(3)]
    list(broadcaster.send_standings())
    assert received(anna) == [standings(3)]


def test_many_tables_are_sent_standings_in_turns_but_not_one_settled_meanwhile() -> None:
    broadcaster = Broadcaster()
    tables = [f"table-{number}" for number in range(2 * TABLES_AT_ONCE)]
    sent: list[str] = []
    for code in tables:
        broadcaster.follow(session(code), code)
        broadcaster.standings_changed(code, lambda code=code: sent.append(code))  # type: ignore[misc]
    turns = broadcaster.send_standings()
    next(turns)
    assert sent == tables[:TABLES_AT_ONCE]
    broadcaster.standings_settled(tables[-1])
    assert list(turns) == [None]
    assert sent == tables[:-1]
    assert list(broadcaster.send_standings()) == []


def test_standings_without_subscribers_are_not_computed() -> None:
    broadcaster = Broadcaster()
    asked: list[int] = []
    broadcaster.standings_changed(CODE, lambda: asked.append(1))
    list(broadcaster.send_standings())
    assert asked == []


def test_standings_that_are_settled_are_not_sent() -> None:
    broadcaster = Broadcaster()
    anna = session("anna")
    broadcaster.follow(anna, CODE)
    broadcaster.standings_changed(CODE, lambda: standings(1))
    broadcaster.standings_settled(CODE)
    list(broadcaster.send_standings())
    assert received(anna) == []


def test_a_connection_that_ends_is_not_kept_in_memory() -> None:
    broadcaster, one = Broadcaster(), session("p")
    broadcaster.enter(one)
    for code in (CODE, OTHER):
        broadcaster.follow(one, code)
    broadcaster.unfollow(one, OTHER)
    broadcaster.leave(one)
    connection = weakref.ref(one.connection)
    del one
    gc.collect()
    assert connection() is None
    assert (broadcaster.audience(CODE), broadcaster.sessions) == (frozenset(), set())


def test_a_player_follows_a_table_with_any_of_their_connections() -> None:
    broadcaster = Broadcaster()
    first, second = session("anna"), session("anna")
    for each in (first, second):
        broadcaster.follow(each, CODE)
    broadcaster.unfollow(first, CODE)
    assert broadcaster.is_following("anna", CODE)
    assert not broadcaster.is_following("anna", OTHER)
    assert not broadcaster.is_following("bert", CODE)
    broadcaster.unfollow(second, CODE)
    assert not broadcaster.is_following("anna", CODE)
