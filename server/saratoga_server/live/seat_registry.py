"""At which table a player sits: at one, whatever several connections ask for at once.

The player's row names that table, the table itself has the seat, and the two lie in different parts of
the store. So the row is written before the seat is taken and checked after it. What the store leaves
uncertain in between is noted here and checked again until it is known.
"""

from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Final

from saratoga_server.background_tasks import run_each_logged
from saratoga_server.domain import tables
from saratoga_server.domain.tables import Change, CommandRejected, TablePhase, TableState
from saratoga_server.live.seats import Seats
from saratoga_server.live.seeds import NewSeed
from saratoga_server.live.table_cache import TableCache
from saratoga_server.live.table_service import TableService
from saratoga_server.ports import Millis, PlayerStore

ELSEWHERE: Final = "elsewhere"


class SeatRegistry:
    """Keeps rows and seats in agreement."""

    def __init__(
        self,
        players: PlayerStore,
        table_cache: TableCache,
        table_service: TableService,
        seats: Seats,
        new_seed: NewSeed,
    ) -> None:
        self._players = players
        self._table_cache = table_cache
        self._table_service = table_service
        self._seats = seats
        self._new_seed = new_seed
        self._unsure: dict[tuple[str, str], tuple[str, ...]] = {}
        """Seats that may not be the player's only ones: player and table, and the tables that the
        row named before, where a seat may have been under way."""

    @asynccontextmanager
    async def taking(
        self, player: str, code: str, elsewhere: str | None, before: Iterable[str] = ()
    ) -> AsyncIterator[list[str]]:
        """Have the row name the table, for a seat to be taken inside.

        `elsewhere` is what `PlayerStore.sit` has returned. Yields the tables that the row named
        instead, though there was no seat: one may be under way; `before` are known ones. Raises
        `CommandRejected` if the player sits elsewhere.
        """
        tables_before = [*before]
        try:
            try:
                await self._take(player, code, elsewhere, tables_before)
            except CommandRejected:
                # of two seats, which a fault may have left, this one is given up; unless it races
                seat = await self._seats.seat(player, code)
                if seat is None:
                    raise
                await self._settle(player, code, seat.epoch)
            yield tables_before
        except BaseException:
            if tables_before:
                self._note_unsure(player, code, tables_before)
            raise

    async def check(self, player: str, code: str, epoch: int, before: Iterable[str] = ()) -> None:
        """Check the row after a seat was taken, with that epoch. Raises `CommandRejected` if another was too.

        Then this seat is given up, unless the player races at it: no race is lost for that. Of two
        connections that sit down at once, the one written last finds the other's seat here.
        """
        await self._settle(player, code, epoch, before, is_asked=True)

    async def _settle(
        self,
        player: str,
        code: str,
        epoch: int,
        before: Iterable[str] = (),
        *,
        is_asked: bool = False,
    ) -> None:
        with self._unsure_until_known(player, code, before) as unsure:
            try:
                await self._give_way(player, code, unsure)
                await self._take(player, code, await self._players.sit(player, code), unsure)
            except CommandRejected as refusal:
                if refusal.code == ELSEWHERE:
                    reason = None if is_asked else refusal.detail
                    await self._give_up(player, code, epoch, reason)
                if not (await self._table_cache.get(code)).state.is_racing(player):
                    raise

    async def _take(self, player: str, code: str, elsewhere: str | None, before: list[str]) -> None:
        """Let the row name the table; tables that it named instead are added to `before`."""
        while elsewhere is not None:
            if await self._seats.seat(player, elsewhere):
                raise _sits_at(elsewhere)
            before.append(elsewhere)
            elsewhere = await self._players.sit(player, code, instead_of=elsewhere)

    async def _give_way(self, player: str, code: str, before: Iterable[str]) -> None:
        """Give the row back to a seat that was under way when the row named its table."""
        for other in before:
            if await self._seats.seat(player, other):
                await self._players.sit(player, other, instead_of=code)
                raise _sits_at(other)

    async def _give_up(self, player: str, code: str, epoch: int, reason: str | None) -> None:
        """Give up a seat that should not have been taken, unless a newer connection has it now."""

        def left(state: TableState, now: Millis) -> Change | None:
            seat = state.seat(player)
            if seat is None or seat.epoch != epoch or state.is_racing(player):
                return None
            return tables.force_leave(state, player, now=now, fresh_seed=self._new_seed())

        await self._seats.lost(await self._table_service.change(code, left), player, reason)

    async def may_have_been_at(self, player: str, code: str) -> bool:
        """Whether the player sits or sat at that table; assumed of a closed one."""
        state = await self._seats.state(code)
        if state is None:
            return False
        is_known = state.seat(player) is not None or player in state.departed
        return is_known or state.phase is TablePhase.CLOSED

    async def catch_up(self) -> None:
        """Check again what was uncertain."""
        await run_each_logged(self._check_late(*each) for each in sorted(self._unsure))

    async def _check_late(self, player: str, code: str) -> None:
        seat = await self._seats.seat(player, code)
        try:
            if seat is not None:
                await self._settle(player, code, seat.epoch)
            else:
                with self._unsure_until_known(player, code) as before:
                    await self._give_way(player, code, before)
        except CommandRejected as refusal:
            if refusal.code != ELSEWHERE:  # that is what was to be found out
                raise

    def _note_unsure(self, player: str, code: str, before: Iterable[str]) -> None:
        known = self._unsure.get((player, code), ())
        self._unsure[player, code] = tuple(dict.fromkeys((*known, *before)))

    @contextmanager
    def _unsure_until_known(
        self, player: str, code: str, before: Iterable[str] = ()
    ) -> Iterator[list[str]]:
        """Yield the tables that the row named before; noted again unless it becomes certain inside."""
        unsure = list(dict.fromkeys((*self._unsure.pop((player, code), ()), *before)))
        try:
            yield unsure
        except BaseException as fault:
            if not (isinstance(fault, CommandRejected) and fault.code == ELSEWHERE):
                self._note_unsure(player, code, unsure)
            raise


def _sits_at(code: str) -> CommandRejected:
    return CommandRejected(ELSEWHERE, f"You sit at {code}. Leave that table first.")
