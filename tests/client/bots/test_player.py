"""Bots at tables, and the bot host."""

import asyncio
import random
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from kit.client_servers import (
    SteppedNetwork,
    SteppedSession,
)
from kit.in_process_server import (
    ListeningServer,
    gathered,
    listening_server,
    open_in_process_server,
)
from kit.players import RECEIVED_WITHIN, MemoryPlayer, SocketPlayer, player_at, token_of
from kit.session_states import CODE
from saratoga_client.bots import player
from saratoga_client.bots import seat as bots_seat
from saratoga_client.bots.choose import CHOOSERS, Choice, Chooser, Memory
from saratoga_client.bots.player import MOST_REFUSALS, Pace, stay, steady_pace
from saratoga_client.bots.seat import NAMES, claim_identity, seated_bot, serve, variation_of
from saratoga_client.problems import Exit, Problem
from saratoga_client.session.table_session import TableSession
from saratoga_protocol import commands, events
from saratoga_protocol.commands import (
    AddBot,
    ChangeSettings,
    JoinTable,
    Kick,
    LeaveTable,
    NextRace,
    Start,
    player_id,
)
from saratoga_protocol.events import Done, Refused, Table, TableChanged
from saratoga_protocol.refusals import RESTARTING
from saratoga_rules.game import Game
from saratoga_rules.position import View
from saratoga_server.background_tasks import cancel_all
from saratoga_server.domain.tables.countdown import COUNTDOWN_MILLIS
from saratoga_server.store.opening import Store


class Bot(SteppedSession):
    """A bot at Ben's table, on a server in the test's own process."""

    ben: MemoryPlayer
    staying: asyncio.Future[None]

    @property
    def is_ready(self) -> bool:
        return self.state.seat is not None and self.state.seat.ready

    async def until(self, holds: Callable[[], bool]) -> None:
        """Answer and deliver all messages until the condition holds."""
        async with asyncio.timeout(RECEIVED_WITHIN):
            while not holds():
                if self.network.has_work:
                    await self.network.settle()
                else:
                    # the bot thinks in a thread
                    await asyncio.to_thread(int)
                    await self.server.settle()

    async def start_bots_race(self, *refused: str) -> None:
        """Race; the bot's first moves are refused with these codes."""
        await self.until(lambda: self.session.state is not None and self.is_ready)
        await self.ben.ready()
        await self.ben.ask(Start, table=self.ben.table.code)
        await self.ben.reveal()
        await self.until(lambda: self.network.answered[-1:] != [] and self.revealed)
        self.network.refusals.extend((code, False) for code in refused)
        await self.server.pass_time(COUNTDOWN_MILLIS)
        await self.until(lambda: self.state.own is not None)

    @property
    def revealed(self) -> bool:
        return isinstance(self.network.answered[-1], commands.Reveal)

    @property
    def sent(self) -> list[str]:
        """The kinds of the commands that the server has answered, from the first move on."""
        kinds = [type(command).__name__ for command in self.network.answered]
        return [kind for kind in kinds if kind in ("MakeMove", "CashOut")]


@asynccontextmanager
async def bot_at_table(
    choose: Chooser = CHOOSERS["weak"],
    pace: Pace = steady_pace(0),  # noqa: B008 - a function
    races: int | None = 1,
) -> AsyncIterator[Bot]:
    async with open_in_process_server() as server:
        network = SteppedNetwork(server)
        async with network.connection("Otto") as connection:
            bot = Bot(network, connection)
            bot.ben = await server.player("Ben")
            code = (await bot.ben.at_table(commands.CreateTable, game="canfield")).table.code
            entering = asyncio.ensure_future(bot.session.sit_down(code))
            await bot.until(entering.done)
            bot.staying = asyncio.ensure_future(stay(bot.session, choose, pace, races=races))
            try:
                yield bot
            finally:
                bot.staying.cancel()
                await asyncio.gather(bot.staying, return_exceptions=True)


def cashes_out(game: Game, view: View, memory: Memory) -> Choice:
    return Choice(None, memory)


@pytest.mark.parametrize("strength", CHOOSERS)
async def test_a_bot_races_until_the_record_of_its_last_race_is_checked(strength: str) -> None:
    paused: list[Choice] = []

    def pace(game: Game, view: View, memory: Memory, choice: Choice) -> float:
        paused.append(choice)
        return 0.0

    async with bot_at_table(CHOOSERS[strength], pace) as bot:
        await bot.start_bots_race()
        await bot.until(lambda: not bot.own.is_racing)
        await bot.ben.cash_out()
        await bot.until(bot.staying.done)
        await bot.staying
        assert bot.own.state in ("cash-out", "won", "stuck")
        assert [found.ok for found in bot.state.verifications.values()] == [True]
        assert len(bot.sent) == len(paused) > 1


