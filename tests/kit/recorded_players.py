"""Bots on real connections that write down everything the house acknowledges to them.

What stands in these notes is what a player could hold against the house: every command that was
sent, every move that was acknowledged with the board that came back, every picture of the table.
"""

import itertools
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from functools import partial

from saratoga_client.bots.player import Report, TablePlayer
from saratoga_client.bots.strengths import CHOOSERS, Strength
from saratoga_client.local.identity import new_token
from saratoga_client.net.backoff import Backoff
from saratoga_client.net.connection import Connection, LinkState, Timing
from saratoga_client.net.errors import RequestTimedOut
from saratoga_client.net.requests import Requests
from saratoga_client.net.unanswered import Draft
from saratoga_protocol import events
from saratoga_protocol.codec import UnknownEvent
from saratoga_protocol.commands import AnyCommand, CashOut, CreateTable, JoinTable, MakeMove
from saratoga_protocol.events import AnyEvent, BoardView, Outcome

LINE_UP = ("strong", "weak", "strong", "weak")


@dataclass(frozen=True)
class Acknowledged:
    """A move, or a cash-out, of which the house has said that it is done."""

    id: int
    race: str
    after: int | None
    """The number of moves before it; `None` for a cash-out."""
    text: str
    board: BoardView
    repeat: bool
    moment: float
    """`time.monotonic()`, in seconds."""


@dataclass
class Notes:
    """All that a player knows for certain."""

    player: str = ""
    sent: dict[int, AnyCommand] = field(default_factory=dict)
    acknowledged: list[Acknowledged] = field(default_factory=list)
    openings: dict[str, BoardView] = field(default_factory=dict)
    """The board as dealt, by race."""
    ended: dict[str, BoardView] = field(default_factory=dict)
    """The board as the house ended it, by race."""
    over: dict[str, float] = field(default_factory=dict)
    """When the player knew that its board had ended (`time.monotonic()`), by race."""
    shown: dict[str, list[BoardView]] = field(default_factory=dict)
    """Every board of the player's own that the house has shown, by race."""
    taken_back: dict[str, list[str]] = field(default_factory=dict)
    """By race: where the house showed an older board than one that it had acknowledged."""
    commitments: dict[str, str] = field(default_factory=dict)
    """By race, as named in the countdown."""
    nonce_hashes: dict[str, dict[str, str]] = field(default_factory=dict)
    """Of the racers, by race, as shown in the countdown."""
    outcomes: dict[str, Outcome] = field(default_factory=dict)
    announced: list[str] = field(default_factory=list)
    """The races of which the house said, unasked, that they are over."""
    connected: list[float] = field(default_factory=list)
    """When a connection stood, its seat taken up again."""
    is_connected: bool = False
    board: BoardView | None = None
    """The player's own, as last seen."""
    code: str = ""
    """Of the table."""
    phase: str = ""
    """Of the table, as last seen."""
    unavailable: int = 0
    """How often the house had to say that it does not reach its store."""
    heard: float = 0.0
    """When the house last said something."""
    refused: Counter[str] = field(default_factory=Counter)
    """How often the house said no, by code."""
    lost_answers: Counter[str] = field(default_factory=Counter)
    """By race: how often an answer to a move may have got lost. The line broke, the house did not reach its
    store, or nothing came in time."""
    hurried: Counter[str] = field(default_factory=Counter)
    """By race: moves that were sent while another one was under way."""
    on_news: Callable[[], None] = lambda: None
    """Told of everything heard, and of every turn of the connection."""

    @property
    def is_racing(self) -> bool:
        return self.phase == "running" and self.board is not None and self.board.state == "racing"

    def of_race(self, race: str) -> list[Acknowledged]:
        return [each for each in self.acknowledged if each.race == race]

    def raced(self) -> set[str]:
        """The races that were dealt, as the player knows for certain."""
        played = {each.race for each in self.acknowledged}
        return played.union(self.shown, self.outcomes, self.announced)

    def hear(self, event: AnyEvent | UnknownEvent) -> None:
        match event:
            case events.MoveMade(re=int(command_id), board=board, repeat=repeat):
                self._acknowledge(command_id, board, repeat)
            case events.Dealt(board=board):
                self.openings.setdefault(board.race, board)
                self._show(board)
                self.board = board
            case events.BoardEnded(board=board):
                self._show(board)
                self.ended[board.race] = self.board = board
            case events.RaceOver(outcome=outcome):
                self.announced.append(outcome.race)
                self.outcomes[outcome.race] = outcome
            case events.TableChanged(table=table):
                self._see(table)
            case events.Refused(code=code, board=present):
                if present is not None:
                    self._show(present)
                self.refused[code] += 1
                if code == "store_unavailable":
                    self.unavailable += 1
                    self.miss_answer()
            case _:
                pass
        self.heard = time.monotonic()
        self.on_news()

    def _acknowledge(self, command_id: int, board: BoardView, repeat: bool) -> None:
        command = self.sent[command_id]
        assert isinstance(command, MakeMove | CashOut)
        after, text = None, "cash-out"
        if isinstance(command, MakeMove):
            after, text = command.after, command.move
        done = Acknowledged(command_id, command.race, after, text, board, repeat, time.monotonic())
        self.acknowledged.append(done)
        self._show(board)
        self.board = board

    def _show(self, board: BoardView) -> None:
        self.shown.setdefault(board.race, []).append(board)
        if board.state != "racing":
            self.over.setdefault(board.race, time.monotonic())

    def take_up(self, snapshot: events.Snapshot) -> None:
        self._see(snapshot.table)
        self.board = board = snapshot.board
        if board is not None:
            self._show(board)
            known = max((each.board.count for each in self.of_race(board.race)), default=0)
            if board.count < known:
                self.taken_back.setdefault(board.race, []).append(
                    f"came back to {board.count} entries, and {known} had been acknowledged"
                )
        if board is not None and board.count == 0 and board.state == "racing":
            self.openings.setdefault(board.race, board)
        if snapshot.outcome is not None:
            self.outcomes[snapshot.outcome.race] = snapshot.outcome
        self.heard = time.monotonic()
        self.on_news()

    def _see(self, table: events.Table) -> None:
        self.code, self.phase = table.code, table.phase
        if table.phase == "countdown":
            self.commitments[table.race] = table.commitment
            self.nonce_hashes[table.race] = {
                seat.player: seat.nonce_hash for seat in table.seats if seat.player in table.racers
            }

    def forget(self, race: str) -> None:
        """Drop what is noted of a race: it has been looked through."""
        for each in self.of_race(race):
            self.sent.pop(each.id, None)
        self.acknowledged = [each for each in self.acknowledged if each.race != race]
        for kept in (
            *(self.openings, self.ended, self.over, self.shown, self.taken_back),
            *(self.commitments, self.nonce_hashes, self.outcomes, self.lost_answers, self.hurried),
        ):
            kept.pop(race, None)
        del self.connected[:-3]

    def turn(self, state: LinkState) -> None:
        self.is_connected = state is LinkState.CONNECTED
        if self.is_connected:
            self.connected.append(time.monotonic())
        else:
            self.miss_answer()
        self.on_news()

    def miss_answer(self) -> None:
        """The one that is awaited may never come."""
        if self.board is not None:
            self.lost_answers[self.board.race] += 1


