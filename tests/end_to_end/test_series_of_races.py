"""Several races at one table, over WebSockets and on a real store: players join, race and leave."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from random import Random

import pytest

from kit.in_process_server import counted_down, gathered
from kit.listening_server import ListeningServer, listening_server
from kit.player_sockets import SocketPlayer, player_at
from kit.walks import banking, wandering
from saratoga_protocol.codec import JSON, MSGPACK
from saratoga_protocol.commands import (
    ChangeSettings,
    GetLeaderboard,
    GetRecord,
    JoinTable,
    Kick,
    LeaveTable,
    ListTables,
    MakeMove,
    NextRace,
    Resume,
    WatchTable,
)
from saratoga_protocol.events import (
    BoardChanged,
    Done,
    Leaderboard,
    Outcome,
    RaceOver,
    Record,
    SeatLost,
    TableChanged,
)
from saratoga_protocol.refusals import RESTARTING, TAKEN_OVER
from saratoga_rules.games import GAMES
from saratoga_rules.money import net
from saratoga_rules.moves import parse_move
from saratoga_rules.records.record import parse_record
from saratoga_rules.records.verify import verify
from saratoga_server.store.opening import Store

FRIENDS = (("Anna", JSON), ("Bert", MSGPACK), ("Cleo", JSON))


@pytest.fixture(autouse=True)
def _short_countdowns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("saratoga_server.domain.tables.countdown.CALL_MILLIS", 1)
    monkeypatch.setattr("saratoga_server.domain.tables.countdown.COUNTDOWN_MILLIS", 30)


@pytest.fixture
async def server(valkey: Store) -> AsyncIterator[ListeningServer]:
    async with listening_server(valkey) as opened:
        yield opened


async def friends(server: ListeningServer, stack: AsyncExitStack) -> list[SocketPlayer]:
    return [
        await stack.enter_async_context(
            player_at(server.url, name, legal=True, subprotocol=subprotocol)
        )
        for name, subprotocol in FRIENDS
    ]


async def sees(friend: SocketPlayer, version: int) -> None:
    """Wait until the player has received this version of the table."""
    while friend.table.version < version:
        await friend.received.next(TableChanged, len(friend.received.events))


async def plays(racer: SocketPlayer, moves: int, chance: Random) -> None:
    """Make up to this many moves, each of which must be acknowledged."""
    for _ in range(moves):
        legal = racer.board.legal
        if not legal:
            return
        strategy = banking if chance.random() < 0.8 else wandering
        answer = await racer.move(str(strategy([parse_move(text) for text in legal], chance)))
        assert isinstance(answer, BoardChanged), answer


async def dealt(*racers: SocketPlayer) -> None:
    """Make all players ready and start; all must be dealt the same position."""
    since = [len(racer.received.events) for racer in racers]
    await counted_down(*racers)
    deals = [
        await racer.received.next(BoardChanged, first, entries=[])
        for racer, first in zip(racers, since, strict=True)
    ]
    assert all(each.board.view == deals[0].board.view for each in deals)


async def finished(*racers: SocketPlayer) -> Outcome:
    """Cash out every racer; return the outcome, which must be the same for every player."""
    race = racers[0].board.race
    for racer in racers:
        if racer.board.state == "racing":
            await racer.cash_out()
    outcomes = []
    for racer in racers:
        over = None
        while over is None or over.outcome.race != race:
            over = await racer.received.next(
                RaceOver, racer.received.events.index(over) + 1 if over else 0
            )
        outcomes.append(over.outcome)
    assert all(outcome == outcomes[0] for outcome in outcomes)
    record = await racers[0].ask(GetRecord, race=race)
    assert isinstance(record, Record)
    parsed = parse_record(record.text)
    assert verify(parsed).ok
    assert record.text.endswith(f"digest {outcomes[0].digest}\n")
    assert {r.player: r.banked for r in parsed.results} == {
        row.player: row.banked for row in outcomes[0].results
    }
    return outcomes[0]


async def test_three_friends_and_a_bot_race_several_games(server: ListeningServer) -> None:
    chance = Random("several races")
    async with AsyncExitStack() as stack:
        anna, bert, cleo = await friends(server, stack)
        otto = await stack.enter_async_context(player_at(server.url, "Otto", bot=True, legal=True))
        wanda = await stack.enter_async_context(player_at(server.url, "Wanda"))
        await wanda.ask(GetLeaderboard, follow=True, game="lafayette", period="all")

        # Canfield, with the bot.
        code = await gathered(anna, bert, cleo, otto, public=True)
        (listed,) = (await wanda.ask(ListTables)).tables
        assert (listed.code, listed.host, listed.seated) == (code, "Anna", 4)
        await wanda.at_table(WatchTable, table=code)
        await dealt(anna, bert, cleo, otto)
        await asyncio.gather(*(plays(racer, 25, chance) for racer in (anna, bert, cleo, otto)))
        first = await finished(anna, bert, cleo, otto)
        assert first.ranked
        names = {racer.player: racer.name for racer in anna.table.racers}
        assert {row.player for row in first.results} == names.keys()

        # The bot is kicked; Lafayette.
        await anna.ask(NextRace, table=code)
        assert isinstance(await anna.ask(Kick, table=code, player=otto.player), Done)
        assert (await otto.received.next(SeatLost, 0)).table == code
        await anna.ask(ChangeSettings, table=code, game="lafayette", cap=3)
        for each in (bert, cleo):
            await sees(each, anna.table.version)
        await dealt(anna, bert, cleo)
        await asyncio.gather(*(plays(racer, 25, chance) for racer in (anna, bert, cleo)))
        # The host leaves in mid-race: the next seat is host, and the race goes on.
        await anna.ask(LeaveTable, table=code)
        second = await finished(bert, cleo)
        assert {row.player: row.state for row in second.results}[anna.player] in (
            "left",
            "stuck",
            "won",
        )
        assert bert.table.host == bert.player
        shown = await wanda.received.next(Leaderboard, 0, re=None, game="lafayette")
        assert {row.name for row in shown.rows} == {"Anna", "Bert", "Cleo"}

        # The totals over all races, for the seats that are still taken.
        totals = {seat.name: (seat.races, seat.net) for seat in bert.table.seats}
        nets = {
            name: sum(
                row.net
                for each in (first, second)
                for row in each.results
                if names[row.player] == name
            )
            for name in ("Bert", "Cleo")
        }
        assert totals == {name: (2, total) for name, total in nets.items()}

        # Leaderboards keep results of people and of bots apart.
        page = await bert.ask(GetLeaderboard, game="canfield", ranking="bankroll", period="all")
        assert {row.name: row.value for row in page.rows} == {
            names[row.player]: row.net for row in first.results if row.player != otto.player
        }
        bots = await bert.ask(GetLeaderboard, game="canfield", bots=True)
        assert {row.name for row in bots.rows} == {"Otto"}
        assert all(row.net == net(GAMES["canfield"], row.banked) for row in first.results)


async def test_a_server_that_restarts_in_mid_race_loses_nothing(valkey: Store) -> None:
    chance = Random("a restart")
    async with AsyncExitStack() as stack:
        async with listening_server(valkey) as before:
            anna, bert, cleo = await friends(before, stack)
            code = await gathered(anna, bert, cleo)
            await dealt(anna, bert, cleo)
            await asyncio.gather(*(plays(racer, 10, chance) for racer in (anna, bert, cleo)))
            boards = {racer.name: racer.board for racer in (anna, bert, cleo)}
        for each in (anna, bert, cleo):
            assert (await each.closed())[0] == RESTARTING.code
        async with listening_server(valkey, name="after") as after, AsyncExitStack() as second:
            back = await friends(after, second)
            for each in back:
                snapshot = await each.at_table(Resume, table=code)
                assert snapshot.board == boards[each.name]
            # A command that may not have been answered is sent again.
            again = MakeMove(
                id=anna.last_id, race=f"{code}/1", after=anna.board.count - 1, move="draw"
            )
            answer = await back[0].send(again)
            assert isinstance(answer, BoardChanged)
            assert (answer.repeat, answer.board) == (True, boards["Anna"])
            await asyncio.gather(*(plays(racer, 10, chance) for racer in back))
            outcome = await finished(*back)
            assert outcome.ranked
            assert {seat.name for seat in back[0].table.seats} == {"Anna", "Bert", "Cleo"}


async def test_a_second_device_takes_over_in_mid_race(server: ListeningServer) -> None:
    async with AsyncExitStack() as stack:
        anna, bert, _ = await friends(server, stack)
        code = await gathered(anna, bert)
        await dealt(anna, bert)
        await plays(anna, 5, Random(1))
        phone = await stack.enter_async_context(player_at(server.url, "Anna", legal=True))
        snapshot = await phone.at_table(JoinTable, table=code)
        assert snapshot.board == anna.board
        assert await anna.closed() == (TAKEN_OVER.code, TAKEN_OVER.reason)
        await plays(phone, 5, Random(2))
        assert all(seat.connected for seat in bert.table.seats)
        await finished(phone, bert)
