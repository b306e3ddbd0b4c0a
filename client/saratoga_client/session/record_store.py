"""The records of finished races, the player's best results and a list of the own races, saved on this machine.

Each record is one file with the server's bytes unchanged. The file name has the race and the first
digits of the digest, so the races of two servers with one id do not overwrite each other. All best
results are in one small file, and the own races, without their moves, in another.
"""

import logging
import re
from pathlib import Path
from typing import Final, TypeVar

import msgspec

from saratoga_client.local.paths import data_folder, delete_oldest, newest_first, replace_file
from saratoga_client.session.history import PersonalBest, Raced, is_better
from saratoga_rules.records.record import RACE_ID, digest_of

Kept = TypeVar("Kept")

LOG: Final = logging.getLogger("saratoga.racing")

FOLDER: Final = "races"
ENDING: Final = ".record"
BESTS: Final = "bests.json"
HISTORY: Final = "history.json"
MAX_KEPT: Final = 1000
"""Maximum number of saved records; the oldest are deleted first."""

MAX_BYTES: Final = 4 * 1024 * 1024
"""The largest record that is read, in bytes; a connection accepts no larger one."""


class RecordStore:
    """The finished races saved on this machine, by default in the player's data folder; of a bot, none."""

    def __init__(self, folder: Path | None = None, *, in_memory: bool = False) -> None:
        """`in_memory`: save nothing."""
        self._folder = None if in_memory else folder or data_folder() / FOLDER

    def keep(self, race: str, text: str) -> None:
        """Save the record of a race. Raises `OSError`."""
        if self._folder is None:
            return
        path = self._folder / f"{_stem(race, text)}{ENDING}"
        if _read(path) != text:
            replace_file(path, text.encode("ascii"))
            delete_oldest(self._folder, f"*{ENDING}", MAX_KEPT)

    def text(self, race: str, digest: str = "") -> str | None:
        """Return the text of a race's latest record; `None` without one.

        `race` is an id such as `mint-otter-42/3`. With a `digest`, only a record with that digest
        counts, because two servers may use one race id. Damaged files are ignored.
        """
        if self._folder is None or not re.fullmatch(RACE_ID, race):
            return None
        for path in newest_first(self._folder, f"{race.replace('/', '.')}-*{ENDING}"):
            text = _read(path)
            if text is None or path.stem != _stem(race, text):
                LOG.warning("ignored the damaged record %s", path)
            elif digest in ("", digest_of(text)):
                return text
        return None

    def best(self, game: str, player: str) -> PersonalBest | None:
        """Return a player's best result in a game, if this machine has one."""
        return self._bests().get(player, {}).get(game)

    def note(self, new: PersonalBest, player: str) -> bool:
        """Save `new` if it is better than the saved result; return whether it was saved. Raises `OSError`."""
        bests = self._bests()
        if self._folder is None or not is_better(new, bests.get(player, {}).get(new.game)):
            return False
        bests.setdefault(player, {})[new.game] = new
        replace_file(self._folder / BESTS, msgspec.json.encode(bests))
        return True

    def races(self) -> list[Raced]:
        """Return the player's races, the newest first; none if their file cannot be read."""
        return self._decoded(HISTORY, list[Raced])

    def add(self, raced: Raced) -> None:
        """Add a race of the player, unless it is there. Raises `OSError`."""
        races = self.races()
        if self._folder is not None and raced not in races:
            races = sorted([raced, *races], key=lambda each: -each.at)[:MAX_KEPT]
            replace_file(self._folder / HISTORY, msgspec.json.encode(races))

    def _bests(self) -> dict[str, dict[str, PersonalBest]]:
        """Return the saved best results; none if their file cannot be read."""
        return self._decoded(BESTS, dict[str, dict[str, PersonalBest]])

    def _decoded(self, name: str, kind: type[Kept]) -> Kept:
        """Return what a file has; an empty `kind` if it cannot be read."""
        if self._folder is None:
            return kind()
        try:
            return msgspec.json.decode((self._folder / name).read_bytes(), type=kind)
        except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return kind()


def _stem(race: str, text: str) -> str:
    return f"{race.replace('/', '.')}-{digest_of(text)[:8]}"


def _read(path: Path) -> str | None:
    try:
        with path.open(encoding="ascii", newline="") as file:
            text = file.read(MAX_BYTES + 1)
    except (OSError, UnicodeDecodeError):
        return None
    return text if len(text) <= MAX_BYTES else None
