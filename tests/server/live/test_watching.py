"""Watchers: so many of a table, and fewer of one address."""

import pytest

from kit.guests import Heard, RecordingLine
from saratoga_protocol.codec import CODECS
from saratoga_protocol.version import MSGPACK
from saratoga_server.domain.tables import Refusal
from saratoga_server.live.session import Session
from saratoga_server.live.watching import check_room_to_watch
from saratoga_server.rate_limits.limiter import NO_CONNECTION, RateLimiter
from saratoga_server.rate_limits.rates import MAX_WATCHERS, MAX_WATCHERS_PER_ADDRESS

CODE, CODEC = "mint-otter-42", CODECS[MSGPACK]


class Audience:
    """Everybody who follows one table."""

    def __init__(self, factor: float | None = 1.0) -> None:
        self.limiter = RateLimiter(lambda: 0.0, factor=factor)
        self.sessions: list[Session] = []

    def comes(self, address: str) -> Session:
        """Somebody from there follows the table, for having a seat to begin with."""
        session = Session(
            connection=RecordingLine(Heard(CODEC)),
            codec=CODEC,
            address=address,
            number=1,
            quota=self.limiter.open(address, NO_CONNECTION),
        )
        self.sessions.append(session)
        return session

    def watches(self, session: Session) -> bool:
        """Whether the session may watch; if so, it does."""
        try:
            check_room_to_watch(session, CODE, self.sessions)
        except Refusal:
            return False
        session.watching |= {CODE}
        return True


def test_one_address_has_so_many_watchers_and_leaves_room_for_others() -> None:
    audience = Audience()
    crowd = [audience.comes("203.0.113.7") for _ in range(MAX_WATCHERS)]
    assert [audience.watches(each) for each in crowd].count(True) == MAX_WATCHERS_PER_ADDRESS
    assert audience.watches(crowd[0])
    assert not audience.watches(crowd[-1])
    assert audience.watches(audience.comes("198.51.100.9"))
    crowd[0].watching -= {CODE}
    assert audience.watches(crowd[-1])


def test_a_table_has_so_many_watchers_and_no_more() -> None:
    audience = Audience()
    for number in range(MAX_WATCHERS):
        assert audience.watches(audience.comes(f"10.0.0.{number}"))
    assert not audience.watches(audience.comes("198.51.100.9"))


@pytest.mark.parametrize(("factor", "address"), [(None, "203.0.113.7"), (1.0, "127.0.0.1")])
def test_where_addresses_have_no_limits_only_the_table_has(
    factor: float | None, address: str
) -> None:
    audience = Audience(factor)
    crowd = [audience.comes(address) for _ in range(MAX_WATCHERS + 1)]
    assert [audience.watches(each) for each in crowd] == [True] * MAX_WATCHERS + [False]
