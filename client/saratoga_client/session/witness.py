"""What this machine saw of the races that its players raced or watched: facts, kept in files.

One append-only file per race and player has the facts, so that a restarted program and `saratoga
verify` know them. Its first line says whose facts they are; each other line is a fact without the
race, or a note:

    nonce COMMITMENT     the nonce that this player drew for a deal
    listed COMMITMENT    the phase in which the racers were first listed for a deal
    leave                this program sent the command to leave
    checked              the digest of the record that was compared; empty after more was seen
    clash ..             another value of a fact, stated later
    lost all             the server said that it lost data: the facts before this line are not compared
    lost head            the server may have lost data of other racers: nor are the heads before this line
"""

import contextlib
import logging
import os
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

import msgspec

from saratoga_client.local.paths import (
    OWNER_ONLY,
    data_folder,
    delete_oldest,
    newest_first,
    replace_file,
)
from saratoga_rules.dealing.fairness import nonce_hash
from saratoga_rules.records.facts import CONTRADICTED, Finding, Key
from saratoga_rules.records.record import RACE_ID

LOG: Final = logging.getLogger("saratoga.seat")

FOLDER: Final = "witness"
FORMAT: Final = "saratoga facts 1"

NOTES: Final = frozenset({"nonce", "listed", "leave", "checked"})

RACED, WATCHED, UNSEEN = "raced", "watched", "unseen"
"""What this machine saw of a race from before its deal: as a racer, as a watcher, or not all of it."""

MAX_KEPT: Final = 1000
"""Maximum number of files; the oldest are deleted first."""
MAX_KEPT_OF_TABLE: Final = 200
"""Maximum number of files of one table, so that no server can delete those of other tables."""
MAX_RACES: Final = 32
"""Maximum number of races in memory."""

MISSED_FOR: Final = 7 * 24 * 60 * 60 * 1000
"""Milliseconds for which a race without a record is missed. Much later its id may be used again."""


@dataclass(slots=True)
class SeenRace:
    """The facts of one race that one player's program saw."""

    race: str
    player: str
    durability: str
    """What an acknowledged move survives, as the server said when the race was first seen."""
    seen_at: int
    """When the race was first seen, by this machine's clock, in milliseconds since 1970."""
    path: Path | None = field(default=None, compare=False)
    facts: dict[Key, str] = field(default_factory=dict)
    notes: dict[Key, str] = field(default_factory=dict)
    clashes: list[Finding] = field(default_factory=list)
    is_lost: bool = False
    """True after the server said that it lost data of the unfinished race."""
    unsaved: list[list[str]] = field(default_factory=list, compare=False)

    @property
    def deal(self) -> str:
        """The commitment to the deal; empty if it was not seen."""
        return self.facts.get(("commitment", self.race), "")

    @property
    def is_listed(self) -> bool:
        return any(key[0] == "listed" for key in self.notes)

    @property
    def is_checked(self) -> bool:
        return bool(self.notes.get(("checked", self.race)))

    @property
    def is_missed(self) -> bool:
        """True if the racers were listed lately, and no record was compared with all that was seen."""
        return self.is_listed and self.is_recent and not self.is_checked

    @property
    def is_recent(self) -> bool:
        return now() - self.seen_at < MISSED_FOR

    @property
    def worth(self) -> str:
        """`RACED`, `WATCHED` or `UNSEEN`: evidence from after the deal is worth nothing."""
        if self.is_lost or self.notes.get(("listed", self.race, self.deal)) != "countdown":
            return UNSEEN
        if (hashed := self.facts.get(("hash", self.race, self.player))) is not None:
            nonce = self.notes.get(("nonce", self.race, self.deal))
            return RACED if nonce and nonce_hash(bytes.fromhex(nonce)) == hashed else UNSEEN
        return WATCHED if any(key[0] in ("head", "void") for key in self.facts) else UNSEEN

    def clash(self, key: Key, value: str | None) -> Finding | None:
        """Return how a fact contradicts those seen before."""
        known = self.facts.get(key)
        if known is None or known == value:
            return None
        return Finding(CONTRADICTED, key, known, "nothing" if value is None else value)

    def add(self, *line: str) -> None:
        """Take over a fact or a note; `save` writes it."""
        self.apply([*line])
        self.unsaved.append([*line])

    def save(self) -> None:
        """Append what was added to the file; a failure is logged."""
        lines, self.unsaved = self.unsaved, []
        if lines and self.path is not None:
            # each line begins with its line feed, so that a line cut short by a crash does not join it
            text = b"".join(b"\n" + msgspec.json.encode(line) for line in lines)
            with _logged(self.race):
                handle = os.open(self.path, os.O_WRONLY | os.O_APPEND)
                with os.fdopen(handle, "ab") as file:
                    file.write(text)

    def apply(self, line: list[str]) -> None:
        """Take over a line of the file; raises `ValueError` for one that is cut short."""
        kind, *rest = line
        if kind == "lost":
            is_all = rest == ["all"]
            self.is_lost = self.is_lost or is_all
            kept = () if is_all else self.facts.items()
            self.facts = {key: value for key, value in kept if key[0] != "head"}
        elif kind == "clash":
            of, *more, seen, found = rest
            self.clashes.append(Finding(CONTRADICTED, (of, self.race, *more), seen, found))
        else:
            *more, value = rest
            known = self.notes if kind in NOTES else self.facts
            known[(kind, self.race, *more)] = value


