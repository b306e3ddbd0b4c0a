"""At which table a player sits: at one, whatever several connections ask for at once.

The player's row names that table, the table itself has the seat, and the two lie in different
parts of the store. So the row is written before the seat is taken, and looked at again after it.
Whatever the store leaves open in between is noted here, and looked at again until it is known.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Final

from saratoga_server.background_tasks import run_each_logged
from saratoga_server.domain import tables
from saratoga_server.domain.tables import Change, Phase, Refusal, Seat, TableState
from saratoga_server.live.live_table import LiveTable
from saratoga_server.live.table_cache import TableCache, fresh_seed
from saratoga_server.ports import Millis, PlayerStore

ELSEWHERE: Final = "elsewhere"


class SeatRegistry:
    """Knows who sits where."""

    def __init__(
        self, players: PlayerStore, table_cache: TableCache, seed: Callable[[], bytes] = fresh_seed
    ) -> None:
        self._players = players
        self._table_cache = table_cache
        self._seed = seed
        self._not_given_up: set[tuple[str, str]] = set()
        self._doubts: dict[tuple[str, str], tuple[str, ...]] = {}
        """Seats of which it is not known whether they are the player's only ones: what was passed over."""
        self.on_let_back: Callable[[str, LiveTable, str | None], Awaitable[None]] | None = None
        """Told that a player's seat at a table was given up for another; and why, if nobody asks now."""

    @asynccontextmanager
    async def taking(
        self, player: str, code: str, passed_over_before: Iterable[str] = ()
    ) -> AsyncIterator[list[str]]:
        """The row names that table, and the seat is taken; a `Refusal` if there is one at another.

        Gives the tables that the row named instead, though there was no seat: one may be on its way.
        """
        passed_over = [*passed_over_before]
        try:
            try:
                await self._take(player, code, passed_over)
            except Refusal:
                # of two seats, which a fault may have left, this one goes; unless a race is on
                seat = await self._seat(player, code)
                if seat is None:
                    raise
                await self._settle(player, code, seat.epoch)
            yield passed_over
        except BaseException:
            if passed_over:
                self._doubt(player, code, passed_over)
            raise

    async def make_sure(
        self, player: str, code: str, epoch: int, passed_over: Iterable[str] = ()
    ) -> None:
        """The seat there is taken, with that epoch; a `Refusal` if another was taken meanwhile.

        Then this one is given up, but by nobody who races at it: no race is lost for that. Of two
        connections that sit down at once, whoever is written last finds the other's seat here.
        """
        await self._settle(player, code, epoch, passed_over, is_asked=True)

    async def _settle(
        self,
        player: str,
        code: str,
        epoch: int,
        passed_over: Iterable[str] = (),
        *,
        is_asked: bool = False,
    ) -> None:
        with self._in_doubt(player, code, passed_over) as in_doubt:
            try:
                await self._give_way(player, code, in_doubt)
                await self._take(player, code, in_doubt)
            except Refusal as refusal:
                if refusal.code == ELSEWHERE:
                    reason = None if is_asked else refusal.detail
                    await self._let_back(player, code, epoch, reason)
                if not (await self._table_cache.live_table(code)).state.is_racing(player):
                    raise

    async def _take(self, player: str, code: str, passed_over: list[str]) -> None:
        """Let the row name that table; what it named instead is added to what was passed over."""
        elsewhere = await self._players.sit(player, code)
        while elsewhere is not None:
            if await self._seat(player, elsewhere):
                raise _sits_at(elsewhere)
            passed_over.append(elsewhere)
            elsewhere = await self._players.sit(player, code, instead_of=elsewhere)

    async def _give_way(self, player: str, code: str, passed_over: Iterable[str]) -> None:
        """A seat that was on its way when it was passed over was there first: the row's is that."""
        for other in passed_over:
            if await self._seat(player, other):
                await self._players.sit(player, other, instead_of=code)
                raise _sits_at(other)

    async def _let_back(self, player: str, code: str, epoch: int, reason: str | None) -> None:
        """Give a seat up that should not have been taken, unless a newer connection has it now."""

        def left(table: TableState, now: Millis) -> Change | None:
            seat = table.seat(player)
            if seat is None or seat.epoch != epoch or table.is_racing(player):
                return None
            return tables.leave(table, player, seat.last_id, now=now, fresh_seed=self._seed())

        live_table = await self._table_cache.change(code, left)
        if self.on_let_back is not None:
            await self.on_let_back(player, live_table, reason)

    async def give_up(self, player: str, code: str, last_id: int) -> None:
        """The player's seat there is gone; `last_id` is the last that came from it.

        What the store does not do now is done by `catch_up`.
        """
        try:
            # the next welcome must tell an id with which one can sit down there again
            await self._players.raise_last_id(player, last_id)
            await self._players.stand_up(player, code)
            if await self._seat(player, code):  # taken again meanwhile, and the row emptied after
                await self._players.sit(player, code)
        except BaseException:
            self._not_given_up.add((player, code))
            raise
        self._not_given_up.discard((player, code))

    async def may_have_been_at(self, player: str, code: str) -> bool:
        """Whether the player sits at that table, or has got up; of a closed one nobody knows any more."""
        state = await self._state(code)
        if state is None:
            return False
        is_known = state.seat(player) is not None or player in state.departed
        return is_known or state.phase is Phase.CLOSED

    async def catch_up(self) -> None:
        """Give up what could not be given up when it should have been, and make sure of the rest."""
        await run_each_logged(self._give_up_late(*each) for each in sorted(self._not_given_up))
        await run_each_logged(self._make_sure_late(*each) for each in sorted(self._doubts))

    async def _give_up_late(self, player: str, code: str) -> None:
        state = await self._state(code)  # by now the player may sit there again
        if state is not None and state.seat(player) is not None:
            self._not_given_up.discard((player, code))
            return
        last_id = 0 if state is None else state.departed.get(player, 0)
        await self.give_up(player, code, last_id)

    async def _make_sure_late(self, player: str, code: str) -> None:
        seat = await self._seat(player, code)
        try:
            if seat is not None:
                await self._settle(player, code, seat.epoch)
            else:
                with self._in_doubt(player, code) as passed_over:
                    await self._give_way(player, code, passed_over)
        except Refusal as refusal:
            if refusal.code != ELSEWHERE:  # that is what was to be found out
                raise

    def _doubt(self, player: str, code: str, passed_over: Iterable[str]) -> None:
        known = self._doubts.get((player, code), ())
        self._doubts[player, code] = tuple(dict.fromkeys((*known, *passed_over)))

    @contextmanager
    def _in_doubt(
        self, player: str, code: str, passed_over: Iterable[str] = ()
    ) -> Iterator[list[str]]:
        """What was passed over for the seat there; unless it is told apart now, it is noted."""
        in_doubt = list(dict.fromkeys((*self._doubts.pop((player, code), ()), *passed_over)))
        try:
            yield in_doubt
        except BaseException as fault:
            if not (isinstance(fault, Refusal) and fault.code == ELSEWHERE):
                self._doubt(player, code, in_doubt)
            raise

    async def _state(self, code: str) -> TableState | None:
        """The table, read again: nothing here must hang on hearsay. `None`: there is none.

        Any other `Refusal` is passed on: a table that this node cannot read may have the seat.
        """
        try:
            await self._table_cache.refresh(code)
            return (await self._table_cache.live_table(code)).state
        except Refusal as refusal:
            if refusal.code != "no_such_table":
                raise
            return None

    async def _seat(self, player: str, code: str) -> Seat | None:
        """The player's seat at a table that is open."""
        state = await self._state(code)
        if state is None or state.phase is Phase.CLOSED:
            return None
        return state.seat(player)


def _sits_at(code: str) -> Refusal:
    return Refusal(ELSEWHERE, f"You sit at {code}. Leave that table first.")
