"""Bots on real connections that race at tables, and record everything the server sends them.

A player's notes hold all evidence against the server: every command sent, every acknowledged move
with the board that came back, and every state of the table. Server or store can be killed
meanwhile: the players reconnect by themselves.
"""

import asyncio
import itertools
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from functools import partial

from kit.altered_server import QUICK
from kit.faulty_link import FaultyLink
from kit.server_process import ServerProcess, flags_for, running_server
from kit.stores import StoreServer
from saratoga_client.bots.choose import CHOOSERS
from saratoga_client.bots.player import stay, steady_pace
from saratoga_client.local.identity import new_token
from saratoga_client.net.connection import Connection, LinkState, Timing
from saratoga_client.net.errors import RequestTimedOut
from saratoga_client.net.requests import Draft, Requests
from saratoga_client.net.timing import Backoff
from saratoga_client.problems import Problem
from saratoga_client.session.facts import facts
from saratoga_client.session.record_store import RecordStore
from saratoga_client.session.state import SessionState
from saratoga_client.session.table_session import TableSession
from saratoga_client.session.witness import Witness
from saratoga_protocol import events
from saratoga_protocol.commands import AllowReady, CashOut, Command, MakeMove, NextRace, Start
from saratoga_protocol.events import BoardView, Event, Outcome
from saratoga_rules.records.facts import CONTRADICTED, Finding, Key
from saratoga_server.ports import Durability

LINE_UP = ("strong", "weak", "strong", "weak")


@dataclass(frozen=True)
class Acknowledged:
    """A move, or a cash-out, that the server acknowledged."""

    id: int
    race: str
    after: int | None
    """The number of the player's moves before this one; `None` for a cash-out."""
    text: str
    repeat: bool
    """True if the player had an acknowledgement of the same command before."""
    moment: float
    """The time of the acknowledgement by `time.monotonic()`, in seconds."""


@dataclass
class Notes:
    """A player's notes: everything that it sent and received."""

    player: str = ""
    sent: dict[int, Command] = field(default_factory=dict)
    acknowledged: list[Acknowledged] = field(default_factory=list)
    facts: dict[Key, str] = field(default_factory=dict)
    """The facts that the server has stated."""
    clashes: list[Finding] = field(default_factory=list)
    """How the server has contradicted itself, as by a board without acknowledged moves."""
    outcomes: dict[str, Outcome] = field(default_factory=dict)
    announced: list[str] = field(default_factory=list)
    """Races whose end the server announced."""
    connected: list[float] = field(default_factory=list)
    """The times when the player had connected and resumed its seat (`time.monotonic()`)."""
    is_connected: bool = False
    board: BoardView | None = None
    """The player's own board, as last sent."""
    code: str = ""
    """The table's code."""
    phase: str = ""
    """The table's phase, as last sent."""
    version: int = 0
    """The table's version, as last sent."""
    heard: float = 0.0
    """The time of the last event (`time.monotonic()`)."""
    refusals: list[events.Refused] = field(default_factory=list)
    on_news: Callable[[], None] = lambda: None
    """Called after every event and every change of the connection."""

    @property
    def is_racing(self) -> bool:
        return self.phase == "running" and self.board is not None and self.board.state == "racing"

    @property
    def denied(self) -> list[events.Refused]:
        """The refusals but those that ask to wait, as while the server searches for par."""
        return [refusal for refusal in self.refusals if not refusal.retry]

    @property
    def refused(self) -> Counter[str]:
        """The number of refusals by code."""
        return Counter(refusal.code for refusal in self.refusals)

    def of_race(self, race: str) -> list[Acknowledged]:
        return [each for each in self.acknowledged if each.race == race]

    def raced(self) -> set[str]:
        """Return the ids of the races that the player knows were dealt."""
        return {key[1] for key in self.facts if key[0] == "board"}.union(
            self.outcomes, self.announced
        )

    def hear(self, event: Event) -> None:
        """Take notes of an event; of a snapshot, `take_up` does so."""
        if not isinstance(event, events.Snapshot):
            self._compare(event)
        match event:
            case events.BoardChanged(re=re, board=board):
                if re is not None:
                    self._acknowledge(re)
                self.board = board
            case events.RaceOver(outcome=outcome):
                self.announced.append(outcome.race)
                self.outcomes[outcome.race] = outcome
            case events.TableChanged(table=table):
                self._see(table)
            case events.Refused():
                self.refusals.append(event)
            case _:
                pass
        self.heard = time.monotonic()
        self.on_news()

    def _acknowledge(self, command_id: int) -> None:
        command = self.sent[command_id]
        assert isinstance(command, MakeMove | CashOut)
        after, text = None, "cash-out"
        if isinstance(command, MakeMove):
            after, text = command.after, command.move
        repeat = any(each.after == after for each in self.of_race(command.race))
        done = Acknowledged(command_id, command.race, after, text, repeat, time.monotonic())
        self.acknowledged.append(done)

    def _compare(self, event: Event) -> None:
        """Keep the facts in an event, and how they contradict those before."""
        if isinstance(event, events.TableChanged) and event.table.version < self.version:
            return
        for key, value in facts(event, self.player):
            known = self.facts.get(key)
            if known is not None and known != value:
                self.clashes.append(Finding(CONTRADICTED, key, known, value or "nothing"))
            elif value is not None:
                self.facts[key] = value

    def take_up(self, snapshot: events.Snapshot) -> None:
        self._compare(snapshot)
        self._see(snapshot.table)
        self.board = snapshot.board
        if snapshot.outcome is not None:
            self.outcomes[snapshot.outcome.race] = snapshot.outcome
        self.heard = time.monotonic()
        self.on_news()

    def _see(self, table: events.Table) -> None:
        self.code, self.phase, self.version = table.code, table.phase, table.version

    def turn(self, state: LinkState) -> None:
        self.is_connected = state is LinkState.CONNECTED
        if self.is_connected:
            self.connected.append(time.monotonic())
        self.on_news()