class Witness:
    """What one player at one table sees, kept in a folder or, for a bot, in memory."""

    def __init__(self, folder: Path | None = None, *, in_memory: bool = False) -> None:
        self._folder = None if in_memory else folder or data_folder() / FOLDER
        self.races: dict[str, SeenRace] = {}
        """The latest races at the table, by id."""

    def evidence(self, race: str) -> SeenRace | None:
        """Return a copy of what any player of this machine saw of a race; `None` if nothing is kept.

        The file that was changed last tells which race is meant, because several servers may use
        its id; of that race, the facts that are worth the most are returned. They include what its
        record says of other races.
        """
        if not number_of(race):
            return None
        found = self._read(f"{_stem(race)}.*.facts")
        same = [each for each in found if each.deal == found[0].deal]
        if not same:
            return None
        seen = max(same, key=lambda each: (UNSEEN, WATCHED, RACED).index(each.worth))
        others = self._read(f"{_table(race)}.*.{seen.player}.facts")
        return with_others(seen, [each for each in others if each.is_recent])

    def recall(self, table: str, player: str) -> None:
        """Load what a player saw of a table's latest races in earlier runs of the program."""
        if number_of(f"{table}/1"):
            for seen in self._read(f"{table}.*.{player}.facts"):
                if seen.is_recent:
                    self.races.setdefault(seen.race, seen)

    def open(self, race: str, player: str, durability: str) -> SeenRace:
        """Return what the player saw of a race, whose facts are kept from now on."""
        if (known := self.races.get(race)) is not None:
            return known
        seen = self.races[race] = SeenRace(race, player, durability, now())
        if len(self.races) > MAX_RACES:
            # a race without a record goes last, so that no later race removes its evidence before the check
            done = (each.race for each in self.races.values() if each.is_checked)
            del self.races[next(done, next(iter(self.races)))]
        # the server chooses the id, which may be no file name
        if self._folder is not None and number_of(race):
            seen.path = self._folder / f"{_stem(race)}.{player}.facts"
            first = [FORMAT, race, player, durability, str(seen.seen_at)]
            with _logged(race):
                # not durable: waiting for the disk would block the event loop
                replace_file(seen.path, msgspec.json.encode(first), mode=OWNER_ONLY, durable=False)
                delete_oldest(self._folder, f"{_table(race)}.*.facts", MAX_KEPT_OF_TABLE)
                delete_oldest(self._folder, "*.facts", MAX_KEPT)
        return seen

    def _read(self, pattern: str) -> list[SeenRace]:
        """Return what the matching files have, the last changed first."""
        paths = [] if self._folder is None else newest_first(self._folder, pattern)[:MAX_RACES]
        return [seen for path in paths if (seen := _seen_in(path)) is not None]


def with_others(seen: SeenRace, others: list[SeenRace]) -> SeenRace:
    """Return a copy of what was seen of a race, with the facts of others that its record states too."""
    more = {
        key: value
        for each in others
        for key, value in each.facts.items()
        if each.race != seen.race and key[0] in ("terms", "end")
    }
    return replace(seen, facts=more | seen.facts, clashes=list(seen.clashes))


def now() -> int:
    """Return this machine's time in milliseconds since 1970; no server can change it."""
    return time.time_ns() // 1_000_000


def number_of(race: str) -> int:
    """Return the number of a race at its table; 0 for a text that is no race's id."""
    return int(race.rpartition("/")[2]) if re.fullmatch(RACE_ID, race) else 0


def _table(race: str) -> str:
    return race.rpartition("/")[0]


def _stem(race: str) -> str:
    return race.replace("/", ".")


def _seen_in(path: Path) -> SeenRace | None:
    """Return the facts in a file; `None` if it cannot be read. A line that a crash has cut short says nothing."""
    try:
        first, *later = path.read_bytes().split(b"\n")
        form, race, player, durability, seen_at = msgspec.json.decode(first, type=list[str])
        seen = SeenRace(race, player, durability, int(seen_at), path)
    except (OSError, ValueError, msgspec.DecodeError):
        return None
    if form != FORMAT or not number_of(race):
        return None
    for line in later:
        with contextlib.suppress(ValueError, msgspec.DecodeError):
            seen.apply(msgspec.json.decode(line, type=list[str]))
    return seen


@contextlib.contextmanager
def _logged(race: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        LOG.warning("the evidence of race %s could not be saved: %s", race, error)