async def test_a_bot_goes_on_with_the_next_race() -> None:
    async with bot_at_table(cashes_out, races=None) as bot:
        await bot.start_bots_race()
        await bot.until(lambda: not bot.own.is_racing)
        await bot.ben.cash_out()
        await bot.until(lambda: bot.state.phase == "over")
        await bot.ben.ask(NextRace, table=bot.ben.table.code)
        await bot.until(lambda: bot.state.table.race.endswith("/2") and bot.is_ready)


async def test_a_bot_gets_ready_again_after_a_change_of_the_settings() -> None:
    async with bot_at_table() as bot:
        await bot.until(lambda: bot.session.state is not None and bot.is_ready)
        before = bot.state.table.commitment
        await bot.ben.ask(
            ChangeSettings, table=bot.ben.table.code, commitment=before, game="caprice"
        )
        await bot.until(lambda: bot.state.table.commitment != before and bot.is_ready)


async def test_a_bot_is_not_made_ready_while_it_is_blocked_or_does_not_know_the_game() -> None:
    async with bot_at_table() as bot:
        bot.network.refusals.append(("wrong_phase", False))
        await bot.until(lambda: len(bot.network.answered) == 2)
        there = bot.state.table
        own = next(seat for seat in there.seats if seat.name == "Otto")
        others = [seat for seat in there.seats if seat.name != "Otto"]
        blocked = [replace(own, blocked=True, voids=1), *others]
        golf = replace(there.settings, game="golf")
        changes: list[dict[str, Any]] = [{"seats": blocked}, {"settings": golf}, {}]
        for version, change in enumerate(changes, start=100):
            told = replace(there, version=version, commitment=f"{version:064}", **change)
            bot.network.send_event(events.TableChanged(table=told, now=1))
            await bot.until(lambda version=version: bot.state.table.version == version)  # type: ignore[misc]
        await bot.until(lambda: len(bot.network.answered) == 3)
        ready = bot.network.answered[-1]
        assert isinstance(ready, commands.Ready)
        assert ready.commitment == f"{102:064}"