class NotingRequests(Requests):
    """Client requests that record every event and every command in a player's notes."""

    notes: Notes

    def receive(self, event: Event) -> None:
        self.notes.hear(event)
        super().receive(event)

    def deliver(self, event: Event) -> None:
        if isinstance(event, events.Snapshot):
            self.notes.take_up(event)
        super().deliver(event)

    def open(self, draft: Draft) -> "tuple[Command, object]":  # type: ignore[override]
        command, waiter = super().open(draft)
        self.notes.sent[command.id] = command
        return command, waiter


class NotingConnection(Connection):
    """A client's connection that records its state and its requests in a player's notes."""

    def __init__(
        self,
        url: str,
        name: str,
        timing: Timing = Timing(),  # noqa: B008 - frozen
        *,
        bot: bool = True,
    ) -> None:
        self.notes = Notes()
        super().__init__(url, new_token(), name=name, bot=bot, client="test", timing=timing)
        self.subscribe(self.notes.turn)
        self._requests = NotingRequests(Backoff(), self._send)
        self._requests.notes = self.notes


def _blocked(state: SessionState) -> list[str]:
    return [seat.player for seat in state.table.seats if seat.blocked]


def _may_start(state: SessionState, players: int) -> bool:
    ready = [seat.player for seat in state.table.seats if seat.ready and seat.connected]
    return state.phase == "gathering" and state.player in ready and len(ready) >= players


async def run_table(session: TableSession, players: int, races: int | None = None) -> None:
    """As host, start `races` races, each when so many players are ready; `None`: without end."""
    tried: events.Table | None = None
    over: set[str] = set()

    def may_act(state: SessionState) -> bool:
        is_due = state.phase == "over" or _may_start(state, players) or bool(_blocked(state))
        return state.is_host and state.table != tried and is_due

    while len(over) != races:
        state = await session.until(may_act)
        tried = state.table
        try:
            for player in _blocked(state):
                await session.send(AllowReady, player=player)
            if state.phase == "over":
                over.add(state.table.race)
                if len(over) != races:
                    await session.send(NextRace)
            elif _may_start(state, players):
                await session.send(Start)
        except Problem as problem:
            if isinstance(problem.__cause__, RequestTimedOut):
                tried = None  # again
            elif not problem.refusal:
                raise


