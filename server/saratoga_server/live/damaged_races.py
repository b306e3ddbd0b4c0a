"""The races on this node whose stored data are damaged, which are to be voided."""

from collections.abc import Collection

from saratoga_server.domain.damage import Damage
from saratoga_server.domain.tables import CommandRejected, TablePhase, TableState
from saratoga_server.live.due_tables import DueTables


class DamagedRaces:
    """The races whose stored data are damaged, as far as this node has noticed."""

    def __init__(self, due_tables: DueTables) -> None:
        self._due_tables = due_tables
        self._damage: dict[str, Damage] = {}
        """What is wrong with the stored data of a race, by race id; the race is to be voided."""

    def damage(self, race_id: str) -> Damage | None:
        """Return what is wrong with the stored data of a race that must be voided, else `None`."""
        return self._damage.get(race_id)

    def forget(self, race_id: str) -> None:
        """Forget the damage of a race that was voided or must be read again."""
        self._damage.pop(race_id, None)

    def keep_only(self, running: Collection[str]) -> None:
        """Forget the damage of all races except `running`."""
        self._damage = {race: damage for race, damage in self._damage.items() if race in running}

    def refusal(self, state: TableState, damage: Damage) -> CommandRejected:
        """Make the table due for the voiding of its race; return the refusal of a command meanwhile."""
        race = state.race_id
        if state.phase is not TablePhase.RUNNING:
            return CommandRejected("no_such_race")
        self._damage[race] = damage
        self._due_tables.set_now(state.code)
        return CommandRejected(
            "store_unavailable",
            "The stored data of this race are damaged, so the server voids it. Try again.",
        )