@pytest.mark.parametrize("code", ["illegal_move", "server_fault"])
async def test_after_a_refusal_a_bot_plays_on(code: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(player, "RETRY_AFTER", 0.0)
    async with bot_at_table() as bot:
        await bot.start_bots_race(code, code)
        await bot.until(lambda: not bot.own.is_racing)
        assert bot.own.state in ("cash-out", "stuck")


async def test_a_bot_gives_up_after_too_many_refusals(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(player, "RETRY_AFTER", 0.0)
    async with bot_at_table() as bot:
        await bot.start_bots_race(*["illegal_move"] * (MOST_REFUSALS + 1))
        await bot.until(bot.staying.done)
        with pytest.raises(Problem, match="refuses the bot's moves"):
            await bot.staying


async def test_a_bot_stops_when_the_time_is_up() -> None:
    waits = steady_pace(0.001)
    async with bot_at_table(pace=waits, races=None) as bot:
        await bot.start_bots_race()
        await bot.server.pass_time(600_000)
        await bot.until(lambda: bot.state.phase == "over")
        assert bot.own.count == 1
        await bot.ben.ask(NextRace, table=bot.ben.table.code)
        assert not bot.staying.done()


@pytest.mark.usefixtures("impatient_checks")
async def test_a_bot_that_is_kicked_says_why_it_ends() -> None:
    async with bot_at_table() as bot:
        await bot.until(lambda: bot.session.state is not None and bot.is_ready)
        otto = bot.state.player
        epoch = next(seat.epoch for seat in bot.state.table.seats if seat.player == otto)
        await bot.ben.ask(Kick, table=bot.ben.table.code, player=otto, epoch=epoch)
        await bot.until(bot.staying.done)
        with pytest.raises(Problem, match="The bot has lost its seat") as ended:
            await bot.staying
        assert ended.value.code is Exit.REFUSED
        assert "kicked" in ended.value.remedy


SIT_DOWN = partial(TableSession.sit_down, code=CODE)
NOWHERE = "ws://127.0.0.1:1"


async def test_a_bot_that_runs_already_is_not_started_twice(tmp_path: Path) -> None:
    with (
        claim_identity("Gus", NOWHERE, tmp_path),
        pytest.raises(Problem, match="Gus is already running"),
    ):
        async with seated_bot(NOWHERE, SIT_DOWN, "strong", name="Gus", folder=tmp_path):
            pass


async def test_a_secret_that_others_can_read_is_refused(tmp_path: Path) -> None:
    with claim_identity("Gus", NOWHERE, tmp_path):
        pass
    (tmp_path / "gus.secret").chmod(0o644)
    with pytest.raises(Problem, match="chmod 600"):
        async with seated_bot(NOWHERE, SIT_DOWN, "strong", name="Gus", folder=tmp_path):
            pass


OWNER = player_id(token_of("Olga"))


@pytest.fixture
async def at_table(valkey: Store) -> AsyncIterator[tuple[ListeningServer, SocketPlayer]]:
    """Anna's table, on a server with a bot host."""
    async with listening_server(valkey) as server, player_at(server.url, "Anna") as anna:
        server.node.owner = OWNER
        serving = asyncio.create_task(serve(server.url, token_of("Olga")))
        await gathered(anna)
        await shown(anna, lambda table: bool(table.bots))
        yield server, anna
        await cancel_all([serving])


async def shown(player: SocketPlayer, holds: Callable[[Table], bool]) -> Table:
    """Wait until the player's table is shown like this."""
    while not holds(player.table):
        await player.expect(TableChanged, len(player.received.events))
    return player.table


async def asks(player: SocketPlayer, key: str) -> str:
    """Ask for a bot with this key; return the sentence of the refusal, or an empty text."""
    answer = await player.ask(AddBot, table=player.table.code, level="weak", key=key * 32)
    return answer.message if isinstance(answer, Refused) else ""


async def test_a_repeat_brings_no_second_bot_and_a_table_gets_three(
    at_table: tuple[ListeningServer, SocketPlayer],
) -> None:
    _, anna = at_table
    for key in "aabcd":  # all before the first bot is there
        assert not await asks(anna, key)
    bots = (await shown(anna, lambda table: sum(seat.ready for seat in table.seats) == 3)).seats[1:]
    assert [(seat.bot, seat.level) for seat in bots] == [(True, "weak")] * 3
    assert len({seat.name for seat in bots}) == 3
    assert "3 bots at this table already" in await asks(anna, "e")


async def test_a_bot_that_was_removed_frees_its_place_for_one_of_another_name(
    at_table: tuple[ListeningServer, SocketPlayer], monkeypatch: pytest.MonkeyPatch
) -> None:
    _, anna = at_table
    monkeypatch.setattr(random, "sample", lambda names, _: names)
    monkeypatch.setattr(bots_seat, "MOST_BOTS", 1)
    await asks(anna, "a")
    bot = (await shown(anna, lambda table: len(table.seats) == 2)).seats[1]
    while not (told := await asks(anna, "b")):
        pass  # the offer of no further bot comes a little later
    assert told.startswith("All bots of this server are playing.")
    assert isinstance(await anna.ask(Kick, table=anna.table.code, player=bot.player), Done)
    while await asks(anna, "c"):
        pass
    (_, other) = (await shown(anna, lambda table: len(table.seats) == 2)).seats
    assert (bot.name, other.name) == NAMES[:2]


async def test_bots_stay_while_their_host_reconnects_and_leave_after_the_last_person(
    at_table: tuple[ListeningServer, SocketPlayer],
) -> None:
    server, anna = at_table
    await asks(anna, "a")
    await shown(anna, lambda table: len(table.seats) == 2)
    for session in server.node.broadcaster.sessions_of(OWNER):
        session.connection.close(RESTARTING)
    await shown(anna, lambda table: not table.bots)
    await shown(anna, lambda table: bool(table.bots))
    await asks(anna, "b")
    await shown(anna, lambda table: len(table.seats) == 3)
    async with player_at(server.url, "Wanda") as wanda:
        await wanda.at_table(JoinTable, table=anna.table.code, seat=False)
        await anna.ask(LeaveTable, table=anna.table.code)
        await shown(wanda, lambda table: not table.seats)


async def test_a_player_who_does_not_own_the_server_cannot_offer_bots(valkey: Store) -> None:
    async with listening_server(valkey) as server:
        with pytest.raises(Problem, match="Only the owner") as refused:
            await serve(server.url, token_of("Anna"))
    assert refused.value.code is Exit.REFUSED


SERVER = "ws://127.0.0.1:7470"


def test_a_bot_has_one_token_for_each_name_and_server(tmp_path: Path) -> None:
    def token(name: str, server: str = SERVER) -> str | None:
        with claim_identity(name, server, tmp_path) as claimed:
            return claimed

    with claim_identity("Otto", SERVER, tmp_path) as otto:
        assert token("Otto") is None, "it is in use"
        mabel = token("Mabel")
    assert token("Otto") == otto
    assert len({otto, mabel, token("Otto", "wss://cards.example.org"), None}) == 4


def test_a_name_that_is_no_file_name_is_stored_inside_the_folder(tmp_path: Path) -> None:
    with claim_identity("../Zoë :-)", SERVER, tmp_path) as token:
        assert token is not None
    assert all(path.parent == tmp_path for path in tmp_path.rglob("*"))


def test_every_name_has_its_own_variation() -> None:
    assert 0 != variation_of("Otto") != variation_of("Mabel") != 0
