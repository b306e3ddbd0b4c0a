"""A bot at a table: ready, start, its board, next race, and errors."""

import asyncio
from collections.abc import AsyncIterator, Callable
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
)
from saratoga_client.bots.choose import CHOOSERS, Choice, Chooser, Strength
from saratoga_client.bots.pace import steady_pace
from saratoga_client.bots.player import BotPlayer
from saratoga_client.bots.seat import claim_identity, seated_bot
from saratoga_client.net.connection import Connection, Timing
from saratoga_client.problems import Exit, Problem
from saratoga_client.session.record_store import RecordStore
from saratoga_client.session.table_session import TableSession
from saratoga_client.session.witness import Witness
from saratoga_protocol import commands, events
from saratoga_protocol.views import wire_view
from saratoga_rules.dealing.deal import deal_for_key, practice_key
from saratoga_rules.games import GAMES
from saratoga_rules.money import net
from saratoga_rules.moves import parse_move
from saratoga_rules.play import is_won, play
from saratoga_rules.position import redact

CANFIELD = GAMES["canfield"]
RIVAL = events.Seat(player="r" * 16, name="Rita", ready=True)
OWN = events.Seat(player=PLAYER, name="Otto", bot=True)

pytestmark = pytest.mark.usefixtures("impatient_checks")


async def sit_down(session: TableSession) -> events.Table:
    return await session.sit_down(CODE)


class Bot:
    """A bot at a table, the server's side of its connection, and its board as the server judges it."""

    def __init__(self, connection: Connection, peer: ScriptedPeer, chooser: Chooser) -> None:
        self.peer = peer
        session = TableSession(
            connection, witness=Witness(in_memory=True), records=RecordStore(in_memory=True)
        )
        self.session = session
        self.player = BotPlayer(session, chooser, pace=0, races=1, starts_with=2)
        self.staying: asyncio.Future[None]
        self.position = deal_for_key(CANFIELD, practice_key("board"))
        self.made: list[str] = []
        self.state = "racing"

    async def sit_down(self) -> None:
        """Take the seat, with a snapshot in which nothing is to be done."""
        sitting = asyncio.ensure_future(sit_down(self.session))
        join = await self.peer.command()
        shown = replace(table(version=0, phase="call"), seats=[replace(OWN, ready=True)])
        await self.peer.send(replace(snapshot(re=join.id), table=shown))
        await sitting
        self.staying = asyncio.ensure_future(self.player.stay())

    async def command(self) -> commands.Command:
        """Return the next command; records are refused."""
        while isinstance(command := await self.peer.command(), commands.GetRecord):
            no = events.Refused(re=command.id, code="no_such_race", message="No.")
            await self.peer.send(no)
        return command

    async def done(self) -> commands.Command:
        """Answer the bot's next command with `Done`; return the command."""
        command = await self.command()
        await self.peer.send(events.Done(re=command.id))
        return command

    async def see(self, shown: events.Table) -> None:
        await self.peer.send(events.TableChanged(table=shown, now=NOON))

    async def ready(self) -> commands.Ready:
        await self.see(gathered())
        ready = await self.done()
        assert isinstance(ready, commands.Ready)
        return ready

    async def deal(self) -> None:
        await self.see(replace(gathered(version=3), phase="running", start_at=NOON))
        dealt = events.BoardChanged(board=self.board(), start_at=NOON, deadline=0, now=NOON)
        await self.peer.send(dealt)

    def board(self) -> events.BoardView:
        return events.BoardView(
            race=RACE,
            count=len(self.made) + (self.state != "racing"),
            view=wire_view(redact(self.position)),
            banked=self.position.banked,
            net=net(CANFIELD, self.position.banked),
            state=self.state,
            head="0" * 16,
        )

    def judged(self, command: commands.Command) -> events.Event:
        """Return the answer of a server that judges moves."""
        match command:
            case commands.CashOut():
                self.state = "cash-out"
            case commands.MakeMove(after=after, move=move):
                assert after == len(self.made)
                self.position = play(CANFIELD, self.position, parse_move(move))
                self.made.append(move)
                if is_won(CANFIELD, self.position):
                    self.state = "won"
            case _:
                raise AssertionError(f"a bot at its board has no reason for {command}")
        text = command.move if isinstance(command, commands.MakeMove) else self.state
        board = self.board()
        return events.BoardChanged(
            re=command.id, board=board, place=board.count, entries=[f"0 1 {text}"]
        )

    async def play(
        self, answer: Callable[[commands.Command], events.Event | None] = lambda _: None
    ) -> None:
        """Answer the bot's moves, by `answer` if that has one, until its board has ended."""
        while self.state == "racing":
            command = await self.command()
            await self.peer.send(answer(command) or self.judged(command))


