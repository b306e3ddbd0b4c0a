"""A player in a storm: a racing bot, its notes, and the faulty link through which it connects."""

import time
from dataclasses import dataclass
from itertools import pairwise

from kit.faulty_link import PlayerLink
from kit.recorded_players import Notes, RecordedPlayer

RECENT = 50
"""The number of latest acknowledged moves that `back_since` searches."""


@dataclass
class StormPlayer:
    """A racing bot and its faulty link to the servers."""

    bot: RecordedPlayer
    link: PlayerLink

    @property
    def notes(self) -> Notes:
        return self.bot.notes

    def back_since(self, moment: float, *, by_reconnect: bool) -> float | None:
        """Return when the server first acknowledged a move after `moment`, `None` if it has not yet.

        A player without a board to play on is back when any event arrives. With `by_reconnect`, only
        what follows a new connection counts.
        """
        notes = self.notes
        if by_reconnect:
            connected = [at for at in notes.connected if at > moment]
            if not connected:
                return None
            moment = connected[0]
        for each in notes.acknowledged[-RECENT:]:
            if each.moment > moment:
                return each.moment
        if notes.is_connected and not notes.is_racing and notes.heard > moment:
            return notes.heard
        return None

    def pause(self, since: float, until: float) -> float:
        """Return the longest time in seconds without an acknowledged move.

        The time between two races does not count.
        """
        answers = [(each.moment, each.race) for each in self.notes.acknowledged]
        answers += [(moment, race) for race, moment in self.notes.over.items()]
        heard = sorted(answer for answer in answers if since < answer[0] <= until)
        if not heard:
            return until - since
        stops = [(since, heard[0][1]), *heard]
        return max(
            after[0] - before[0] for before, after in pairwise(stops) if before[1] == after[1]
        )

    def __str__(self) -> str:
        notes = self.notes
        board = notes.board
        count = "" if board is None else f", {board.count} moves ({board.state})"
        link = "connected" if notes.is_connected else "disconnected"
        ago = time.monotonic() - notes.heard
        return (
            f"{self.bot.name} at {notes.code}: {notes.phase}{count}, {link} "
            f"(node {self.link.server_port}), last event {ago:.1f} s ago, "
            f"refusals {dict(notes.refused)}"
        )
