"""Watching tables: the events for watchers, their number, and the end of watching."""

import pytest

from kit.in_process_server import InProcessServer, gathered, listed
from kit.players import MemoryPlayer, Received, RecordingConnection
from saratoga_protocol.codec import CODECS
from saratoga_protocol.commands import (
    JoinTable,
    LeaveTable,
    LockTable,
    UnwatchTable,
    WatchTable,
)
from saratoga_protocol.events import (
    BoardEnded,
    Dealt,
    SeatLost,
    Snapshot,
    Standings,
    TableChanged,
)
from saratoga_protocol.version import MSGPACK
from saratoga_server.domain.tables import CommandRejected
from saratoga_server.domain.tables.timers import EMPTY_MILLIS, UNUSED_MILLIS
from saratoga_server.handlers.watching import MOST_WATCHED, check_room_to_watch
from saratoga_server.live.session import Session
from saratoga_server.rate_limits.limiter import NO_CONNECTION, RateLimiter
from saratoga_server.rate_limits.rates import MAX_WATCHERS, MAX_WATCHERS_PER_ADDRESS

CODE, CODEC = "mint-otter-42", CODECS[MSGPACK]


async def players(server: InProcessServer, *names: str) -> list[MemoryPlayer]:
    return [await server.player(name) for name in names]


async def test_a_watcher_sees_standings_and_never_a_board(server: InProcessServer) -> None:
    anna, bert, wanda = await players(server, "Anna", "Bert", "Wanda")
    code = await server.race(anna, bert)
    snapshot = await wanda.at_table(WatchTable, table=code)
    assert snapshot.board is None
    assert [row.banked for row in snapshot.standings] == [1, 1]
    await anna.moves("draw")
    await anna.cash_out()
    await server.pass_time(250)
    rows = {row.player: row.state for row in wanda.received.all(Standings)[-1].standings}
    assert rows == {anna.player: "cashed out", bert.player: "racing"}
    assert wanda.received.all(Dealt) == []
    assert wanda.received.all(BoardEnded) == []


async def test_a_player_who_only_watches_from_a_second_tab_is_refused_and_may_stay(
    server: InProcessServer,
) -> None:
    (anna,) = await players(server, "Anna")
    code = await gathered(anna)
    (tab,) = await players(server, "Anna")
    await tab.at_table(WatchTable, table=code)
    assert await tab.refused(LockTable, table=code, locked=True) == "taken_over"
    assert tab.close_codes == []


async def test_after_unwatching_nothing_more_is_sent(server: InProcessServer) -> None:
    anna, wanda = await players(server, "Anna", "Wanda")
    code = await gathered(anna)
    await wanda.at_table(WatchTable, table=code)
    await wanda.ask(UnwatchTable, table=code)
    told = len(wanda.received.events)
    await anna.ready()
    assert wanda.received.events[told:] == []


async def test_watching_and_unwatching_the_own_table_keeps_the_seat(
    server: InProcessServer,
) -> None:
    anna, bert = await players(server, "Anna", "Bert")
    code = await gathered(anna, bert)
    await anna.at_table(WatchTable, table=code)
    await anna.ask(UnwatchTable, table=code)
    told = len(anna.received.events)
    await bert.ready()
    assert len(anna.received.all(TableChanged, told)) == 1


async def test_one_connection_watches_a_limited_number_of_tables(
    server: InProcessServer,
) -> None:
    (wanda,) = await players(server, "Wanda")
    codes = []
    for number in range(MOST_WATCHED + 1):
        host = await server.player(f"Host {number + 10}")
        codes.append(await gathered(host))
    for code in codes[:-1]:
        await wanda.at_table(WatchTable, table=code)
    answer = await wanda.ask(WatchTable, table=codes[-1])
    # a limit that lasts: a client that repeated the command would loop for ever
    assert (answer.code, answer.retry) == ("watch_limit", False)
    await wanda.at_table(WatchTable, table=codes[0])
    await wanda.ask(UnwatchTable, table=codes[0])
    await wanda.at_table(WatchTable, table=codes[-1])


# The end of a table