@pytest.fixture
def chooser() -> Chooser:
    return CHOOSERS[Strength.WEAK]


@pytest.fixture
async def bot(server: ScriptedServer, chooser: Chooser) -> AsyncIterator[Bot]:
    timing = Timing(answer_within=2.0)
    async with Connection(server.url, TOKEN, name="Otto", bot=True, timing=timing) as client:
        bot = Bot(client, await server.peer(), chooser)
        await bot.sit_down()
        yield bot
        bot.staying.cancel()
        await asyncio.gather(bot.staying, return_exceptions=True)


def gathered(*, ready: bool = False, version: int = 2, promise: str = "") -> events.Table:
    """Return the table with the bot as its host."""
    shown = table(version=version)
    seats = [replace(OWN, ready=ready), RIVAL]
    return replace(shown, seats=seats, commitment=promise or shown.commitment)


async def test_a_bot_does_not_get_ready_for_a_game_that_it_does_not_know(bot: Bot) -> None:
    golf = replace(gathered().settings, game="golf")
    await bot.see(replace(gathered(version=1, promise="f" * 64), settings=golf))
    assert (await bot.ready()).commitment == gathered().commitment


async def test_a_bot_that_is_host_starts_when_enough_are_ready_and_again_after_a_call(
    bot: Bot,
) -> None:
    await bot.ready()
    for version in (3, 5):
        await bot.see(gathered(ready=True, version=version))
        assert isinstance(await bot.done(), commands.Start)
        await bot.see(replace(gathered(ready=True, version=version + 1), phase="call"))


async def test_a_bot_gets_ready_in_the_call(bot: Bot) -> None:
    await bot.see(replace(gathered(), phase="call"))
    assert isinstance(await bot.done(), commands.Ready)


async def test_a_bot_that_runs_its_table_allows_a_player_who_voided_five_countdowns_and_no_more(
    bot: Bot,
) -> None:
    await bot.ready()
    for version, voids in enumerate((5, 6), start=3):
        blocked = replace(RIVAL, ready=False, voids=voids, blocked=True)
        shown = gathered(ready=True, version=version)
        await bot.see(replace(shown, seats=[shown.seats[0], blocked]))
        if voids == 5:
            allowed = await bot.done()
            assert allowed == commands.AllowReady(id=allowed.id, table=CODE, player=RIVAL.player)
    await bot.see(gathered(ready=True, version=5))
    assert isinstance(await bot.done(), commands.Start), "nothing was allowed before"


async def test_a_blocked_bot_waits_for_the_hosts_permission(bot: Bot) -> None:
    shown = replace(gathered(version=3), host=RIVAL.player)
    await bot.see(replace(shown, seats=[replace(OWN, blocked=True, voids=1), RIVAL]))
    await bot.see(replace(shown, version=4))
    assert isinstance(await bot.done(), commands.Ready)


async def test_a_new_commitment_is_answered_with_a_new_ready(bot: Bot) -> None:
    ready = await bot.ready()
    await bot.see(gathered(version=4, promise="d1" * 32))
    again = await bot.done()
    assert isinstance(again, commands.Ready)
    assert again.commitment != ready.commitment
    assert again.nonce_hash != ready.nonce_hash


async def test_a_ready_without_an_answer_is_sent_again(bot: Bot) -> None:
    await bot.see(gathered())
    assert isinstance(await bot.command(), commands.Ready)
    assert isinstance(await bot.done(), commands.Ready)


async def test_a_refused_late_ready_is_harmless(bot: Bot) -> None:
    await bot.see(gathered())
    late = await bot.command()
    no = events.Refused(re=late.id, code="wrong_commitment", message="Look again.")
    await bot.peer.send(no)
    await bot.see(gathered(version=5, promise="d1" * 32))
    assert isinstance(await bot.done(), commands.Ready)


async def test_a_lasting_refusal_ends_the_bot(bot: Bot) -> None:
    await bot.see(gathered())
    ready = await bot.command()
    await bot.peer.send(events.Refused(re=ready.id, code="not_allowed", message="No bots here."))
    with pytest.raises(Problem, match="No bots here"):
        await bot.staying


async def test_a_race_before_the_bot_came_does_not_count(bot: Bot) -> None:
    over = replace(gathered(version=3), phase="over")
    await bot.see(over)
    await bot.peer.send(events.RaceOver(outcome=outcome()))
    assert isinstance(await bot.done(), commands.NextRace)
    await bot.see(replace(gathered(version=7, promise="c2" * 32), race=f"{CODE}/2"))
    assert isinstance(await bot.done(), commands.Ready)


