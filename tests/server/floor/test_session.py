"""One connection, as the house sees it."""

import pytest

from kit.guests import Heard, RecordingLine
from saratoga_protocol.codec import CODECS
from saratoga_protocol.events import Announcement
from saratoga_protocol.version import JSON, SUBPROTOCOLS
from saratoga_server.floor.session import Session


@pytest.mark.parametrize("subprotocol", SUBPROTOCOLS)
def test_an_event_is_sent_in_the_connections_own_encoding(subprotocol: str) -> None:
    heard = Heard(CODECS[subprotocol])
    session = Session(line=RecordingLine(heard), codec=CODECS[subprotocol], address="", number=1)
    session.tell(Announcement(text="hello"))
    assert heard.events == [Announcement(text="hello")]
    assert isinstance(heard.frames[0], str) == (subprotocol == JSON)


def test_a_connection_is_nobodys_and_follows_nothing_at_first() -> None:
    heard = Heard(CODECS[JSON])
    one, two = (
        Session(line=RecordingLine(heard), codec=CODECS[JSON], address="", number=n) for n in (1, 2)
    )
    assert (one.player, one.seat, one.watching, one.leaderboard) == ("", None, set(), None)
    one.watching.add("mint-otter-42")
    assert two.watching == set()
    assert one != two
