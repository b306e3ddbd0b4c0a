"""What this machine saw of the races at a table: kept in files, and compared as it comes and with the record.

A server that states another value of a fact than before contradicts itself, at once or by its record. One
append-only file per race and player has the facts, so that a restarted program and `saratoga verify` know them.
Its first line says whose facts they are; each other line is a fact without the race, or a note:

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
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from itertools import pairwise
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
from saratoga_client.net.connection import Connection
from saratoga_client.session.facts import Fact, facts
from saratoga_protocol import events
from saratoga_protocol.commands import CashOut, Command, MakeMove
from saratoga_protocol.events import Event
from saratoga_rules.dealing.fairness import nonce_hash
from saratoga_rules.records.facts import CONTRADICTED, MISSING, Finding, Key, skipped
from saratoga_rules.records.record import PLAYER, RACE_ID

LOG: Final = logging.getLogger("saratoga.seat")

FOLDER: Final = "witness"
FORMAT: Final = "saratoga facts 1"

FAST: Final = "fast"
"""The durability at which a server may lose what it has acknowledged."""

NOTES: Final = frozenset({"nonce", "listed", "leave", "checked"})

RACED, WATCHED, UNSEEN = "raced", "watched", "unseen"
"""What this machine saw of a race from before its deal: as a racer, as a watcher, or not all of it."""

MAX_KEPT: Final = 1000
"""Maximum number of files; the oldest are deleted first."""
MAX_KEPT_OF_TABLE: Final = 200
"""Maximum number of files of one table, so that no server can delete those of other tables."""
MAX_RACES: Final = 32
"""Maximum number of races in memory."""
MAX_FACTS: Final = 100_000
"""Maximum number of facts of one race; the longest logs of a full table have fewer."""
MAX_CLASHES: Final = 100
"""Maximum number of contradictions that are kept of one race, and told at one table."""
MAX_VALUE: Final = 400
"""Maximum number of characters of a value; the longest names sixteen players."""

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
    facts: dict[Key, str] = field(default_factory=dict)
    notes: dict[Key, str] = field(default_factory=dict)
    clashes: list[Finding] = field(default_factory=list)
    is_lost: bool = False
    """True after the server said that it lost data of the unfinished race."""

    @property
    def is_listed(self) -> bool:
        return any(key[0] == "listed" for key in self.notes)

    @property
    def is_checked(self) -> bool:
        return bool(self.notes.get(("checked", self.race)))

    @property
    def is_recent(self) -> bool:
        return now() - self.seen_at < MISSED_FOR

    @property
    def worth(self) -> str:
        """`RACED`, `WATCHED` or `UNSEEN`: evidence from after the deal is worth nothing."""
        deal = self.facts.get(("commitment", self.race), "")
        if self.is_lost or self.notes.get(("listed", self.race, deal)) != "countdown":
            return UNSEEN
        if (hashed := self.facts.get(("hash", self.race, self.player))) is not None:
            nonce = self.notes.get(("nonce", self.race, deal))
            return RACED if nonce and nonce_hash(bytes.fromhex(nonce)) == hashed else UNSEEN
        return WATCHED if any(key[0] in ("head", "void") for key in self.facts) else UNSEEN

    def clash(self, key: Key, value: str | None) -> Finding | None:
        """Return how a fact contradicts those seen before."""
        known = self.facts.get(key)
        if known is None or known == value:
            return None
        return Finding(CONTRADICTED, key, known, "nothing" if value is None else value)

    def apply(self, line: list[str]) -> None:
        """Take over a line of the file."""
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
    """The facts kept on this machine, in a folder or, for a bot, in memory."""

    def __init__(self, folder: Path | None = None, *, in_memory: bool = False) -> None:
        self._folder = None if in_memory else folder or data_folder() / FOLDER
        self._races: dict[tuple[str, str], SeenRace] = {}
        """The latest races, by race and player."""

    def evidence(self, race: str, player: str = "") -> SeenRace | None:
        """Return a copy of what was seen of a race, with what its record says of others; `None` if nothing is kept.

        Without a player, the file that was changed last tells which race is meant, because several servers may use
        its id; of that race, the facts that are worth the most are returned.
        """
        found = [each for each in self._races.values() if each.race == race]
        if self._folder is not None and not player and _RACE.fullmatch(race):
            files = newest_first(self._folder, f"{_stem(race)}.*.facts")
            found = [seen for path in files if (seen := _read(path)) is not None]
        deal = "commitment", race
        same = [each for each in found if each.facts.get(deal) == found[0].facts.get(deal)]
        same = [each for each in same if player in ("", each.player)]
        if not same:
            return None
        seen = max(same, key=lambda each: (UNSEEN, WATCHED, RACED).index(each.worth))
        table = race.rpartition("/")[0]
        self.recall(table, seen.player)
        others = {
            key: value
            for each in self.of_table(table, seen.player)
            for key, value in each.facts.items()
            if each.race != race and key[0] in ("terms", "end")
        }
        return replace(seen, facts=others | seen.facts, clashes=list(seen.clashes))

    def recall(self, table: str, player: str) -> None:
        """Load what a player saw of a table's latest races in earlier runs of the program."""
        if self._folder is None or not (
            _RACE.fullmatch(f"{table}/1") and _PLAYER.fullmatch(player)
        ):
            return
        for path in newest_first(self._folder, f"{table}.*.{player}.facts")[:MAX_RACES]:
            seen = _read(path)
            if seen is not None and seen.is_recent and seen.player == player:
                self._races.setdefault((seen.race, player), seen)

    def seen(self, race: str, player: str) -> SeenRace | None:
        """Return what a player saw of a race, if it was opened or recalled."""
        return self._races.get((race, player))

    def of_table(self, table: str, player: str) -> list[SeenRace]:
        """Return what a player saw of the races at a table."""
        races = [each for (_, owner), each in self._races.items() if owner == player]
        return [each for each in races if each.race.rpartition("/")[0] == table]

    def open(self, race: str, player: str, durability: str) -> SeenRace:
        """Return what a player saw of a race, whose facts are kept from now on."""
        if (known := self._races.get((race, player))) is not None:
            return known
        seen = self._races[race, player] = SeenRace(race, player, durability, now())
        if len(self._races) > MAX_RACES:
            # a race without a record goes last, so that no later race removes its evidence before the check
            done = (key for key, each in self._races.items() if each.is_checked)
            del self._races[next(done, next(iter(self._races)))]
        if (path := self._path(seen)) is not None:
            first = [FORMAT, race, player, durability, str(seen.seen_at)]
            with _logged(race):
                # not durable: waiting for the disk would block the event loop
                replace_file(path, msgspec.json.encode(first), mode=OWNER_ONLY, durable=False)
                delete_oldest(path.parent, f"{race.rpartition('/')[0]}.*.facts", MAX_KEPT_OF_TABLE)
                delete_oldest(path.parent, "*.facts", MAX_KEPT)
        return seen

    def add(self, seen: SeenRace, *lines: list[str]) -> None:
        """Append lines to what was seen of a race."""
        for line in lines:
            seen.apply(line)
        if lines and (path := self._path(seen)) is not None:
            # each line begins with its line feed, so that a line cut short by a crash does not join it
            text = b"".join(b"\n" + msgspec.json.encode(line) for line in lines)
            with (
                _logged(seen.race),
                os.fdopen(os.open(path, os.O_WRONLY | os.O_APPEND), "ab") as file,
            ):
                file.write(text)

    def _path(self, seen: SeenRace) -> Path | None:
        """Return the file of a race; `None` without one, or for invalid ids, because the server chooses them."""
        if (
            self._folder is None
            or not _RACE.fullmatch(seen.race)
            or not _PLAYER.fullmatch(seen.player)
        ):
            return None
        return self._folder / f"{_stem(seen.race)}.{seen.player}.facts"


