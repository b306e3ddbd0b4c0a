"""A bot at a table: sits down, says ready, races, and comes again for the next race.

It keeps the seat's duties by the deal (`seat.Seat`) as a person's program does, and it shows
itself as a bot in its hello.
"""

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Final

from saratoga_client.bots.board import RACING, BoardPlayer
from saratoga_client.bots.choice import Chooser
from saratoga_client.net.connection import Connection
from saratoga_client.net.errors import CommandRefused, DealSpent, RequestTimedOut
from saratoga_client.net.unanswered import Draft
from saratoga_client.problems import Exit, Problem
from saratoga_client.session.fairness import FairnessDuties
from saratoga_client.session.witness import Testimony, Witness
from saratoga_protocol import events
from saratoga_protocol.commands import NextRace, Start
from saratoga_protocol.events import AnyEvent
from saratoga_rules.games import GAMES

LOG: Final = logging.getLogger("saratoga.bot")

PACE: Final = 3.0
"""Moves a second, about what a quick person makes."""

OVERTAKEN: Final = frozenset({"wrong_phase", "wrong_commitment", "nobody_ready", "host_only"})
"""Refusals that say only that the table has moved on; the next event tells where to."""


@dataclass(slots=True)
class Report:
    """What a bot has to tell."""

    openings: dict[str, events.View] = field(default_factory=dict)
    """The deal as it was seen, by race."""
    outcomes: list[events.Outcome] = field(default_factory=list)


class TablePlayer:
    """A bot with a seat at a table."""

    def __init__(
        self,
        house: Connection,
        choose: Chooser,
        *,
        pace: float = PACE,
        temper: int = 0,
        races: int | None = None,
        starts_with: int | None = None,
        witness: Witness | None = None,
        on_event: Callable[[AnyEvent], None] = lambda event: None,
    ) -> None:
        """`races`: how many it stays for; `None` is as many as there are.

        `starts_with`: a bot that is host runs its table: it starts the race when so many are
        ready, and calls the next one.
        """
        self._house = house
        self._choose = choose
        self._pace = pace
        self._temper = temper
        self._races = races
        self._starts_with = starts_with
        self._on_event = on_event
        self._seat = FairnessDuties(house, witness)
        self._race = ""
        """The race of the board that is or was being played."""
        self._done: set[tuple[str, str]] = set()
        """What was said to the house, and on which race or commitment: nothing is said twice."""
        self._board: asyncio.Task[events.BoardView] | None = None
        self.report = Report()

    @property
    def testimonies(self) -> dict[str, Testimony]:
        """What the bot witnessed of each finished race, by race id."""
        return self._seat.testimonies

    async def stay(self) -> Report:
        """Play until the last race is over; the seat must have been taken.

        Raises `Problem` when the seat is lost, or whatever came between bot and house.
        """
        try:
            async with asyncio.TaskGroup() as group:
                await self._attend(group)
                self._stop()
        except BaseExceptionGroup as troubles:
            raise _first(troubles) from None
        return self.report

    async def _attend(self, group: asyncio.TaskGroup) -> None:
        """Take in the house's events until there is no more to do."""
        async for event in self._house.events():
            await self._seat.handle(event)
            self._on_event(event)
            match event:
                case events.Dealt(board=board):
                    self.report.openings.setdefault(board.race, board.view)
                    self._take_up(group, board)
                case events.Snapshot():
                    if event.board is not None:
                        self._take_up(group, event.board)
                    if event.outcome is not None:
                        self._note(event.outcome)
                case events.BoardEnded():
                    self._stop()
                case events.RaceOver(outcome=outcome):
                    self._note(outcome)
                case events.SeatLost(reason=reason):
                    raise Problem("The bot has lost its seat.", reason, Exit.REFUSED)
                case _:
                    pass
            if self._races is not None and len(self.report.outcomes) >= self._races:
                return
            await self._prepare()

    def _take_up(self, group: asyncio.TaskGroup, board: events.BoardView) -> None:
        """Play this board, unless that is being done already."""
        is_playing = self._board is not None and not self._board.done()
        if board.state != RACING or (is_playing and self._race == board.race):
            return
        self._stop()
        self._race = board.race
        table = self._seat.table
        assert table is not None, "a board comes with a table"
        player = BoardPlayer(
            self._house,
            GAMES[table.settings.game],
            self._choose,
            pace=self._pace,
            temper=self._temper,
        )
        self._board = group.create_task(player.play(board))

    def _stop(self) -> None:
        if self._board is not None:
            self._board.cancel()
            self._board = None

    def _note(self, outcome: events.Outcome) -> None:
        """Remember how a race ended that this bot was in; each once."""
        known = any(noted.race == outcome.race for noted in self.report.outcomes)
        if outcome.race == self._race and not known:
            self._stop()
            self.report.outcomes.append(outcome)

    async def _prepare(self) -> None:
        """Do what brings the next race about: say ready, and as host start it, or call it."""
        draft = self._duty()
        try:
            if draft is not None:
                await self._house.request(draft)
            elif self._is_to_say_ready():
                await self._seat.ready()
        except CommandRefused as no:
            if no.code not in OVERTAKEN:
                raise
        except DealSpent as spent:
            LOG.warning("the bot sits this one out: %s", spent)
        except RequestTimedOut:
            self._done.clear()

    def _is_to_say_ready(self) -> bool:
        table = self._seat.table
        return (
            table is not None
            and table.phase == "gathering"
            and not self._seat.is_ready
            and self._is_first("ready", table.commitment)
        )

    def _duty(self) -> Draft | None:
        """What a host does now, if this bot is host and one that runs its table."""
        table = self._seat.table
        if table is None or self._starts_with is None or not self._seat.is_host:
            return None
        if table.phase == "over" and self._is_first("next", table.race):
            return partial(NextRace, table=table.code)
        ready = sum(seat.ready and seat.connected for seat in table.seats)
        is_time = self._seat.is_ready and ready >= self._starts_with
        if table.phase == "gathering" and is_time and self._is_first("start", table.commitment):
            return partial(Start, table=table.code)
        return None

    def _is_first(self, deed: str, occasion: str) -> bool:
        """Whether this was not done yet on this occasion; from now on it was."""
        if (deed, occasion) in self._done:
            return False
        self._done.add((deed, occasion))
        return True


def _first(troubles: BaseExceptionGroup[BaseException]) -> BaseException:
    """What went wrong first; a group is an affair of tasks, not of whoever reads it."""
    trouble: BaseException = troubles
    while isinstance(trouble, BaseExceptionGroup):
        trouble = trouble.exceptions[0]
    return trouble