class NotingSwitchboard(Requests):
    """Writes down what goes by."""

    notes: Notes

    def hear(self, event: AnyEvent | UnknownEvent) -> None:
        self.notes.hear(event)
        super().hear(event)

    def deliver(self, event: AnyEvent) -> None:
        if isinstance(event, events.Snapshot):
            self.notes.take_up(event)
        super().deliver(event)

    def open(self, draft: Draft) -> "tuple[AnyCommand, object]":  # type: ignore[override]
        command, waiter = super().open(draft)
        self.notes.sent[command.id] = command
        return command, waiter


class NotingConnection(Connection):
    """A connection whose notes outlast it."""

    def __init__(
        self,
        url: str,
        name: str,
        timing: Timing = Timing(),  # noqa: B008 - frozen
    ) -> None:
        self.notes = Notes()
        super().__init__(
            url,
            new_token(),
            name=name,
            bot=True,
            client="test",
            timing=timing,
            on_state=self.notes.turn,
        )
        self._board = NotingSwitchboard(Backoff(), self._send)
        self._board.notes = self.notes

    async def request(self, draft: Draft, within: float | None = None) -> AnyEvent:
        try:
            return await super().request(draft, within)
        except RequestTimedOut:
            self.notes.miss_answer()
            raise


@dataclass
class RecordedPlayer:
    """A bot with a seat, and its notes."""

    house: NotingConnection
    strength: str
    temper: int
    name: str = ""
    seat: TablePlayer | None = None

    @property
    def notes(self) -> Notes:
        return self.house.notes

    async def race(self, races: int | None, pace: float, starts_with: int) -> Report:
        """Race so often; the host starts the races and calls the next ones."""
        self.seat = TablePlayer(
            self.house,
            CHOOSERS[Strength(self.strength)],
            pace=pace,
            temper=self.temper,
            races=races,
            starts_with=starts_with,
        )
        return await self.seat.stay()

    def objections(self, race: str) -> tuple[str, ...]:
        """What the seat's own watch over the house has found wrong with the race."""
        assert self.seat is not None
        testimony = self.seat._seat.testimonies.get(race)
        return () if testimony is None else testimony.disagreements

    def forget(self, race: str) -> None:
        """Drop what is noted of a race: it has been looked through."""
        self.notes.forget(race)
        if self.seat is not None:
            self.seat._seat.testimonies.pop(race, None)
            self.seat.report.openings.pop(race, None)


@asynccontextmanager
async def players_at_a_table(
    url: str | Sequence[str],
    game: str,
    names: str,
    line_up: Sequence[str] = LINE_UP,
    cap: int = 20,
) -> AsyncIterator[list[RecordedPlayer]]:
    """Bots at a table of their own, called `names` and a number; the first is host.

    Of several addresses each player takes the next.
    """
    doors = itertools.cycle([url] if isinstance(url, str) else url)
    async with AsyncExitStack() as stack:
        players: list[RecordedPlayer] = []
        sit_down: Draft = partial(CreateTable, game=game, cap=cap, seats=len(line_up))
        for number, strength in enumerate(line_up, start=1):
            house = await stack.enter_async_context(
                NotingConnection(next(doors), f"{names}{number}")
            )
            house.notes.player = house.welcome.player
            snapshot = await house.ask(sit_down, events.Snapshot)
            sit_down = partial(JoinTable, table=snapshot.table.code)
            players.append(RecordedPlayer(house, strength, number))
        yield players
