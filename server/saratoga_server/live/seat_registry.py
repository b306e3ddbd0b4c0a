"""Ensure that a player has a seat at one table only, even with several connections.

The player's row names the table, and the table has the seat; the two are written one after the
other. So the row is written before the seat is taken, and checked after it. A table in the row
without a seat is replaced only if the row was not written since it was read: a seat whose check
came in between keeps the row. If the store's answer is lost in between, the seat is noted here as
uncertain and checked until it is known.

Of several connections that take seats at the same time, each may change the row while another
relies on it. So a connection that cannot free its seat, because a newer connection holds it, checks
that seat again; and one that finds a third table in the row settles the seat that it gives way to.
"""

from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Final

from saratoga_server.background_tasks import run_each_logged
from saratoga_server.domain import tables
from saratoga_server.domain.tables import Change, CommandRejected, TableState
from saratoga_server.live.seats import Seats
from saratoga_server.live.seeds import NewSeed
from saratoga_server.live.table_cache import TableCache
from saratoga_server.live.table_service import TableService
from saratoga_server.ports import Millis, RowTable
from saratoga_server.store.players import PlayerStore

ELSEWHERE: Final = "elsewhere"


class SeatRegistry:
    """The part that keeps players' rows and seats consistent."""

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
        """Uncertain seats, by player and table, with the tables that the row named before."""

    @asynccontextmanager
    async def taking(
        self, player: str, code: str, elsewhere: RowTable | None, before: Iterable[str] = ()
    ) -> AsyncIterator[list[str]]:
        """Write the table to the player's row; the caller takes the seat while this is entered.

        `elsewhere` is the result of `PlayerStore.sit`. Yields the tables that the row named before although
        the player had no seat there yet, starting with `before`. Raises `CommandRejected` if the player has
        a seat at another table.
        """
        tables_before = [*before]
        try:
            try:
                await self._take(player, code, elsewhere, tables_before)
            except CommandRejected:
                # after an error the player may have two seats: free this one, unless it races
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
        """Check the row after a seat was taken with that epoch. Raises `CommandRejected`.

        Then this seat is freed, unless the player races there. Of two connections that join different
        tables at the same time, the later one finds the other's seat here.
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

    async def _take(
        self, player: str, code: str, elsewhere: RowTable | None, before: list[str]
    ) -> None:
        """Write the table to the player's row; append those that it named before to `before`."""
        while elsewhere is not None:
            if await self._seats.seat(player, elsewhere.table):
                raise _sits_at(elsewhere.table)
            before.append(elsewhere.table)
            # fails if the row was written since: the seat may have been taken
            elsewhere = await self._players.sit(player, code, instead_of=elsewhere)

    async def _give_way(self, player: str, code: str, before: Iterable[str]) -> None:
        """Write an earlier table to the row again if the player has a seat there."""
        for other in before:
            seat = await self._seats.seat(player, other)
            if seat is None:
                continue
            if await self._players.sit(player, other, RowTable(code, 0)) is not None:
                # the row names a third table already, whose connection does not know of this seat
                await self._settle(player, other, seat.epoch)
            raise _sits_at(other)

    async def _give_up(self, player: str, code: str, epoch: int, reason: str | None) -> None:
        """Free a seat taken wrongly; if a newer connection holds it now, check it again."""

        def left(state: TableState, now: Millis) -> Change | None:
            seat = state.seat(player)
            if seat is None or seat.epoch != epoch or state.is_racing(player):
                return None
            return tables.force_leave(state, player, now=now, fresh_seed=self._new_seed())

        table = await self._table_service.change(code, left)
        await self._seats.lost(table, player, reason)
        seat = await self._seats.seat(player, code)
        if seat is not None and seat.epoch != epoch and not table.state.is_racing(player):
            # the newer connection may have found the row right, before this one changed it
            await self._settle(player, code, seat.epoch)

    async def catch_up(self) -> None:
        """Check the uncertain seats again."""
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
            if refusal.code != ELSEWHERE:  # after this refusal the seat is certain
                raise
            if seat is None and await self._seats.seat(player, code) is not None:
                # taken meanwhile: it may have found the row right, before this one changed it
                await self._check_late(player, code)

    def _note_unsure(self, player: str, code: str, before: Iterable[str]) -> None:
        known = self._unsure.get((player, code), ())
        self._unsure[player, code] = tuple(dict.fromkeys((*known, *before)))

    @contextmanager
    def _unsure_until_known(
        self, player: str, code: str, before: Iterable[str] = ()
    ) -> Iterator[list[str]]:
        """Yield the tables that the row named before; an error leaves the seat uncertain."""
        unsure = list(dict.fromkeys((*self._unsure.pop((player, code), ()), *before)))
        try:
            yield unsure
        except BaseException as fault:
            if not (isinstance(fault, CommandRejected) and fault.code == ELSEWHERE):
                self._note_unsure(player, code, unsure)
            raise


def _sits_at(code: str) -> CommandRejected:
    return CommandRejected(ELSEWHERE, f"You have a seat at {code}. Leave that table first.")
