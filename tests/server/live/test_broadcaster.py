"""Who follows what, and words that go to many."""

from typing import Any

from kit.guests import Heard, RecordingLine
from saratoga_protocol.codec import CODECS
from saratoga_protocol.events import Announcement, AnyEvent, Standing, Standings
from saratoga_protocol.version import JSON, MSGPACK
from saratoga_server.live.broadcaster import TOLD_AT_ONCE, Broadcaster, send_to_all
from saratoga_server.live.session import Session

CODE, OTHER = "mint-otter-42", "odd-emu-11"
WORD = Announcement(text="a word")


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
    heard = Heard(CODECS[subprotocol])
    return Session(
        connection=RecordingLine(heard),
        codec=CODECS[subprotocol],
        address="",
        number=1,
        player=player,
    )


def heard(by: Session) -> list[AnyEvent]:
    assert isinstance(by.connection, RecordingLine)
    return by.connection.heard.events


def standings(place: int) -> Standings:
    row = Standing(player="a" * 16, place=place, banked=1, net=-45, state="racing")
    return Standings(race=f"{CODE}/1", standings=[row])


def test_a_word_to_many_is_encoded_once_for_each_encoding() -> None:
    packed, text = CountingCodec(MSGPACK), CountingCodec(JSON)
    many = [session() for _ in range(5)]
    for number, each in enumerate(many):
        each.codec = packed if number % 2 else text
        assert isinstance(each.connection, RecordingLine)
        each.connection.heard.codec = each.codec
    send_to_all(many, WORD)
    assert [heard(each) for each in many] == [[WORD]] * 5
    assert (packed.encoded, text.encoded) == (1, 1)


def test_only_the_audience_of_a_table_hears_what_is_told_there() -> None:
    broadcaster = Broadcaster()
    anna, bert, cleo = session("anna"), session("bert"), session("cleo")
    for each in (anna, bert, cleo):
        broadcaster.enter(each)
    broadcaster.follow(anna, CODE)
    broadcaster.follow(bert, CODE)
    broadcaster.follow(bert, OTHER)
    broadcaster.send_to_table(CODE, WORD)
    assert [len(heard(each)) for each in (anna, bert, cleo)] == [1, 1, 0]
    broadcaster.unfollow(bert, CODE)
    broadcaster.send_to_table(CODE, WORD)
    broadcaster.send_to_table(OTHER, WORD)
    broadcaster.send_to_table("no-table-00", WORD)
    assert [len(heard(each)) for each in (anna, bert, cleo)] == [2, 2, 0]
    assert set(broadcaster.followed()) == {CODE, OTHER}


def test_who_goes_follows_nothing_any_more() -> None:
    broadcaster = Broadcaster()
    anna = session("anna")
    broadcaster.enter(anna)
    broadcaster.follow(anna, CODE)
    broadcaster.follow(anna, OTHER)
    assert broadcaster.sessions_of("anna") == [anna]
    broadcaster.leave(anna)
    assert (
        broadcaster.followed(),
        broadcaster.audience(CODE),
        broadcaster.sessions_of("anna"),
    ) == ([], frozenset(), [])
    broadcaster.leave(anna)
    broadcaster.unfollow(anna, CODE)


def test_standings_are_sent_once_a_tick_and_as_they_are_then() -> None:
    broadcaster = Broadcaster()
    anna = session("anna")
    broadcaster.follow(anna, CODE)
    for place in (1, 2, 3):
        broadcaster.standings_changed(CODE, lambda place=place: standings(place))  # type: ignore[misc]
    assert heard(anna) == []
    broadcaster.tick()
    assert heard(anna) == [standings(3)]
    broadcaster.tick()
    assert heard(anna) == [standings(3)]


def test_many_tables_are_told_in_turns_and_one_that_is_settled_meanwhile_is_not() -> None:
    broadcaster = Broadcaster()
    tables = [f"table-{number}" for number in range(2 * TOLD_AT_ONCE)]
    told: list[str] = []
    for code in tables:
        broadcaster.follow(session(code), code)
        broadcaster.standings_changed(code, lambda code=code: told.append(code))  # type: ignore[misc]
    turns = broadcaster.ticks()
    next(turns)
    assert told == tables[:TOLD_AT_ONCE]
    broadcaster.standings_settled(tables[-1])
    assert list(turns) == [None]
    assert told == tables[:-1]
    assert broadcaster._changed == {}


def test_standings_that_nobody_follows_are_not_worked_out() -> None:
    broadcaster = Broadcaster()
    asked: list[int] = []
    broadcaster.standings_changed(CODE, lambda: asked.append(1))
    broadcaster.tick()
    assert asked == []


def test_standings_that_are_settled_are_not_sent() -> None:
    broadcaster = Broadcaster()
    anna = session("anna")
    broadcaster.follow(anna, CODE)
    broadcaster.standings_changed(CODE, lambda: standings(1))
    broadcaster.standings_settled(CODE)
    broadcaster.tick()
    assert heard(anna) == []


def test_who_goes_leaves_nothing_behind() -> None:
    broadcaster, one = Broadcaster(), session("p")
    broadcaster.enter(one)
    for code in (CODE, OTHER):
        broadcaster.follow(one, code)
    broadcaster.unfollow(one, OTHER)
    broadcaster.leave(one)
    assert (broadcaster._audiences, broadcaster._followed, broadcaster.sessions) == ({}, {}, set())
