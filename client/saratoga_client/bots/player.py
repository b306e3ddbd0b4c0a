"""A bot at a table: it marks itself ready, plays its board, and continues with the next race.

It also takes a player's part in the fairness protocol (`session.fairness`).
"""

import asyncio
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Final

import msgspec

from saratoga_client.bots.choose import Choice, Chooser
from saratoga_client.bots.memory import Memory, remember
from saratoga_client.bots.pace import Pace, human_pace, steady_pace
from saratoga_client.net.connection import Connection
from saratoga_client.net.errors import CommandRefused, DealSpent, RequestTimedOut
from saratoga_client.net.requests import Draft
from saratoga_client.problems import Exit, Problem
from saratoga_client.session.error_messages import with_alarms
from saratoga_client.session.fairness import FairnessDuties
from saratoga_client.session.state import Verification
from saratoga_client.session.table_view import put_newest, takes_ready
from saratoga_client.session.witness import Witness
from saratoga_protocol import events
from saratoga_protocol.commands import AllowReady, CashOut, MakeMove, NextRace, Start
from saratoga_protocol.events import Event
from saratoga_protocol.views import rules_view
from saratoga_rules.game import Game
from saratoga_rules.games import GAMES
from saratoga_rules.moves import Move

RACING: Final = "racing"

OVER: Final = frozenset({"board_over", "time_up", "not_racing", "no_such_race", "race_running"})
"""Codes of refusals that mean that the board has ended."""

MOST_REFUSALS: Final = 10
"""Number of refusals in a row after which the bot stops with an error."""


class BoardPlayer:
    """A player of one board for a bot, from the deal to the end of the board."""

    def __init__(
        self,
        connection: Connection,
        game: Game,
        choose: Chooser,
        *,
        pace: Pace,
        variation: int = 0,
    ) -> None:
        self._connection = connection
        self._game = game
        self._choose = choose
        self._pace = pace
        self._memory = Memory(variation=variation)
        self._refusals = 0

    async def play(self, board: events.BoardView) -> events.BoardView:
        """Play from this board until it ends; return the ended board. Raises `CommandRefused`."""
        while board.state == RACING:
            began = time.monotonic()
            choice, pause = await asyncio.to_thread(self._think, board)
            await asyncio.sleep(max(0.0, began + pause - time.monotonic()))
            board = await self._send(board, choice)
        return board

    def _think(self, board: events.BoardView) -> tuple[Choice, float]:
        """Return the choice, and the seconds to wait before it is sent."""
        view = rules_view(board.view)
        choice = self._choose(self._game, view, self._memory)
        return choice, self._pace(self._game, view, self._memory, choice)

    async def _send(self, board: events.BoardView, choice: Choice) -> events.BoardView:
        try:
            if choice.move is None:
                made = await self._connection.ask(
                    partial(CashOut, race=board.race, after=board.count), events.BoardChanged
                )
                return made.board
            made = await self._connection.ask(
                partial(MakeMove, race=board.race, after=board.count, move=str(choice.move)),
                events.BoardChanged,
            )
        except RequestTimedOut:
            # If the server made the move, it refuses the next one and sends the current board.
            return board
        except CommandRefused as refusal:
            return self._after_refusal(board, refusal)
        self._refusals = 0
        self._memory = self._remembered(choice, choice.move, board, made.board)
        return made.board

    def _remembered(
        self, choice: Choice, move: Move, before: events.BoardView, after: events.BoardView
    ) -> Memory:
        seen_before, seen_after = rules_view(before.view), rules_view(after.view)
        return remember(self._game, choice.memory, seen_before, move, seen_after)

    def _after_refusal(self, board: events.BoardView, refusal: CommandRefused) -> events.BoardView:
        """Return the board after a refusal; the bot drops its plan if the board has changed."""
        self._refusals += 1
        may_retry = self._refusals <= MOST_REFUSALS
        if refusal.board is not None and may_retry:
            self._memory = replace(self._memory, plan=(), stock=())
            return refusal.board
        if refusal.code in OVER:
            return msgspec.structs.replace(board, state=refusal.code)
        if refusal.retry and may_retry:
            # The bot repeats the move under a new id.
            return board
        raise refusal


if TYPE_CHECKING:
    from saratoga_client.session.verdict import Proof

LOG: Final = logging.getLogger("saratoga.bot")