async def race_as_host(
    session: TableSession,
    strength: str,
    *,
    pace: float,
    variation: int = 0,
    races: int | None = None,
    starts_with: int,
) -> None:
    """Let a bot play; one that is the host starts races with `starts_with` players."""
    hosting = asyncio.create_task(run_table(session, starts_with, races))
    try:
        choose = CHOOSERS[strength]
        await stay(session, choose, steady_pace(pace), variation=variation, races=races)
    finally:
        hosting.cancel()
        await asyncio.gather(hosting, return_exceptions=True)


@dataclass
class RecordedPlayer:
    """A bot at a table, and its notes."""

    connection: NotingConnection
    session: TableSession
    strength: str
    variation: int
    name: str
    link: FaultyLink = field(init=False)
    """The link through which the bot connects, in a storm."""

    @property
    def notes(self) -> Notes:
        return self.connection.notes

    @property
    def state(self) -> SessionState:
        assert self.session.state is not None, "the bot has a seat"
        return self.session.state

    async def race(self, races: int | None, pace: float, starts_with: int) -> None:
        """Play `races` races, without end if `None`; a bot that is the host starts them."""
        await race_as_host(
            self.session,
            self.strength,
            pace=pace,
            variation=self.variation,
            races=races,
            starts_with=starts_with,
        )

    def objections(self, race: str) -> tuple[str, ...]:
        """Return the faults that the bot's own fairness check found in the race."""
        return tuple(alarm for alarm in self.state.alarms if race in alarm.split())


def noted_session(connection: NotingConnection) -> TableSession:
    """Return a session that keeps what it sees in memory."""
    connection.notes.player = connection.player
    return TableSession(
        connection, witness=Witness(in_memory=True), records=RecordStore(in_memory=True)
    )


CAP = 20
"""The time limit of a race in minutes."""


@asynccontextmanager
async def players_at_a_table(
    url: str | Sequence[str],
    game: str,
    names: str,
    line_up: Sequence[str] = LINE_UP,
    timing: Timing = Timing(),  # noqa: B008 - frozen
) -> AsyncIterator[list[RecordedPlayer]]:
    """Seat bots `names`1, `names`2 ... at a new table of the first, by each address in turn."""
    addresses = itertools.cycle([url] if isinstance(url, str) else url)
    async with AsyncExitStack() as stack:
        players: list[RecordedPlayer] = []
        code = ""
        for number, strength in enumerate(line_up, start=1):
            name = f"{names}{number}"
            connecting = NotingConnection(next(addresses), name, timing)
            connection = await stack.enter_async_context(connecting)
            session = noted_session(connection)
            if code:
                await session.sit_down(code)
            else:
                code = (await session.open_table(game, cap=CAP, seats=len(line_up))).code
            players.append(RecordedPlayer(connection, session, strength, number, name))
        yield players


WITHIN = 60.0
"""Longest time in seconds for anything awaited; a bound that no test should reach."""

FINISHED_WITHIN = 180.0
"""Longest time in seconds for the last races to end."""

RECENT = 50
"""The number of latest acknowledged moves that `back_at` searches."""


class NeverHappened(Exception):
    """An error: an awaited condition was not met in time, or a player stopped racing."""


