"""Races on a real server for tests of the audit, which change the store and the notes and undo it."""

import copy
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from kit.recorded_players import Acknowledged, Notes
from kit.storms.auditor import Auditor
from kit.storms.installation import Installation
from kit.storms.storm_player import StormPlayer
from saratoga_server.store.keys import race_key, records_key
from saratoga_server.store.opening import Store

MOVES = 5
"""The number of moves that some player of each race has made."""
SETTLED_WITHIN = 0.2
"""Seconds that the audit waits for the outboxes, which were empty before the sabotage."""


@dataclass
class AuditedRaces:
    """The shared races, which tests sabotage."""

    installation: Installation
    store: Store
    client: Any
    """A connection to the store that bypasses the server."""

    @property
    def finished(self) -> list[StormPlayer]:
        """The players of the table whose race is over."""
        return self.installation.tables[0]

    @property
    def in_play(self) -> list[StormPlayer]:
        """The players of the table whose race is in play."""
        return self.installation.tables[1]

    @property
    def race(self) -> str:
        """The id of the finished race."""
        return f"{self.code}/1"

    @property
    def code(self) -> str:
        """The code of the finished race's table."""
        return self.finished[0].notes.code

    def record(self) -> str:
        """Return the record of the finished race."""
        text = self.client.hget(records_key(self.code), "1")
        assert isinstance(text, bytes)
        return text.decode()

    async def audited(self) -> Auditor:
        auditor = Auditor(self.installation, self.store, SETTLED_WITHIN)
        await auditor.audit_all()
        return auditor

    async def faults(self) -> list[str]:
        return (await self.audited()).faults

    def mover(self) -> tuple[StormPlayer, list[Acknowledged]]:
        """Return a player of the finished race who has made moves, and these moves."""
        return mover(self.finished)

    @contextmanager
    def restored(self) -> Iterator[None]:
        """Restore the store and the notes at the end of the block."""
        keys = {
            key: (self.client.dump(key), self.client.pttl(key)) for key in self.client.scan_iter()
        }
        notes = [contents_of(player.notes) for player in self.installation.players]
        try:
            yield
        finally:
            self.client.flushall()
            for key, (value, ttl) in keys.items():
                self.client.restore(key, max(ttl, 0), value)
            for player, kept in zip(self.installation.players, notes, strict=True):
                vars(player.notes).update(kept)


def mover(table: list[StormPlayer]) -> tuple[StormPlayer, list[Acknowledged]]:
    """Return a player with moves in the first race, and those moves."""
    for player in table:
        race = f"{player.notes.code}/1"
        moves = [each for each in player.notes.of_race(race) if each.after is not None]
        if len(moves) >= MOVES:
            return player, moves
    raise LookupError("no player has made enough moves")


def has_mover(table: list[StormPlayer]) -> bool:
    return any(len(player.notes.acknowledged) > MOVES for player in table)


def log_of(player: StormPlayer) -> str:
    """Return the key of the player's stored moves in the first race."""
    return f"{race_key(player.notes.code, 1)}:log:{player.notes.player}"


def contents_of(notes: Notes) -> dict[str, object]:
    return copy.deepcopy({name: value for name, value in vars(notes).items() if name != "on_news"})