HARMLESS_REFUSALS: Final = frozenset(
    {"wrong_phase", "wrong_commitment", "nobody_ready", "host_only", "ready_blocked"}
)
"""Codes of refusals that mean only that the table has changed; the next event says how."""

MOST_DONE: Final = 1000
"""The most commands that a bot remembers as sent; only those of the present race could be sent twice."""

EXCUSED_VOIDS: Final = 5
"""The most countdowns, besides one for each race, that a player may have voided whom a host bot still allows."""

Alarm = Callable[[str], None]
"""A function that gets each new alarm in a sentence."""

OnChecked = Callable[[str, Verification], None]
"""A function that gets a race's id and the check of its record."""


@dataclass(slots=True)
class Report:
    """The deals that a bot saw and the results of its races, if their number is limited; and the alarms."""

    openings: dict[str, events.View] = field(default_factory=dict)
    """The first view of each race's deal, by race id."""
    outcomes: list[events.Outcome] = field(default_factory=list)
    alarms: tuple[str, ...] = ()
    """Sentences on how the server contradicted itself, and on races whose records are missing."""


class TablePlayer:
    """A bot with a seat at a table."""

    def __init__(
        self,
        connection: Connection,
        choose: Chooser,
        *,
        pace: float | None = None,
        variation: int = 0,
        races: int | None = None,
        starts_with: int | None = None,
        witness: Witness | None = None,
        on_event: Callable[[Event], None] = lambda event: None,
        alarm: Alarm = lambda sentence: None,
        on_checked: OnChecked = lambda race, found: None,
    ) -> None:
        """Create the player of a seated bot.

        `pace` is in moves per second, 0 for no pauses; without it the bot pauses like a person.
        `races` is the number of races to play; `None` means no limit. With `starts_with` a bot
        that is host starts a race when so many players are ready, and prepares the next one.
        `alarm` is called when the server contradicts itself, and `on_checked` after the check of each race.
        """
        self._connection = connection
        self._choose = choose
        self._pace = human_pace if pace is None else steady_pace(pace)
        self._variation = variation
        self._races = races
        self._starts_with = starts_with
        self._on_event = on_event
        self._alarm = alarm
        self._on_checked = on_checked
        self._duties = FairnessDuties(
            connection, witness or Witness(in_memory=True), self._alarms_changed
        )
        self._race = ""
        """The id of the race of the bot's current or last board; empty before the first."""
        self._done: dict[tuple[str, str], None] = {}
        """The last `MOST_DONE` commands sent, each with its race or commitment, so that none is sent twice."""
        self._board: asyncio.Task[events.BoardView] | None = None
        self._checks: set[asyncio.Task[None]] = set()
        """The checks of records that have begun and not ended."""
        self.report = Report()

    async def stay(self) -> Report:
        """Play until the last race is over; the bot must have a seat already.

        Raises `Problem` if the bot loses its seat, or the error that ended the connection.
        """
        try:
            async with asyncio.TaskGroup() as group:
                await self._follow(group)
                self._stop()
                await self._finish()
        except BaseExceptionGroup as group:
            raise _first_error(group) from None
        return self.report

    async def _follow(self, group: asyncio.TaskGroup) -> None:
        """Handle events until the last race is over."""
        async for event in self._connection.events():
            await self._duties.handle(event)
            for race in self._duties.records.take_due():
                check = group.create_task(self._check(race))
                self._checks.add(check)
                check.add_done_callback(self._checks.discard)
            self._on_event(event)
            if isinstance(event, events.SeatLost):
                raise await self._seat_lost(event)
            self._react(group, event)
            if self._races is not None and len(self.report.outcomes) >= self._races:
                return
            await self._prepare()

    def _react(self, group: asyncio.TaskGroup, event: Event) -> None:
        match event:
            case events.BoardChanged(board=board, entries=[]):
                if self._races is not None:
                    self.report.openings.setdefault(board.race, board.view)
                self._start_board(group, board)
            case events.Snapshot():
                if event.board is not None:
                    self._start_board(group, event.board)
                if event.outcome is not None:
                    self._record_outcome(event.outcome)
            case events.BoardChanged(re=None):
                self._stop()
            case events.RaceOver(outcome=outcome):
                self._record_outcome(outcome)
            case _:
                pass

    async def _seat_lost(self, event: events.SeatLost) -> Problem:
        """Finish the checks of the races at the table; return the problem that ends the bot's stay."""
        self._stop()
        await self._finish()
        problem = Problem("The bot has lost its seat.", event.reason, Exit.REFUSED)
        return with_alarms(problem, self.report.alarms)

    async def _finish(self) -> None:
        """Wait for the records of the table's races."""
        for check in self._checks:
            check.cancel()
        if (table := self._duties.table) is not None:
            await self._duties.finish(table.code, self._keep)

    async def _check(self, race: str) -> None:
        proof = await self._duties.records.check(race, self._late)
        if proof is not None:
            self._keep(race, proof)

    def _keep(self, race: str, proof: "Proof") -> None:
        self._on_checked(race, Verification(proof.ok, proof.sentence))

    def _late(self, race: str) -> None:
        from saratoga_client.session.verdict import not_sent_sentence

        self._on_checked(race, Verification(False, not_sent_sentence(race)))

    def _alarms_changed(self) -> None:
        known, self.report.alarms = self.report.alarms, self._duties.alarms
        for alarm in self.report.alarms:
            if alarm not in known:
                self._alarm(alarm)

    def _start_board(self, group: asyncio.TaskGroup, board: events.BoardView) -> None:
        """Start to play this board, unless the bot is playing it already."""
        is_playing = self._board is not None and not self._board.done()
        if board.state != RACING or (is_playing and self._race == board.race):
            return
        self._stop()
        self._race = board.race
        table = self._duties.table
        assert table is not None, "a board comes with a table"
        game = GAMES.get(table.settings.game)
        if game is None:
            LOG.warning(
                "the bot does not know the game %s, and makes no moves", table.settings.game
            )
            return
        player = BoardPlayer(
            self._connection,
            game,
            self._choose,
            pace=self._pace,
            variation=self._variation,
        )
        self._board = group.create_task(player.play(board))

    def _stop(self) -> None:
        if self._board is not None:
            self._board.cancel()
            self._board = None

    def _record_outcome(self, outcome: events.Outcome) -> None:
        """Record the outcome of a race that the bot was in, once."""
        known = any(noted.race == outcome.race for noted in self.report.outcomes)
        if outcome.race == self._race and not known:
            self._stop()
            if self._races is not None:
                self.report.outcomes.append(outcome)

    async def _prepare(self) -> None:
        """Mark the bot ready for the next race; as host, also start or open the race."""
        if self._connection.seat is None:
            return  # the event that says why is yet to be read
        draft = self._host_command()
        try:
            if draft is not None:
                await self._connection.request(draft)
            elif self._should_say_ready():
                await self._duties.ready()
        except CommandRefused as refusal:
            if refusal.code not in HARMLESS_REFUSALS and self._connection.seat is not None:
                raise
        except DealSpent as spent:
            LOG.warning("the bot does not take part in this race: %s", spent)
        except RequestTimedOut:
            self._done.clear()

    def _should_say_ready(self) -> bool:
        table = self._duties.table
        return (
            table is not None
            and takes_ready(table)
            and table.settings.game in GAMES
            and not self._duties.is_ready
            and not self._duties.is_blocked
            and self._is_first("ready", table.commitment)
        )

    def _host_command(self) -> Draft | None:
        """Return the host command that is due; `None` if none is, or the bot does not run the table."""
        table = self._duties.table
        if table is None or self._starts_with is None or not self._duties.is_host:
            return None
        if table.phase in ("call", "countdown"):
            self._done.pop(("start", table.commitment), None)  # the call may end without a race
        if table.phase == "over" and self._is_first("next", table.race):
            return partial(NextRace, table=table.code, race=table.race)
        for seat in table.seats:
            is_excused = seat.blocked and seat.voids <= EXCUSED_VOIDS + seat.races
            if is_excused and self._is_first("allow", f"{seat.player} {seat.voids}"):
                return partial(AllowReady, table=table.code, player=seat.player)
        ready = sum(seat.ready and seat.connected for seat in table.seats)
        is_time = self._duties.is_ready and ready >= self._starts_with
        if table.phase == "gathering" and is_time and self._is_first("start", table.commitment):
            return partial(Start, table=table.code, race=table.race)
        return None

    def _is_first(self, command: str, occasion: str) -> bool:
        """Return whether this command was not sent on this occasion before, and record it."""
        if (command, occasion) in self._done:
            return False
        put_newest(self._done, (command, occasion), None, MOST_DONE)
        return True


def _first_error(group: BaseExceptionGroup[BaseException]) -> BaseException:
    """Return the first error in an exception group and the groups nested in it."""
    error: BaseException = group
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error
