"""A bot at a table: ready, start, race, next race, and errors."""

import asyncio
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path

import pytest
from msgspec.structs import replace

from kit.messages import racer
from kit.scripted_server import (
    CODE,
    NOON,
    PLAYER,
    RACE,
    TOKEN,
    ScriptedPeer,
    ScriptedServer,
    outcome,
    scripted_server,
    snapshot,
    table,
    welcome_back,
)
from saratoga_client.bots.choose import CHOOSERS, Strength
from saratoga_client.bots.player import Report, TablePlayer
from saratoga_client.bots.seat import claim_identity, seated_bot
from saratoga_client.net.connection import Connection, Timing
from saratoga_client.net.errors import CommandRefused
from saratoga_client.problems import Exit, Problem
from saratoga_protocol import commands, events
from saratoga_protocol.views import wire_view
from saratoga_rules.dealing.deal import deal_for_key, practice_key
from saratoga_rules.games import GAMES
from saratoga_rules.position import Position, redact

START = deal_for_key(GAMES["canfield"], practice_key("player"))
RIVAL = events.Seat(player="r" * 16, name="Rita", ready=True)

pytestmark = pytest.mark.usefixtures("impatient_checks")


class Bot:
    """A bot at a table, and the server's side of its connection."""

    def __init__(self, connection: Connection, peer: ScriptedPeer, player: TablePlayer) -> None:
        self.connection = connection
        self.peer = peer
        self.staying: asyncio.Future[Report] = asyncio.ensure_future(player.stay())

    async def done(self) -> commands.Command:
        """Answer the bot's next command with `Done`, and refuse records before it; return the command."""
        while isinstance(command := await self.peer.command(), commands.GetRecord):
            no = events.Refused(re=command.id, code="no_such_race", message="No.")
            await self.peer.send(no)
        await self.peer.send(events.Done(re=command.id))
        return command


async def sit_down(client: Connection, peer: ScriptedPeer) -> None:
    """Give the client a seat, with a snapshot in which nothing is to be done."""
    sitting = asyncio.ensure_future(
        client.ask(partial(commands.JoinTable, table=CODE), events.Snapshot)
    )
    join = await peer.command()
    await peer.send(replace(snapshot(re=join.id), table=table(version=0, phase="closed")))
    await sitting


@pytest.fixture
async def bot(server: ScriptedServer) -> AsyncIterator[Bot]:
    async with Connection(server.url, TOKEN, name="Otto", bot=True) as client:
        peer = await server.peer()
        assert peer.hello is not None
        assert peer.hello.bot
        await sit_down(client, peer)
        player = TablePlayer(client, CHOOSERS[Strength.WEAK], pace=0, races=1, starts_with=2)
        bot = Bot(client, peer, player)
        yield bot
        bot.staying.cancel()
        await asyncio.gather(bot.staying, return_exceptions=True)


def gathered(ready: commands.Ready | None = None, version: int = 2) -> events.TableChanged:
    """Return the table with the bot as its host, ready if the bot has sent `ready`."""
    own = events.Seat(player=PLAYER, name="Otto", bot=True)
    if ready is not None:
        own = replace(own, ready=True)
    return events.TableChanged(table=replace(table(version=version), seats=[own, RIVAL]), now=NOON)


def board(position: Position = START, state: str = "racing") -> events.BoardView:
    return events.BoardView(
        race=RACE,
        count=0,
        view=wire_view(redact(position)),
        banked=1,
        net=-45,
        state=state,
        head="0" * 16,
    )


def dealt() -> events.BoardChanged:
    return events.BoardChanged(board=board(), start_at=NOON, deadline=NOON + 600_000, now=NOON)


async def ready_bot(bot: Bot) -> commands.Ready:
    await bot.peer.send(snapshot(), gathered())
    ready = await bot.done()
    assert isinstance(ready, commands.Ready)
    return ready


async def test_a_bot_does_not_get_ready_for_a_game_that_it_does_not_know(bot: Bot) -> None:
    known = gathered().table
    golf = replace(known.settings, game="golf")
    newer = replace(known, version=1, settings=golf, commitment="f" * 64)
    await bot.peer.send(replace(snapshot(), table=newer), gathered())
    ready = await bot.done()
    assert isinstance(ready, commands.Ready)
    assert ready.commitment == known.commitment


async def test_a_bot_that_comes_back_to_a_board_of_a_game_that_it_does_not_know_plays_the_next_race(
    bot: Bot,
) -> None:
    settings = replace(table().settings, game="golf")
    running = replace(table(phase="running"), settings=settings)
    following = replace(gathered(version=3).table, race=f"{CODE}/2", commitment="f" * 64)
    await bot.peer.send(
        replace(snapshot(), table=running, board=board()),
        events.TableChanged(table=following, now=NOON),
    )
    ready = await bot.done()
    assert isinstance(ready, commands.Ready)
    assert ready.commitment == following.commitment


