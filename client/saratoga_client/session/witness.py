"""Evidence that this machine saves during a race, so that no server can change it later.

A record alone proves only its own consistency. The evidence connects the record with the race that
was played: the commitment, the nonce hashes, names and kinds of the racers, the time limit and the start,
the player's own deal, entries and boards, the standings seen, and the announced result.

One file per race and player holds them. Its first line is a sighting; each line after it is an entry, a board or
a standing that was seen later. So a move costs two short lines, and a crash loses at most what is being written.
"""

import contextlib
import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final, Protocol, TypeAlias

import msgspec
from msgspec.structs import replace

from saratoga_client.local.files import OWNER_ONLY, delete_oldest, newest_first, replace_file
from saratoga_client.local.identity import home
from saratoga_client.session.seen_board import (
    MOST_SEEN,
    SeenBoard,
    SeenEntry,
    SeenLoss,
    SeenOfBoard,
)
from saratoga_client.session.seen_standings import MOST_STANDINGS, SeenStanding
from saratoga_protocol import events
from saratoga_rules.records.record import PLAYER, RACE_ID

FOLDER: Final = "witness"

WITNESSED: Final = "witnessed here"
"""The verdict of a machine whose player raced: it saw the race from before the deal."""

WATCHED: Final = "watched here"
"""The verdict of a machine that watched the race from before the deal to the end, without racing."""

CONSISTENT: Final = "self-consistent only"
"""The verdict of a machine that did not see the race from before the deal."""

NONCE_DENIED: Final = "the server says that this player's nonce was missing, but it had confirmed that it took the nonce"

REVEAL_UNANSWERED: Final = "the server says that this player's nonce was missing, but it never answered whether it took the nonce"

NOT_STARTED: Final = "the server says that only the countdown was voided, but the race had started"

GONE: Final = "the racers were listed, and then the race disappeared: the server shows neither its result nor that it was voided"
WITHHELD: Final = "the server announced the result, but did not send the record"
VOID_WITHHELD: Final = "the server voided the race, but did not send the record"
MISSING: Final = frozenset({GONE, WITHHELD, VOID_WITHHELD})
"""The alarms about a race without a record; they end when the server sends the record after all."""
FAST: Final = "fast"
"""The durability at which a server may lose what it has acknowledged (protocol/README.md, *Lost moves*)."""

SAFE: Final = "safe"

MAX_KEPT: Final = 1000
"""Maximum number of saved sightings; the oldest files are deleted first."""

MAX_KEPT_OF_TABLE: Final = 200
"""Maximum number of saved sightings of one table, so that no server can delete those of other tables."""

MAX_OF_TABLE: Final = 20
"""Maximum number of a table's races that are searched for one without a record."""

MAX_REMEMBERED: Final = 32
"""Maximum number of sightings in memory; more races than a record can list as voided before it."""


Seen: TypeAlias = SeenEntry | SeenBoard | SeenLoss | SeenStanding
"""One line of a sighting's file after the first."""


