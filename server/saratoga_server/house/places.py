"""At which table a player sits: at one, whatever several connections ask for at once.

The player's row names that table, the table itself has the seat, and the two lie in different
parts of the store. So the row is written before the seat is taken, and looked at again after it.
"""

from collections.abc import Sequence

from saratoga_server.errands import guarded_each
from saratoga_server.floor.floor import Floor
from saratoga_server.ports import PlayerStore
from saratoga_server.table import Phase, Refusal


class Places:
    """Knows who sits where."""

    def __init__(self, players: PlayerStore, floor: Floor) -> None:
        self._players = players
        self._floor = floor
        self._not_given_up: set[tuple[str, str]] = set()

    async def take(self, player: str, code: str) -> list[str]:
        """Let the row name that table; a `Refusal` if the player has a seat at another.

        Returns the tables that the row named instead, though there was no seat: one may be on its way.
        """
        passed_over: list[str] = []
        elsewhere = await self._players.sit(player, code)
        while elsewhere is not None:
            if await self._has_seat(player, elsewhere):
                raise _sits_at(elsewhere)
            passed_over.append(elsewhere)
            elsewhere = await self._players.sit(player, code, instead_of=elsewhere)
        return passed_over

    async def make_sure(self, player: str, code: str, passed_over: Sequence[str] = ()) -> None:
        """The seat there is taken; a `Refusal` if another was taken meanwhile: then give this one up.

        Of two connections that sit down at once, whoever is written last finds the other's seat here.
        """
        for other in passed_over:
            if await self._has_seat(player, other):
                await self._players.sit(player, other, instead_of=code)
                raise _sits_at(other)
        await self.take(player, code)

    async def give_up(self, player: str, code: str, last_id: int) -> None:
        """The player's seat there is gone; `last_id` is the last that came from it.

        What the store does not do now is done by `catch_up`.
        """
        try:
            # the next welcome must tell an id with which one can sit down there again
            await self._players.raise_last_id(player, last_id)
            await self._players.stand_up(player, code)
        except BaseException:
            self._not_given_up.add((player, code))
            raise
        self._not_given_up.discard((player, code))

    async def catch_up(self) -> None:
        """Give up what could not be given up when it should have been."""
        await guarded_each(self._give_up_late(*each) for each in sorted(self._not_given_up))

    async def _give_up_late(self, player: str, code: str) -> None:
        last_id = 0
        try:
            await self._floor.refresh(code)  # by now the player may sit there again
            state = (await self._floor.room(code)).state
        except Refusal:
            pass  # that table is long gone
        else:
            if state.seat(player) is not None:
                self._not_given_up.discard((player, code))
                return
            last_id = state.departed.get(player, 0)
        await self.give_up(player, code, last_id)

    async def _has_seat(self, player: str, code: str) -> bool:
        try:
            await self._floor.refresh(code)  # a seat elsewhere must not hang on hearsay
            state = (await self._floor.room(code)).state
        except Refusal:
            return False
        return state.phase is not Phase.CLOSED and state.seat(player) is not None


def _sits_at(code: str) -> Refusal:
    return Refusal("elsewhere", f"You sit at {code}. Leave that table first.")