async def test_a_bot_that_is_host_starts_when_enough_are_ready(bot: Bot) -> None:
    ready = await ready_bot(bot)
    await bot.peer.send(gathered(ready, version=3))
    assert isinstance(await bot.done(), commands.Start)


async def test_a_bot_gets_ready_in_the_call(bot: Bot) -> None:
    called = replace(gathered(version=3).table, phase="call")
    await bot.peer.send(events.TableChanged(table=called, now=NOON))
    assert isinstance(await bot.done(), commands.Ready)


async def test_a_bot_that_runs_its_table_allows_a_player_who_voided_five_countdowns_and_no_more(
    bot: Bot,
) -> None:
    ready = await ready_bot(bot)
    for version, voids in enumerate((5, 6), start=3):
        blocked = replace(RIVAL, ready=False, voids=voids, blocked=True)
        changed = gathered(ready, version=version)
        seats = [changed.table.seats[0], blocked]
        await bot.peer.send(
            events.TableChanged(table=replace(changed.table, seats=seats), now=NOON)
        )
        if voids == 5:
            allowed = await bot.done()
            assert allowed == commands.AllowReady(id=allowed.id, table=CODE, player=RIVAL.player)
    await bot.peer.send(gathered(ready, version=5))
    assert isinstance(await bot.done(), commands.Start), "nothing was allowed before"


async def test_a_blocked_bot_waits_for_the_hosts_permission(bot: Bot) -> None:
    table_ = gathered(version=3).table
    blocked = [replace(table_.seats[0], blocked=True, voids=1), RIVAL]
    await bot.peer.send(
        events.TableChanged(table=replace(table_, host=RIVAL.player, seats=blocked), now=NOON)
    )
    await bot.peer.send(
        events.TableChanged(table=replace(table_, host=RIVAL.player, version=4), now=NOON)
    )
    assert isinstance(await bot.done(), commands.Ready)
    assert not bot.staying.done()


async def test_a_new_commitment_is_answered_with_a_new_ready(bot: Bot) -> None:
    ready = await ready_bot(bot)
    changed = gathered(version=4)
    anew = replace(changed, table=replace(changed.table, commitment="d1" * 32))
    await bot.peer.send(anew)
    again = await bot.done()
    assert isinstance(again, commands.Ready)
    assert again.commitment != ready.commitment
    assert again.nonce_hash != ready.nonce_hash


async def test_a_bot_that_gets_no_answer_plays_on(server: ScriptedServer) -> None:
    timing = Timing(answer_within=0.3)
    async with Connection(server.url, TOKEN, timing=timing) as client:
        peer = await server.peer()
        await sit_down(client, peer)
        bot = Bot(client, peer, TablePlayer(client, CHOOSERS[Strength.WEAK], pace=0))
        await peer.send(snapshot(), gathered())
        assert isinstance(await peer.command(), commands.Ready)
        await peer.send(gathered(version=3))
        assert isinstance(await bot.done(), commands.Ready)
        bot.staying.cancel()
        await asyncio.gather(bot.staying, return_exceptions=True)


async def test_a_refused_late_ready_is_harmless(bot: Bot) -> None:
    await bot.peer.send(snapshot())
    late = await bot.peer.command()
    await bot.peer.send(events.Refused(re=late.id, code="wrong_commitment", message="Look again."))
    changed = gathered(version=5)
    await bot.peer.send(replace(changed, table=replace(changed.table, commitment="d1" * 32)))
    assert isinstance(await bot.done(), commands.Ready)


async def test_a_bot_plays_its_board_until_the_server_ends_it(bot: Bot) -> None:
    await ready_bot(bot)
    await bot.peer.send(dealt())
    assert isinstance(await bot.peer.command(), commands.MakeMove)
    await bot.peer.send(
        events.BoardChanged(board=board(state="out-of-time"), place=1, entries=["1 1 out-of-time"]),
        events.RaceOver(outcome=outcome()),
    )
    report = await bot.staying
    assert report.outcomes == [outcome()]
    assert report.openings == {RACE: board().view}


async def test_a_race_that_ended_while_the_connection_was_lost_counts(bot: Bot) -> None:
    await ready_bot(bot)
    await bot.peer.send(dealt())
    await bot.peer.command()
    await bot.peer.send(replace(snapshot(), outcome=outcome()))
    assert (await bot.staying).outcomes == [outcome()]


async def test_a_race_before_the_bot_came_does_not_count(bot: Bot) -> None:
    over = replace(snapshot(), table=table(phase="over"), outcome=outcome())
    await bot.peer.send(over)
    assert isinstance(await bot.done(), commands.NextRace)
    fresh = replace(gathered(version=7).table, race=f"{CODE}/2", commitment="c2" * 32)
    await bot.peer.send(events.TableChanged(table=fresh, now=NOON))
    assert isinstance(await bot.done(), commands.Ready)
    assert not bot.staying.done()