class Sighting(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The evidence of one race that this machine saw before the seed was revealed, and the announced result."""

    race: str
    game: str
    commitment: str
    player: str = ""
    """The id of this machine's player."""
    seen_at: int = 0
    """This machine's time when the racers were listed, or when it first saw the race, in milliseconds since 1970."""
    durability: str = SAFE
    """What an acknowledged move survives, as the server said when the race gathered (`Welcome.durability`)."""
    nonce: str = ""
    """This player's nonce in hexadecimal, saved so that a restarted program can reveal it."""
    nonce_hashes: dict[str, str] = {}
    """The racers' nonce hashes by player id, from the countdown on."""
    names: dict[str, list[str]] = {}
    """The racers' names by player id: those shown until the countdown began."""
    bots: list[str] = []
    """The ids of the racers that were shown as bots in the countdown."""
    cap: int | None = None
    """The time limit in minutes, as shown in the countdown."""
    public: bool | None = None
    """Whether the table was public, as shown in the countdown."""
    start_at: int = 0
    """The start of the race, as shown after it; 0 if the race was not seen running."""
    deadline: int = 0
    """The deadline, as shown after the start; 0 without a time limit."""
    ranked: bool | None = None
    """Whether the race was ranked, as shown after the start; `None` if that was not seen."""
    deal: str = ""
    """This player's view of the deal, in the text form of `format_position`."""
    revealed: bool = False
    """True if the server has confirmed that it took this player's nonce."""
    unanswered: bool = False
    """True if the server did not answer the reveal, although the connection was never lost."""
    blamed: bool = False
    """True if the server said that it voided the countdown because this player's nonce was missing."""
    outcome: events.Outcome | None = None
    """The result of the race, as it was first announced."""
    lost_outcome: events.Outcome | None = None
    """A result that was announced before a server that may lose data showed the race as running again."""
    voided: str = ""
    """The reason for which the server said that it voided the race; empty if it did not."""
    has_record: bool = False
    """True after the record was compared with the sighting."""
    alarms: list[str] = []
    """Sentences on how the server contradicted itself during the race or after it."""
    own: tuple[SeenOfBoard, ...] = ()
    """The player's own entries and boards, in the order in which the server acknowledged and showed them."""
    standings: tuple[SeenStanding, ...] = ()
    """The standings seen, without those that repeat the racer's one before."""

    @property
    def has_started(self) -> bool:
        """True if the server showed that the race had started, and may not lose that."""
        return bool(self.start_at or self.deal) and not self.may_lose

    @property
    def may_lose(self) -> bool:
        """True if the server may lose moves that it has acknowledged."""
        return self.durability == FAST

    @property
    def entries(self) -> list[SeenEntry]:
        """The player's own entries, in the order in which the server acknowledged them."""
        return [each for each in self.own if isinstance(each, SeenEntry)]

    @property
    def digest(self) -> str:
        """The record's digest, as announced with the result; empty without a result."""
        return "" if self.outcome is None else self.outcome.digest

    @property
    def is_spent(self) -> bool:
        """True after the countdown has started: its nonces are known, so the deal is spent."""
        return bool(self.nonce_hashes or self.deal or self.outcome or self.voided)

    @property
    def is_promised(self) -> bool:
        """True if the commitment may not change any more: the racers were listed, or the race ran."""
        return self.is_spent or bool(self.start_at)

    @property
    def is_settled(self) -> bool:
        """True if the record was compared, or the server said that it voided the race."""
        return self.has_record or bool(self.voided)

    @property
    def is_unsettled(self) -> bool:
        """True if the racers were listed, and neither the record nor a void was seen."""
        return self.is_promised and not self.is_settled

    def without_missing(self) -> "Sighting":
        """Return the sighting without the alarms that the record was missing."""
        return replace(self, alarms=[alarm for alarm in self.alarms if alarm not in MISSING])

    @property
    def worth(self) -> str:
        """Return what it is worth that a record agrees with this sighting: a verdict of `Testimony`.

        Only evidence from before the deal is worth anything: the server could adapt all that it shows later. A racer
        whose nonce another device drew, as far as this machine knows, had no part in the deal here.
        """
        if self.player in self.nonce_hashes:
            return WITNESSED if self.nonce else CONSISTENT
        if self.nonce_hashes and self.standings and (self.outcome or self.voided):
            return WATCHED
        return CONSISTENT

    def with_seen(self, *seen: Seen) -> "Sighting":
        """Return the sighting with more of what was seen of the running race; drop what is too much."""
        own = [each for each in seen if not isinstance(each, SeenStanding)]
        standings = [each for each in seen if isinstance(each, SeenStanding)]
        return replace(
            self,
            own=(*self.own, *own)[:MOST_SEEN],
            standings=(*self.standings, *standings)[:MOST_STANDINGS],
        )


class Sightings(Protocol):
    """The sightings with which a record is compared."""

    def load(self, race: str) -> Sighting | None:
        """Return the sighting of a race; `None` without one."""
        ...


class Witness:
    """The sightings saved on this machine."""

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = home() / FOLDER if folder is None else folder

    def load(self, race: str, player: str | None = None) -> Sighting | None:
        """Return a player's sighting of a race such as `mint-otter-42/3`; `None` if none can be read.

        Without `player`, the file that was changed last tells which race is meant, because several servers may use
        its id; of that race, the player's sighting that is worth the most is returned.
        """
        if player is not None:
            path = self._path(race, player)
            sighting = None if path is None else _read(path)
            return sighting if sighting is not None and sighting.player == player else None
        if not _RACE.fullmatch(race):
            return None
        files = newest_first(self._folder, f"{_stem(race)}.*json")
        found = [sighting for path in files if (sighting := _read(path)) is not None]
        same = [each for each in found if each.commitment == found[0].commitment]
        return max(same, key=lambda each: _WORTH.index(each.worth), default=None)

    def of_table(self, table: str) -> list[Sighting]:
        """Return the latest sightings of a table's races, at most `MAX_OF_TABLE`."""
        if not _RACE.fullmatch(f"{table}/1"):
            return []
        paths = newest_first(self._folder, f"{table}.*.json")[:MAX_OF_TABLE]
        return [sighting for path in paths if (sighting := _read(path)) is not None]

    def keep(self, sighting: Sighting) -> None:
        """Save a sighting and replace the player's earlier one of that race; raises `OSError`.

        A sighting whose race id has the wrong form is ignored.
        """
        path = self._path(sighting.race, sighting.player)
        if path is None:
            return
        is_new = not path.exists()
        # The file has a secret nonce. Not durable, because waiting for the disk would block the
        # event loop.
        replace_file(path, msgspec.json.encode(sighting), mode=OWNER_ONLY, durable=False)
        if is_new:
            table = sighting.race.partition("/")[0]
            delete_oldest(self._folder, f"{table}.*.json", MAX_KEPT_OF_TABLE)
            delete_oldest(self._folder, "*.json", MAX_KEPT)

    def add(self, sighting: Sighting, *seen: Seen) -> None:
        """Append to the file of a sighting what was seen now; raises `OSError`.

        `sighting` includes `seen` already.
        """
        path = self._path(sighting.race, sighting.player)
        if path is None or not seen:
            return
        # each line begins with its line feed, so that a line cut short by a crash does not join it
        lines = b"".join(b"\n" + msgspec.json.encode(each) for each in seen)
        try:
            handle = os.open(path, os.O_WRONLY | os.O_APPEND)
        except FileNotFoundError:
            self.keep(sighting)
            return
        with os.fdopen(handle, "ab", buffering=0) as file:
            file.write(lines)

    def _path(self, race: str, player: str) -> Path | None:
        """Return the file for a race; `None` for an invalid id, because the server chooses ids."""
        if not _RACE.fullmatch(race):
            return None
        own = f".{player}" if _PLAYER.fullmatch(player) else ""
        return self._folder / f"{_stem(race)}{own}.json"


class MemoryWitness(Witness):
    """The sightings of a program that saves none, such as a bot: of its latest races, in memory."""

    def __init__(self) -> None:
        super().__init__(Path())
        self._sightings: dict[str, Sighting] = {}

    def load(self, race: str, player: str | None = None) -> Sighting | None:
        sighting = self._sightings.get(race)
        is_theirs = sighting is not None and player in (None, sighting.player)
        return sighting if is_theirs else None

    def of_table(self, table: str) -> list[Sighting]:
        return [each for race, each in self._sightings.items() if race.partition("/")[0] == table]

    def keep(self, sighting: Sighting) -> None:
        self._sightings[sighting.race] = sighting
        if len(self._sightings) > MAX_REMEMBERED:
            # a race without a record goes last, so that no later race removes its evidence before the check
            done = (race for race, each in self._sightings.items() if not each.is_unsettled)
            del self._sightings[next(done, next(iter(self._sightings)))]

    def add(self, sighting: Sighting, *seen: Seen) -> None:
        self.keep(sighting)


_RACE: Final = re.compile(RACE_ID)
_PLAYER: Final = re.compile(PLAYER)
_WORTH: Final = (CONSISTENT, WATCHED, WITNESSED)
"""What a sighting can be worth, the least first."""


def _stem(race: str) -> str:
    return race.replace("/", ".")


def _read(path: Path) -> Sighting | None:
    """Return the sighting in a file; `None` if it cannot be read."""
    try:
        first, *later = path.read_bytes().split(b"\n")
        sighting = msgspec.json.decode(first, type=Sighting)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        return None
    return sighting.with_seen(*_decoded(later))


def _decoded(lines: Iterable[bytes]) -> Iterator[Seen]:
    """Yield what the lines of a file say; a line that a crash has cut short says nothing."""
    for line in lines:
        with contextlib.suppress(msgspec.DecodeError, UnicodeDecodeError):
            yield msgspec.json.decode(line, type=Seen)


def faults_of_blame(sighting: Sighting) -> Iterator[str]:
    """Yield why a server that says that this player's nonce was missing contradicts itself."""
    if sighting.may_lose:
        return
    if sighting.revealed:
        yield NONCE_DENIED
    elif sighting.unanswered:
        yield REVEAL_UNANSWERED
