"""Who follows what, and words that go to many."""

from typing import Any

from kit.guests import Heard, RecordingLine
from saratoga_protocol.codec import CODECS
from saratoga_protocol.events import Announcement, AnyEvent, Standing, Standings
from saratoga_protocol.version import JSON, MSGPACK
from saratoga_server.floor.hub import TOLD_AT_ONCE, Hub, tell_all
from saratoga_server.floor.session import Session

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
        line=RecordingLine(heard), codec=CODECS[subprotocol], address="", number=1, player=player
    )


def heard(by: Session) -> list[AnyEvent]:
    assert isinstance(by.line, RecordingLine)
    return by.line.heard.events


def standings(place: int) -> Standings:
    row = Standing(player="a" * 16, place=place, banked=1, net=-45, state="racing")
    return Standings(race=f"{CODE}/1", standings=[row])


def test_a_word_to_many_is_encoded_once_for_each_encoding() -> None:
    packed, text = CountingCodec(MSGPACK), CountingCodec(JSON)
    many = [session() for _ in range(5)]
    for number, each in enumerate(many):
        each.codec = packed if number % 2 else text
        assert isinstance(each.line, RecordingLine)
        each.line.heard.codec = each.codec
    tell_all(many, WORD)
    assert [heard(each) for each in many] == [[WORD]] * 5
    assert (packed.encoded, text.encoded) == (1, 1)


def test_only_the_audience_of_a_table_hears_what_is_told_there() -> None:
    hub = Hub()
    anna, bert, cleo = session("anna"), session("bert"), session("cleo")
    for each in (anna, bert, cleo):
        hub.enter(each)
    hub.follow(anna, CODE)
    hub.follow(bert, CODE)
    hub.follow(bert, OTHER)
    hub.tell_table(CODE, WORD)
    assert [len(heard(each)) for each in (anna, bert, cleo)] == [1, 1, 0]
    hub.unfollow(bert, CODE)
    hub.tell_table(CODE, WORD)
    hub.tell_table(OTHER, WORD)
    hub.tell_table("no-table-00", WORD)
    assert [len(heard(each)) for each in (anna, bert, cleo)] == [2, 2, 0]
    assert set(hub.followed()) == {CODE, OTHER}


def test_who_goes_follows_nothing_any_more() -> None:
    hub = Hub()
    anna = session("anna")
    hub.enter(anna)
    hub.follow(anna, CODE)
    hub.follow(anna, OTHER)
    assert hub.sessions_of("anna") == [anna]
    hub.leave(anna)
    assert (hub.followed(), hub.audience(CODE), hub.sessions_of("anna")) == ([], frozenset(), [])
    hub.leave(anna)
    hub.unfollow(anna, CODE)


def test_standings_are_sent_once_a_tick_and_as_they_are_then() -> None:
    hub = Hub()
    anna = session("anna")
    hub.follow(anna, CODE)
    for place in (1, 2, 3):
        hub.standings_changed(CODE, lambda place=place: standings(place))  # type: ignore[misc]
    assert heard(anna) == []
    hub.tick()
    assert heard(anna) == [standings(3)]
    hub.tick()
    assert heard(anna) == [standings(3)]


def test_many_tables_are_told_in_turns_and_one_that_is_settled_meanwhile_is_not() -> None:
    hub = Hub()
    tables = [f"table-{number}" for number in range(2 * TOLD_AT_ONCE)]
    told: list[str] = []
    for code in tables:
        hub.follow(session(code), code)
        hub.standings_changed(code, lambda code=code: told.append(code))  # type: ignore[misc]
    turns = hub.ticks()
    next(turns)
    assert told == tables[:TOLD_AT_ONCE]
    hub.standings_settled(tables[-1])
    assert list(turns) == [None]
    assert told == tables[:-1]
    assert hub._changed == {}


def test_standings_that_nobody_follows_are_not_worked_out() -> None:
    hub = Hub()
    asked: list[int] = []
    hub.standings_changed(CODE, lambda: asked.append(1))
    hub.tick()
    assert asked == []


def test_standings_that_are_settled_are_not_sent() -> None:
    hub = Hub()
    anna = session("anna")
    hub.follow(anna, CODE)
    hub.standings_changed(CODE, lambda: standings(1))
    hub.standings_settled(CODE)
    hub.tick()
    assert heard(anna) == []


def test_who_goes_leaves_nothing_behind() -> None:
    hub, one = Hub(), session("p")
    hub.enter(one)
    for code in (CODE, OTHER):
        hub.follow(one, code)
    hub.unfollow(one, OTHER)
    hub.leave(one)
    assert (hub._audiences, hub._followed, hub.sessions) == ({}, {}, set())
