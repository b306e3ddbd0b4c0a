"""Lists that many look at: public tables, leaderboards, and what is sent to whom."""

from collections.abc import AsyncIterator

import pytest

from kit.in_process_server import InProcessServer, always, listed, open_in_process_server
from kit.players import MemoryPlayer, Received, RecordingConnection
from kit.results import add_results
from kit.tables import SEED
from saratoga_protocol.codec import CODECS, JSON, MSGPACK, Codec
from saratoga_protocol.commands import (
    ChangeSettings,
    Command,
    CreateTable,
    GetLeaderboard,
)
from saratoga_protocol.events import Announcement, Event, Leaderboard
from saratoga_server.domain.tables import close
from saratoga_server.limits import RateLimiter
from saratoga_server.live.broadcaster import send_to_all
from saratoga_server.live.leaderboards import UNCHANGED_EVERY
from saratoga_server.live.public_tables import MOST_PLACES
from saratoga_server.live.session import Session

# The list of public tables, which is right also after restarts


async def opened_by(
    server: InProcessServer, name: str, address: str, public: bool = True
) -> MemoryPlayer:
    """Connect a player from this address, who opens a table."""
    player = await server.player(name)
    player.session.address = address
    player.session.quota = RateLimiter(lambda: 0.0).open(address)
    await player.at_table(CreateTable, game="canfield", public=public)
    return player


async def test_one_address_has_eight_places_until_one_of_its_tables_is_private_or_closed(
    server: InProcessServer,
) -> None:
    first, second, *_ = [
        await opened_by(server, f"Crowd {number}", f"2001:db8:0:{number}::1")  # one household
        for number in range(MOST_PLACES)
    ]
    ninth = await opened_by(server, "Nina", "2001:db8::99", public=False)
    public = {"table": ninth.table.code, "public": True}
    assert await ninth.refused(ChangeSettings, **public) == "bad_settings"
    assert await second.refused(CreateTable, game="canfield", public=True) == "bad_settings"
    other = await opened_by(server, "Otto", "2001:db8:0:100::1")
    assert len(await listed(other)) == MOST_PLACES + 1
    await first.ask(ChangeSettings, table=first.table.code, public=False)
    await ninth.ask(ChangeSettings, **public)
    names = [name for name, *_ in await listed(other)]
    assert ("Nina" in names, "Crowd 0" in names) == (True, False)
    assert (
        await first.refused(ChangeSettings, table=first.table.code, public=True) == "bad_settings"
    )
    await server.node.tables.change(
        second.table.code,
        lambda state, now: close(state, "Closing time.", now=now, fresh_seed=SEED),
    )
    await first.ask(ChangeSettings, table=first.table.code, public=True)


# Leaderboards: pages, subscriptions, and results that are not settled yet


BANKS_SOME = (
    "stock=5C6C7C8C9CTC waste=- reserve=- up=1,1,1,1 down=- columns=2D/2H/2C/2S base=1 passes=1"
)


async def raced(server: InProcessServer, *racers: MemoryPlayer, banks: tuple[int, ...]) -> str:
    """Finish a race in which each racer banks that many cards; return the race's id."""
    code = await server.race(*racers)
    for racer, count in zip(racers, banks, strict=True):
        await racer.moves(*["t1>up", "t2>up", "t3>up", "t4>up"][:count], "draw")
    for racer in racers:
        await racer.cash_out()
    await server.settle()
    return f"{code}/1"


def rows(page: Leaderboard) -> list[tuple[int, str, int]]:
    return [(row.rank, row.name, row.value) for row in page.rows]


@pytest.fixture
async def after_a_race() -> AsyncIterator["AfterRace"]:
    async with open_in_process_server(always(BANKS_SOME)) as server:
        anna, bert = await server.player("Anna"), await server.player("Bert")
        yield server, anna, bert, await raced(server, anna, bert, banks=(2, 3))


AfterRace = tuple[InProcessServer, MemoryPlayer, MemoryPlayer, str]


@pytest.mark.parametrize("period", ["day", "week", "month", "all"])
async def test_a_ranked_race_is_on_the_leaderboards(after_a_race: AfterRace, period: str) -> None:
    _, anna, bert, race = after_a_race
    best = await anna.ask(GetLeaderboard, game="canfield", period=period)
    assert rows(best) == [(1, "Bert", 7), (2, "Anna", 6)]
    assert best.me is not None
    assert (best.me.rank, best.me.player, best.me.race) == (2, anna.player, race)
    assert (best.total, best.offset, best.bots, best.re) == (2, 0, False, anna.last_id)
    bankroll = await bert.ask(GetLeaderboard, game="canfield", ranking="bankroll", period=period)
    assert rows(bankroll) == [(1, "Bert", -15), (2, "Anna", -20)]


async def test_a_page_around_the_player_has_their_row_in_the_middle() -> None:
    async with open_in_process_server(always(BANKS_SOME)) as server:
        anna, bert = await server.player("Anna"), await server.player("Bert")
        await add_results(server.store, 30)
        await raced(server, anna, bert, banks=(4, 1))
        await server.pass_time(1000)
        page = await anna.ask(GetLeaderboard, game="canfield", around_me=True, limit=5)
        ranks = [row.rank for row in page.rows]
        assert page.me is not None
        assert page.me.rank == 31
        assert ranks == [29, 30, 31, 32]
        stranger = await server.player("Cleo")
        first = await stranger.ask(GetLeaderboard, game="canfield", around_me=True, limit=5)
        assert (first.offset, first.me) == (0, None)


# Subscriptions


async def test_a_followed_leaderboard_is_sent_again_after_a_race() -> None:
    async with open_in_process_server(always(BANKS_SOME)) as server:
        anna, bert, wanda = [await server.player(name) for name in ("Anna", "Bert", "Wanda")]
        now = await wanda.ask(GetLeaderboard, follow=True, game="canfield", period="all")
        assert isinstance(now, Leaderboard)
        assert (now.rows, now.re) == ([], wanda.last_id)
        told = len(wanda.received.events)
        await raced(server, anna, bert, banks=(1, 2))
        await server.pass_time(1000)
        (page,) = wanda.received.all(Leaderboard, told)
        assert (rows(page), page.re) == ([(1, "Bert", 6), (2, "Anna", 5)], None)
        await server.pass_time(1000 * UNCHANGED_EVERY)
        assert len(wanda.received.all(Leaderboard, told)) == 1, "nothing has changed since"


# Followers of tables, and events that go to many connections


EVENT = Announcement(text="maintenance at noon")


class CountingCodec(Codec):
    """A codec that counts what it encodes."""

    def __init__(self, subprotocol: str) -> None:
        super().__init__(subprotocol)
        self.encoded = 0

    def encode(self, message: Command | Event) -> bytes | str:
        self.encoded += 1
        return super().encode(message)


def session(player: str = "", subprotocol: str = MSGPACK) -> Session:
    heard = Received(CODECS[subprotocol])
    return Session(
        connection=RecordingConnection(heard),
        codec=CODECS[subprotocol],
        address="",
        number=1,
        player=player,
    )


def received(by: Session) -> list[Event]:
    assert isinstance(by.connection, RecordingConnection)
    return by.connection.received.events


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