async def test_an_empty_table_is_not_listed_and_is_closed_after_a_while(
    server: InProcessServer,
) -> None:
    anna, bert = await players(server, "Anna", "Bert")
    code = await gathered(anna, public=True)
    await bert.at_table(WatchTable, table=code)
    await anna.ask(LeaveTable, table=code)
    assert await listed(anna) == []
    await server.pass_time(EMPTY_MILLIS)
    assert [lost.table for lost in bert.received.all(SeatLost)] == [code]
    assert await anna.refused(JoinTable, table=code) == "table_closed"
    assert await anna.refused(WatchTable, table=code) == "table_closed"
    await server.pass_time(0)
    assert server.node.table_cache.known(code) is None


async def test_an_idle_table_is_closed(server: InProcessServer) -> None:
    anna, bert = await players(server, "Anna", "Bert")
    code = await gathered(anna, bert, public=True)
    await server.pass_time(UNUSED_MILLIS)
    for player in (anna, bert):
        assert [lost.table for lost in player.received.all(SeatLost)] == [code]
    assert await listed(anna) == []
    await gathered(bert, anna)


# The number of watchers


async def test_a_full_table_of_watchers_still_takes_a_player(
    server: InProcessServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("saratoga_server.handlers.watching.MAX_WATCHERS", 1)
    anna, bert, cleo = [await server.player(name) for name in ("Anna", "Bert", "Cleo")]
    code = await gathered(anna)
    await bert.ask(WatchTable, table=code)
    await bert.ask(WatchTable, table=code)
    assert await cleo.refused(WatchTable, table=code) == "table_full"
    assert isinstance(await cleo.ask(JoinTable, table=code), Snapshot)
    await bert.ask(UnwatchTable, table=code)
    assert isinstance(await cleo.ask(WatchTable, table=code), Snapshot)


async def test_watchers_of_one_address_leave_room_for_others_at_a_table(
    server: InProcessServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("saratoga_server.rate_limits.limiter.MAX_WATCHERS_PER_ADDRESS", 2)
    limiter = RateLimiter(server.time.steady)
    anna = await server.player("Anna")
    code = await gathered(anna)
    crowd = [await server.player(name) for name in ("Bert", "Cleo", "Dan")]
    outside = await server.player("Emma")
    for player in crowd:
        player.session.quota = limiter.open("203.0.113.7", NO_CONNECTION)
    outside.session.quota = limiter.open("198.51.100.9", NO_CONNECTION)
    bert, cleo, dan = crowd
    for player in (bert, cleo, bert):
        assert isinstance(await player.ask(WatchTable, table=code), Snapshot)
    assert await dan.refused(WatchTable, table=code) == "table_full"
    assert isinstance(await outside.ask(WatchTable, table=code), Snapshot)
    await cleo.ask(UnwatchTable, table=code)
    assert isinstance(await dan.ask(WatchTable, table=code), Snapshot)


class Audience:
    """The sessions that follow one table."""

    def __init__(self, factor: float | None = 1.0) -> None:
        self.limiter = RateLimiter(lambda: 0.0, factor=factor)
        self.sessions: list[Session] = []

    def comes(self, address: str) -> Session:
        """Return a new session from that address among the table's sessions; it does not watch yet."""
        session = Session(
            connection=RecordingConnection(Received(CODEC)),
            codec=CODEC,
            address=address,
            number=1,
            quota=self.limiter.open(address, NO_CONNECTION),
        )
        self.sessions.append(session)
        return session

    def watches(self, session: Session) -> bool:
        """Let the session watch; return whether it was allowed."""
        try:
            check_room_to_watch(session, CODE, self.sessions)
        except CommandRejected:
            return False
        session.watching |= {CODE}
        return True


def test_one_address_has_a_limited_number_of_watchers() -> None:
    audience = Audience()
    crowd = [audience.comes("203.0.113.7") for _ in range(MAX_WATCHERS)]
    assert [audience.watches(each) for each in crowd].count(True) == MAX_WATCHERS_PER_ADDRESS
    assert audience.watches(crowd[0])
    assert not audience.watches(crowd[-1])
    assert audience.watches(audience.comes("198.51.100.9"))
    crowd[0].watching -= {CODE}
    assert audience.watches(crowd[-1])


def test_a_table_has_a_limited_number_of_watchers() -> None:
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
