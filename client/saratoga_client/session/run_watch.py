"""What this machine saw of open races, and what contradicts it.

While an open race is open, its deal and the other runs are the server's word. So this machine keeps
the commitments, how the player's own run ended, the ghosts' counts with their times, and the digest
of the closing record.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct

from saratoga_client.local.paths import data_folder, replace_file
from saratoga_protocol import events
from saratoga_rules.records.heads import heads
from saratoga_rules.records.record import RaceRecord
from saratoga_rules.records.replay import steps

FILE: Final = "open.json"
MOST_KEPT: Final = 2_000
"""The most commitments and runs that are kept, the newest."""

EARLY: Final = 1_000
"""Milliseconds by which the clocks of server and client may differ for a ghost's count."""


class SeenRun(Struct, kw_only=True, omit_defaults=True):
    """What this machine saw of the player's own run in an open race."""

    commitment: str
    head: str
    banked: int
    state: str
    ghosts: list[tuple[int, str, int]] = []
    """Counts of ghosts as they were shown: milliseconds from the own start, player id, banked cards."""
    digest: str = ""
    """The digest of the closing record, once it was seen."""


class _Seen(Struct, kw_only=True):
    commitments: dict[str, str] = {}
    """By player id at that server and open race's id, as are the runs."""
    runs: dict[str, SeenRun] = {}
    challenges: dict[str, int] = {}
    """The player's own challenges, by the same key, with the number of results that were told."""
    alarms: dict[str, bool] = {}
    """The alarms that were told, which are not told again at each visit."""


class OpenBook:
    """What this machine saw of open races; of a bot, nothing is kept."""

    def __init__(self, folder: Path | None = None, *, in_memory: bool = False) -> None:
        self._path = None if in_memory else (folder or data_folder()) / FILE
        self._seen = _Seen()
        if self._path is not None:
            try:
                self._seen = msgspec.json.decode(self._path.read_bytes(), type=_Seen)
            except (OSError, msgspec.DecodeError, UnicodeDecodeError):
                self._seen = _Seen()

    def check(self, player: str, shown: events.OpenRaceShown) -> list[str]:
        """Keep the commitments and the digest that a server shows; return a sentence, once, for each that has changed."""
        told = {day.open: day.commitment for day in shown.days}
        told[shown.open.id] = shown.open.commitment
        found: list[str] = []
        for race, commitment in told.items():
            known = self._seen.commitments.setdefault(f"{player} {race}", commitment)
            if known != commitment:
                found.append(f"the server has changed the deal of {race} that it had promised")
        run = self.run(player, shown.open.id)
        if run is not None and shown.open.digest:
            if run.digest not in ("", shown.open.digest):
                found.append(f"the server has changed the record of {shown.open.id} after closing")
            run.digest = run.digest or shown.open.digest
        found = [each for each in found if f"{player} {each}" not in self._seen.alarms]
        self._seen.alarms |= {f"{player} {each}": True for each in found}
        self._save()
        return found

    def run(self, player: str, race: str) -> SeenRun | None:
        """Return what was seen of the player's run; `None` if nothing was."""
        return self._seen.runs.get(f"{player} {race}")

    def keep(self, player: str, race: str, run: SeenRun) -> None:
        """Keep how a run has ended."""
        self._seen.runs[f"{player} {race}"] = run
        self._save()

    def has_run(self, race: str) -> bool:
        """Return whether a player of this machine had a run in an open race."""
        return any(key.endswith(f" {race}") for key in self._seen.runs)

    def wrong(self, record: RaceRecord, digest: str) -> list[str]:
        """Return how a closing record differs from what this machine saw of its players' runs."""
        found: list[str] = []
        for key, run in self._seen.runs.items():
            player, _, race = key.partition(" ")
            if race == record.race_id:
                found += contradictions(run, record, player)
                if run.digest not in ("", digest):
                    found.append(f"the record of {race} was changed after closing")
        return found

    def challenges(self, player: str) -> dict[str, int]:
        """Return the player's challenges, the newest first, each with the number of results that were told."""
        mine = [key for key in self._seen.challenges if key.startswith(f"{player} ")]
        return {key.split(" ")[1]: self._seen.challenges[key] for key in reversed(mine)}

    def tell(self, player: str, race: str, results: int) -> None:
        """Note that so many results of the player's challenge were told."""
        self._seen.challenges[f"{player} {race}"] = results
        self._save()

    def _save(self) -> None:
        if self._path is not None:
            seen = self._seen
            for kept in (seen.commitments, seen.runs, seen.challenges, seen.alarms):
                for old in list(kept)[:-MOST_KEPT]:
                    del kept[old]
            replace_file(self._path, msgspec.json.encode(self._seen), durable=False)


class RunWatch:
    """Keeps what a table session sees of a run in an open race."""

    def __init__(self, player: str, *, in_memory: bool = False) -> None:
        self._player = player
        self._in_memory = in_memory
        self._table: events.Table | None = None
        self._ghosts: list[tuple[int, str, int]] = []

    def see(self, event: events.Event, now: int) -> None:
        """See an event of the session at the server's time."""
        table = self._table
        if isinstance(event, events.Snapshot | events.TableChanged) and event.table.open:
            self._table = event.table
        elif isinstance(event, events.Standings) and table is not None:
            last = {player: banked for _, player, banked in self._ghosts}
            ghosts = {racer.player for racer in table.racers if racer.ghost}
            self._ghosts += [
                (now - table.start_at, row.player, row.banked)
                for row in event.standings
                if row.player in ghosts and last.get(row.player) != row.banked
            ]
        elif isinstance(event, events.RaceOver) and table is not None:
            for own in (each for each in event.outcome.results if each.player == self._player):
                run = SeenRun(
                    commitment=table.commitment,
                    head=own.head,
                    banked=own.banked,
                    state=own.state,
                    ghosts=self._ghosts,
                )
                OpenBook(in_memory=self._in_memory).keep(self._player, table.open, run)


def contradictions(seen: SeenRun, record: RaceRecord, player: str) -> Iterator[str]:
    """Yield how a closing record differs from what this machine saw of the player's run."""
    if record.commitment != seen.commitment:
        yield "the record has another commitment than the one that was shown before the run"
    racer = next((each for each in record.racers if each.player == player), None)
    if racer is None:
        yield "your run is missing in the record"
        return
    if heads(record.key, record.race_id, player, racer.log)[-1] != seen.head:
        yield "the record has another deal or other moves than your run"
    row = next(row for row in record.results if row.player == player)
    if (row.banked, row.state) != (seen.banked, seen.state):
        yield "the record has another result than your run"
    climbs = {each.player: steps(record, each.player) for each in record.racers}
    for at, ghost, banked in seen.ghosts:
        made = climbs.get(ghost)
        if made is not None:
            past = [step.position.banked for step in made if step.line.at <= at + EARLY]
            if banked > max([record.opening.banked, *past]):
                yield "a ghost ran ahead of its own run"
                return