class TableWitness:
    """The observer of one table; it must see every event of the connection, in order."""

    def __init__(
        self, connection: Connection, witness: Witness, alarm: Callable[[Finding], None]
    ) -> None:
        """Call `alarm` with each contradiction, once."""
        self._connection = connection
        self._witness = witness
        self._alarm = alarm
        self._told: set[Finding] = set()
        self._racing = ""
        """The race in which this connection has shown the player seated, and racing or in the countdown."""
        self._announced = 0
        """How often the server had said that it lost data when the last snapshot came."""
        self.table: events.Table | None = None
        """The latest version of the table."""
        self.losses = 0
        """How often the server has lost data of an unfinished race that this program saw."""

    @property
    def player(self) -> str:
        return self._connection.player

    def see(self, event: Event) -> None:
        """Compare and keep the facts in an event; ignore tables other than this one, and outdated versions."""
        table = event.table if isinstance(event, events.Snapshot | events.TableChanged) else None
        if table is not None:
            if self._is_ignored(event, table):
                return
            if isinstance(event, events.Snapshot) or self.table is None:
                self._witness.recall(table.code, self.player)
            self.table = table
            if table.racers and table.phase != "closed":
                self._see_listing(table)
        stated = list(facts(event, self.player))
        if isinstance(event, events.Snapshot):
            self._see_snapshot(event.table, stated)
        elif isinstance(event, events.Refused) and event.board is not None:
            self._see_refused_board(event.board.race, stated)
        self.add(*stated)
        self.add(*self._own_ending(event))
        if table is not None:
            self._see_gap(table)
        if isinstance(event, events.Snapshot | events.MatchChanged) and event.match is not None:
            for before, race in pairwise(event.match.finished):
                self._tell_skipped(before, race, "order")

    def _is_ignored(self, event: Event, table: events.Table) -> bool:
        """Test whether an event is of another table, or shows an older version than the one that is known."""
        known = self.table
        if known is None:
            return False
        if isinstance(event, events.Snapshot):
            return known.code != table.code and not event.re
        return known.code != table.code or known.version > table.version

    def see_answer(self, command: Command, answer: Event) -> None:
        """Compare and keep the facts in the answer to a move or a cash-out."""
        if not isinstance(command, MakeMove | CashOut):
            return
        self.see(answer)
        if isinstance(answer, events.BoardChanged):
            made, place = "cash-out", answer.place
            if isinstance(command, MakeMove):
                made, place = command.move, command.after + 1
            entry = answer.entries[0] if answer.entries else ""
            if entry.split(" ")[2:] != [made] or answer.place != place:
                key = "entry", command.race, self.player, str(place)
                self.tell(Finding(CONTRADICTED, key, made, entry))

    def add(self, *stated: Fact) -> None:
        """Compare facts with those seen before, and keep the new ones."""
        new: dict[str, list[list[str]]] = {}
        for key, whole in stated:
            seen, value = self.seen(key[1]), whole and whole[:MAX_VALUE]
            if seen is None or (seen.is_lost and key[0] == "head"):
                # what others lost is not announced: their rows may be those from before the loss
                continue
            if clash := seen.clash(key, value):
                self.tell(clash)
            elif value is not None and key not in seen.facts and len(seen.facts) < MAX_FACTS:
                seen.facts[key] = value
                new.setdefault(seen.race, []).append([key[0], *key[2:], value])
        for race, lines in new.items():
            if (seen := self.seen(race)) is not None:
                again = [["checked", ""]] if seen.is_checked else []
                self._witness.add(seen, *lines, *again)

    def seen(self, race: str) -> SeenRace | None:
        """Return what was seen of a race; `None` if nothing was."""
        return self._witness.seen(race, self.player)

    def note(self, race: str, kind: str, *more: str) -> None:
        """Keep a note of a race, with its value last; the race's facts are kept from now on."""
        durability = self._connection.welcome.durability
        self._witness.add(self._witness.open(race, self.player, durability), [kind, *more])

    def nonce(self, race: str, commitment: str) -> str:
        """Return the nonce that this player drew for a deal; empty without one."""
        seen = self.seen(race)
        return "" if seen is None else seen.notes.get(("nonce", race, commitment), "")

    def is_spent(self, race: str, commitment: str) -> bool:
        """Test whether the racers were listed for a deal, so that its nonces may be known."""
        seen = self.seen(race)
        return seen is not None and ("listed", race, commitment) in seen.notes

    def leaving(self) -> None:
        """Note that this program sends the command to leave."""
        if self._racing:
            self.note(self._racing, "leave", "yes")

    def waiting(self) -> list[str]:
        """Return the races that are over and whose record was not compared with all that was seen."""
        table = self.table
        if table is None:
            return []
        is_over = table.phase in ("over", "closed") or self._has_ended(table.race)
        return [race for race in self.unchecked(table.code) if is_over or race != table.race]

    def _has_ended(self, race: str) -> bool:
        seen = self.seen(race)
        return seen is not None and ("end", race) in seen.facts

    def unchecked(self, table: str) -> list[str]:
        """Return the recent races at a table whose record was not compared with all that was seen."""
        if self.table is None:
            self._witness.recall(table, self.player)
        return [
            each.race
            for each in self._witness.of_table(table, self.player)
            if each.is_listed and each.is_recent
            if not each.is_checked
        ]

    # Parts of an event

    def _see_listing(self, table: events.Table) -> None:
        """Keep the facts of the table's race from now on, because its racers are listed."""
        if not self.is_spent(table.race, table.commitment):
            self.note(table.race, "listed", table.commitment, table.phase)

    def _see_snapshot(self, table: events.Table, stated: list[Fact]) -> None:
        """Note what a server at `fast` may have lost; compare the player that the server has welcomed."""
        self._racing = ""
        if self._connection.welcome.player != self.player:
            welcomed = self._connection.welcome.player
            self.tell(Finding(CONTRADICTED, ("player", table.race), self.player, welcomed))
        is_announced = self._announced != self._connection.losses
        self._announced = self._connection.losses
        races = self._witness.of_table(table.code, self.player)
        lossy = [
            each
            for each in races
            if each.durability == FAST
            if not each.is_checked or _number(each.race) >= _number(table.race)
        ]
        is_loss = (
            is_announced
            or any(_number(each.race) > _number(table.race) for each in lossy)
            or any(seen.clash(key, value) for seen in lossy for key, value in stated)
        )
        for seen in lossy:
            if is_loss or any(key[0] == "head" for key in seen.facts):
                self._witness.add(seen, ["lost", "all" if is_loss else "head"])
        self.losses += bool(lossy) and is_loss

    def _see_refused_board(self, race: str, stated: list[Fact]) -> None:
        """Note that a server at `fast` has lost entries, as it says only after the refusal that shows so."""
        seen = self.seen(race)
        if seen is None or seen.durability != FAST:
            return
        if any(seen.clash(key, value) for key, value in stated):
            self._witness.add(seen, ["lost", "all"])

    def _own_ending(self, event: Event) -> Iterator[Fact]:
        """Yield that the player has not left, when the board ends and this program sent no such command."""
        match event:
            case events.Snapshot(board=board) | events.BoardChanged(board=board) if (
                board is not None and board.state == "racing"
            ):
                self._racing = board.race
            case events.Snapshot(table=table) | events.TableChanged(table=table):
                seated = any(seat.player == self.player for seat in table.seats)
                racers = [racer.player for racer in table.racers]
                if table.phase == "countdown" and seated and self.player in racers:
                    self._racing = table.race
                elif table.previous is not None and table.previous.reason:
                    yield from self._stayed(table.previous.race)
            case events.BoardChanged(board=board):
                yield from self._stayed(board.race)
            case events.RaceOver(outcome=outcome):
                yield from self._stayed(outcome.race)
            case events.SeatLost():
                self._racing = ""

    def _stayed(self, race: str) -> Iterator[Fact]:
        seen = self.seen(race)
        if race == self._racing and seen is not None and ("leave", race) not in seen.notes:
            yield ("left", race, self.player), "no"

    def _see_gap(self, table: events.Table) -> None:
        before = "" if table.previous is None else table.previous.race
        if before != table.race and table.phase != "closed":
            self._tell_skipped(before, table.race, "terms")

    def _tell_skipped(self, before: str, race: str, kind: str) -> None:
        """Raise the alarm about races with such a fact that were thrown away between two others."""
        if not (_RACE.fullmatch(race) and _RACE.fullmatch(before or race)):
            return
        for each in self._witness.of_table(race.rpartition("/")[0], self.player):
            listed = {key: value for key, value in each.facts.items() if key[0] == kind}
            for found in skipped(listed, before, race, kind):
                if found.kind != MISSING:
                    self.tell(found)

    def tell(self, found: Finding) -> None:
        """Tell a contradiction and keep it, once."""
        if found in self._told or len(self._told) >= MAX_CLASHES:
            return
        self._told.add(found)
        seen = self.seen(found.key[1])
        if seen is not None and found not in seen.clashes:
            kind, _, *more = found.key
            self._witness.add(seen, ["clash", kind, *more, found.seen, found.found[:MAX_VALUE]])
        self._alarm(found)


def now() -> int:
    """Return this machine's time in milliseconds since 1970; no server can change it."""
    return time.time_ns() // 1_000_000


_RACE: Final = re.compile(RACE_ID)
_PLAYER: Final = re.compile(PLAYER)


def _number(race: str) -> int:
    return int(race.rpartition("/")[2]) if _RACE.fullmatch(race) else 0


def _stem(race: str) -> str:
    return race.replace("/", ".")


def _read(path: Path) -> SeenRace | None:
    """Return the facts in a file; `None` if it cannot be read. A line that a crash has cut short says nothing."""
    try:
        first, *later = path.read_bytes().split(b"\n")
        form, race, player, durability, seen_at = msgspec.json.decode(first, type=list[str])
        seen = SeenRace(race, player, durability, int(seen_at))
    except (OSError, ValueError, msgspec.DecodeError):
        return None
    if form != FORMAT or not _RACE.fullmatch(race):
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