@dataclass
class Racing:
    """Tables of bots that race until they are stopped."""

    tables: list[list[RecordedPlayer]] = field(default_factory=list)
    changed: asyncio.Event = field(default_factory=asyncio.Event)
    """Set at every event and connection change of any player."""
    failures: list[str] = field(default_factory=list)
    """Players that stopped racing by themselves, and why."""
    tasks: list["asyncio.Task[None]"] = field(default_factory=list)
    """The bots' tasks."""

    @property
    def players(self) -> list[RecordedPlayer]:
        return [player for table in self.tables for player in table]

    def start_racing(self, pace: float) -> None:
        """Let all players race at `pace` moves a second."""

        def stopped(task: "asyncio.Task[None]", name: str) -> None:
            if not task.cancelled():
                self.failures.append(f"{name} stopped racing: {task.exception()!r}")
                self.changed.set()

        for player in self.players:
            player.notes.on_news = self.changed.set
            task = asyncio.create_task(player.race(None, pace, len(LINE_UP)))
            task.add_done_callback(partial(stopped, name=player.name))
            self.tasks.append(task)

    async def stop_racing(self) -> None:
        """Stop all players; they stay connected."""
        for task in self.tasks:
            task.cancel()
        await asyncio.gather(*self.tasks, return_exceptions=True)
        self.tasks.clear()

    async def until(
        self, holds: Callable[[], bool], what: str = "an event", within: float = WITHIN
    ) -> None:
        """Wait until `holds()` returns true; check at every event or connection change of a player.

        Raises `NeverHappened`.
        """
        try:
            async with asyncio.timeout(within):
                while not holds():
                    self.changed.clear()
                    await self.changed.wait()
        except TimeoutError:
            raise NeverHappened(f"{what}: not within {within:.0f} s; {self.failures}") from None

    async def mid_race(self) -> None:
        """Wait until all are connected, and a table has two racers in play and a move made."""

        def is_on(table: Sequence[RecordedPlayer]) -> bool:
            boards = [player.notes.board for player in table if player.notes.is_racing]
            return len(boards) > 1 and any(board is not None and board.count for board in boards)

        await self.until(
            lambda: (
                all(player.notes.is_connected for player in self.players)
                and any(is_on(table) for table in self.tables)
            ),
            "a race",
        )

    async def all_back(
        self, players: Iterable[RecordedPlayer], since: float, *, by_reconnect: bool = False
    ) -> float:
        """Wait until all these players are back; return when the last one was."""
        back = partial(back_at, since=since, by_reconnect=by_reconnect)
        awaited = list(players)
        await self.until(
            lambda: all(back(each.notes) is not None for each in awaited), "all players back"
        )
        return max((back(each.notes) or since for each in awaited), default=since)

    async def finish(self, races: int = 0) -> None:
        """Wait until every table has finished `races` races, by default its present one."""
        wanted = [races or newest_finished(table) + 1 for table in self.tables]
        await self.until(
            lambda: all(
                newest_finished(table) >= number
                for table, number in zip(self.tables, wanted, strict=True)
            ),
            "the end of a race at every table",
            FINISHED_WITHIN,
        )


def back_at(notes: Notes, since: float, *, by_reconnect: bool) -> float | None:
    """Return when the server first acknowledged a move after `since`, `None` if it has not yet.

    A player without a board to play on is back when any event arrives. With `by_reconnect`, only
    what follows a new connection counts.
    """
    if by_reconnect:
        since = min((at for at in notes.connected if at > since), default=float("inf"))
    moments = [each.moment for each in notes.acknowledged[-RECENT:] if each.moment > since]
    if notes.is_connected and not notes.is_racing and notes.heard > since:
        moments.append(notes.heard)
    return min(moments, default=None)


def newest_finished(table: Sequence[RecordedPlayer]) -> int:
    """Return the number of the latest race at the table that a player knows to be over."""
    notes = [player.notes for player in table]
    over = (race for each in notes for race in (*each.outcomes, *each.announced))
    return max((int(race.rpartition("/")[2]) for race in over), default=0)


@dataclass
class RacingBots(Racing):
    """Bots that race at several tables of one server."""

    server_process: ServerProcess = field(kw_only=True)
    store_url: str = field(kw_only=True)
    durability: Durability = Durability.SAFE


@asynccontextmanager
async def racing_bots(
    games: tuple[str, ...],
    pace: float,
    external: StoreServer | None = None,
    durability: str = "safe",
) -> AsyncIterator[RacingBots]:
    """Run a server on that store or an embedded one; four bots race at a table of each game."""
    more = ("--rate", "0", "--log-level", "warning", "--durability", durability)
    flags = flags_for(external.url if external else None, more)
    async with running_server(*flags, module=QUICK) as server_process:
        store = external.url if external else f"unix://{server_process.store_socket}"
        async with racing_bots_at(server_process.url, games, pace, server_process, store) as bots:
            bots.durability = Durability(durability)
            yield bots


@asynccontextmanager
async def racing_bots_at(
    url: str, games: tuple[str, ...], pace: float, server_process: ServerProcess, store_url: str
) -> AsyncIterator[RacingBots]:
    """Seat four bots at a table of each game; they race until the context ends."""
    async with AsyncExitStack() as stack:
        bots = RacingBots(server_process=server_process, store_url=store_url)
        for number, game in enumerate(games, start=1):
            seated = players_at_a_table(url, game, f"Table{number}x")
            bots.tables.append(await stack.enter_async_context(seated))
        bots.start_racing(pace)
        try:
            yield bots
        finally:
            await bots.stop_racing()