async def test_a_bot_does_not_race_a_deal_whose_countdown_it_has_seen(bot: Bot) -> None:
    counting = replace(
        gathered(version=3).table, phase="countdown", racers=[racer(RIVAL.player, "Bert")]
    )
    await bot.peer.send(events.TableChanged(table=counting, now=NOON), gathered(version=4))
    fresh = replace(gathered(version=5).table, commitment="c2" * 32)
    await bot.peer.send(events.TableChanged(table=fresh, now=NOON))
    ready = await bot.done()
    assert isinstance(ready, commands.Ready)
    assert ready.commitment == "c2" * 32


async def test_a_bot_that_lost_its_seat_reports_the_reason(bot: Bot) -> None:
    await ready_bot(bot)
    await bot.peer.send(events.SeatLost(table=CODE, reason="the host sent it away"))
    with pytest.raises(Problem, match="sent it away") as ended:
        await bot.staying
    assert ended.value.code is Exit.REFUSED


async def test_a_lasting_refusal_ends_the_bot(bot: Bot) -> None:
    await bot.peer.send(snapshot())
    ready = await bot.peer.command()
    await bot.peer.send(events.Refused(re=ready.id, code="not_seated", message="No seat."))
    with pytest.raises(CommandRefused):
        await bot.staying


async def test_a_lost_connection_costs_a_bot_no_move(server: ScriptedServer, bot: Bot) -> None:
    await ready_bot(bot)
    await bot.peer.send(dealt())
    move = await bot.peer.command()
    server.greeting = welcome_back
    bot.peer.cut()
    again = await server.peer()
    join = await again.command()
    assert join == commands.JoinTable(id=join.id, table=CODE)
    running = table(version=3, phase="running")
    await again.send(replace(snapshot(re=join.id), table=running, board=board()))
    assert await again.command() == move


async def test_a_bot_that_races_without_end_keeps_no_deals_and_results(
    server: ScriptedServer,
) -> None:
    async with Connection(server.url, TOKEN) as client:
        peer = await server.peer()
        await sit_down(client, peer)
        player = TablePlayer(client, CHOOSERS[Strength.WEAK], pace=0)
        bot = Bot(client, peer, player)
        await ready_bot(bot)
        await peer.send(dealt())
        assert isinstance(await peer.command(), commands.MakeMove)
        later = replace(gathered(version=9).table, race=f"{CODE}/2", commitment="d1" * 32)
        next_race = events.TableChanged(table=later, now=NOON)
        await peer.send(events.RaceOver(outcome=outcome()), next_race)
        assert isinstance(await bot.done(), commands.Ready)
        assert (player.report.openings, player.report.outcomes) == ({}, [])
        bot.staying.cancel()
        await asyncio.gather(bot.staying, return_exceptions=True)


JOIN = partial(commands.JoinTable, table=CODE)
NOWHERE = "ws://127.0.0.1:1"


async def test_a_bot_joins_under_its_name_and_leaves_at_the_end(tmp_path: Path) -> None:
    async with scripted_server() as server:
        visit = await _bot_comes_and_goes(server, tmp_path)
    assert visit == ["Otto", "JoinTable", "LeaveTable"]


async def _bot_comes_and_goes(server: ScriptedServer, folder: Path) -> list[str]:
    """Let a bot join and leave; return its name and the commands that it sent."""
    bot = seated_bot(server.url, JOIN, "strong", name="Otto", folder=folder)
    entering = asyncio.ensure_future(bot.__aenter__())
    peer = await server.peer()
    assert peer.hello is not None
    assert (peer.hello.bot, peer.hello.level) == (True, "strong")
    join = await peer.command()
    await peer.send(snapshot(re=join.id))
    seated = await entering
    assert seated.code == CODE
    assert seated.shown_name == "Otto [strong bot]"
    leaving = asyncio.ensure_future(bot.__aexit__(None, None, None))
    leave = await peer.command()
    await peer.send(events.Done(re=leave.id))
    await leaving
    return [peer.hello.name or "", type(join).__name__, type(leave).__name__]


async def test_a_bot_that_runs_already_is_not_started_twice(tmp_path: Path) -> None:
    with (
        claim_identity("Gus", NOWHERE, tmp_path),
        pytest.raises(Problem, match="Gus is already running"),
    ):
        async with seated_bot(NOWHERE, JOIN, "strong", name="Gus", folder=tmp_path):
            pass


async def test_a_secret_that_others_can_read_is_refused(tmp_path: Path) -> None:
    with claim_identity("Gus", NOWHERE, tmp_path):
        pass
    (tmp_path / "gus.secret").chmod(0o644)
    with pytest.raises(Problem, match="chmod 600"):
        async with seated_bot(NOWHERE, JOIN, "strong", name="Gus", folder=tmp_path):
            pass