async def test_a_bot_does_not_race_a_deal_whose_countdown_it_has_seen(bot: Bot) -> None:
    counting = replace(gathered(version=3), phase="countdown", racers=[racer(RIVAL.player, "Bert")])
    await bot.see(counting)
    await bot.see(gathered(version=4))
    await bot.see(gathered(version=5, promise="c2" * 32))
    ready = await bot.done()
    assert isinstance(ready, commands.Ready)
    assert ready.commitment == "c2" * 32


async def test_a_bot_that_lost_its_seat_reports_the_reason(bot: Bot) -> None:
    await bot.ready()
    await bot.peer.send(events.SeatLost(table=CODE, reason="the host sent it away"))
    with pytest.raises(Problem, match=r"has lost its seat\..*sent it away") as ended:
        await bot.staying
    assert ended.value.code is Exit.REFUSED


# The board


@pytest.mark.parametrize("chooser", CHOOSERS.values(), ids=CHOOSERS)
async def test_a_bot_plays_its_board_to_the_end_and_leaves_after_its_last_race(bot: Bot) -> None:
    await bot.ready()
    opening = redact(bot.position)
    await bot.deal()
    await bot.play()
    assert bot.state in ("cash-out", "won")
    assert bot.made
    await bot.see(replace(gathered(version=5), phase="over"))
    await bot.peer.send(events.RaceOver(outcome=outcome()))
    refusing = asyncio.ensure_future(bot.command())
    await bot.staying
    refusing.cancel()
    assert bot.player.opening == opening


@pytest.mark.parametrize(
    ("code", "retry", "times"), [("stale_move", False, 3), ("server_fault", True, 3)]
)
async def test_after_a_refusal_a_bot_plays_on(bot: Bot, code: str, retry: bool, times: int) -> None:
    refused: list[int] = []

    def answer(command: commands.Command) -> events.Event | None:
        if len(refused) >= times:
            return None
        refused.append(command.id)
        board = bot.board() if code == "stale_move" else None
        return events.Refused(re=command.id, code=code, message="No.", retry=retry, board=board)

    await bot.deal()
    await bot.play(answer)
    assert bot.state == "cash-out"


async def test_a_bot_gives_up_after_too_many_refusals(bot: Bot) -> None:
    await bot.deal()

    def answer(command: commands.Command) -> events.Event:
        board = bot.board()
        return events.Refused(re=command.id, code="illegal_move", message="No.", board=board)

    playing = asyncio.ensure_future(bot.play(answer))
    with pytest.raises(Problem, match="refuses the bot's moves"):
        await bot.staying
    playing.cancel()


async def test_a_bot_stops_thinking_when_the_server_ends_its_board(bot: Bot) -> None:
    await bot.deal()
    assert isinstance(await bot.command(), commands.MakeMove)
    bot.state = "out-of-time"
    over = replace(gathered(version=5), phase="over")
    await bot.peer.send(
        events.BoardChanged(board=bot.board(), place=1, entries=["1 1 out-of-time"])
    )
    await bot.see(over)
    await bot.peer.send(events.RaceOver(outcome=outcome()))
    assert bot.session.own is not None


def never(game: object, view: object, memory: object) -> Choice:
    return Choice(None, memory)  # type: ignore[arg-type]


@pytest.mark.parametrize("chooser", [never])
async def test_a_bot_without_a_move_cashes_out_after_its_pause(bot: Bot) -> None:
    asked: list[Choice] = []

    def pace(game: object, view: object, memory: object, choice: Choice) -> float:
        asked.append(choice)
        return steady_pace(0)(game, view, memory, choice)  # type: ignore[arg-type]

    bot.player._pace = pace  # noqa: SLF001
    await bot.deal()
    command = await bot.command()
    assert command == commands.CashOut(id=command.id, race=RACE, after=0)
    assert len(asked) == 1


# Its seat


NOWHERE = "ws://127.0.0.1:1"


async def test_a_bot_joins_under_its_name_and_leaves_at_the_end(tmp_path: Path) -> None:
    async with scripted_server() as server:
        visit = await _bot_comes_and_goes(server, tmp_path)
    assert visit == ["Otto", "JoinTable", "LeaveTable"]


async def _bot_comes_and_goes(server: ScriptedServer, folder: Path) -> list[str]:
    """Let a bot join and leave; return its name and the commands that it sent."""
    bot = seated_bot(server.url, sit_down, "strong", name="Otto", folder=folder)
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
        async with seated_bot(NOWHERE, sit_down, "strong", name="Gus", folder=tmp_path):
            pass


async def test_a_secret_that_others_can_read_is_refused(tmp_path: Path) -> None:
    with claim_identity("Gus", NOWHERE, tmp_path):
        pass
    (tmp_path / "gus.secret").chmod(0o644)
    with pytest.raises(Problem, match="chmod 600"):
        async with seated_bot(NOWHERE, sit_down, "strong", name="Gus", folder=tmp_path):
            pass
