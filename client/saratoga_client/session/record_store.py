"""What remains of the races: their records, and the best one has done in every game.

A finished race is one file, its record as the house gave it, byte for byte; the name says the race
and begins its digest, so that two houses with the same table code do not overwrite each other. The
bests are one small file. Everything is written whole or not at all.
"""

import contextlib
import logging
import re
from pathlib import Path
from typing import Final

import msgspec

from saratoga_client.codes import RACE_ID
from saratoga_client.local.files import delete_oldest, newest_first, replace_file
from saratoga_client.local.paths import data_folder
from saratoga_client.session.personal_best import PersonalBest, is_better
from saratoga_rules.records.lines import RecordError
from saratoga_rules.records.record import RaceRecord, digest_of, parse_record

LOG: Final = logging.getLogger("saratoga.racing")

FOLDER: Final = "races"
ENDING: Final = ".record"
BESTS: Final = "bests.json"
BROKEN_BESTS: Final = "bests.broken.json"
"""Where a file of bests that cannot be read is put: a new one begins, and nothing is overwritten."""

MOST_KEPT: Final = 1000
"""Records; then the oldest makes room."""

MOST_BYTES: Final = 4 * 1024 * 1024
"""No record that a connection takes is longer."""


class RecordStore:
    """The finished races kept on this machine."""

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = data_folder() / FOLDER if folder is None else folder

    def keep(self, text: str) -> Path | None:
        """Keep a record; raises `OSError`. What is no record is not kept."""
        try:
            record = parse_record(text)
        except RecordError:
            return None
        if not _RACE.fullmatch(record.race_id):
            return None
        path = self._folder / f"{_stem(record.race_id)}-{digest_of(text)[:8]}{ENDING}"
        if _read(path) != text:
            replace_file(path, text.encode("ascii"))
            delete_oldest(self._folder, f"*{ENDING}", MOST_KEPT)
        return path

    def records(self) -> list[Path]:
        """The files of the records, the one kept last first."""
        return newest_first(self._folder, f"*{ENDING}")

    def text(self, race: str, digest: str = "") -> str | None:
        """The record of the race `mint-otter-42/3`, the one kept last; `None`: there is none.

        With a `digest`, only the record that has it: two houses may know a race by one id. A file
        that is damaged is passed over.
        """
        if not _RACE.fullmatch(race):
            return None
        for path in newest_first(self._folder, f"{_stem(race)}-*{ENDING}"):
            text = _read(path)
            if text is not None and _is_whole(text, race, path) and digest in ("", digest_of(text)):
                return text
        return None

    def load(self, path: Path) -> RaceRecord | None:
        """A kept record; `None` where the file cannot be read as one."""
        text = _read(path)
        if text is None:
            return None
        try:
            return parse_record(text)
        except RecordError:
            return None

    def best(self, game: str, player: str) -> PersonalBest | None:
        """The best that a player has done in a game, as far as this machine knows."""
        return self._bests().get(player, {}).get(game)

    def note(self, new: PersonalBest, player: str) -> bool:
        """Remember it if it is better than the best so far, and say so; raises `OSError`."""
        bests = self._bests()
        if not is_better(new, bests.get(player, {}).get(new.game)):
            return False
        bests.setdefault(player, {})[new.game] = new
        replace_file(self._folder / BESTS, msgspec.json.encode(bests))
        return True

    def _bests(self) -> dict[str, dict[str, PersonalBest]]:
        path = self._folder / BESTS
        try:
            text = path.read_bytes()
            return msgspec.json.decode(text, type=dict[str, dict[str, PersonalBest]])
        except OSError:
            return {}
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as fault:
            aside = path.with_name(BROKEN_BESTS)
            LOG.warning("%s cannot be read (%s); it is set aside as %s", path, fault, aside)
            with contextlib.suppress(OSError):
                path.replace(aside)
            return {}


_RACE: Final = re.compile(RACE_ID)


def _stem(race: str) -> str:
    return race.replace("/", ".")


def _is_whole(text: str, race: str, path: Path) -> bool:
    """Whether it is the record that was written there."""
    try:
        is_right = parse_record(text).race_id == race
    except RecordError:
        is_right = False
    if not is_right or path.stem != f"{_stem(race)}-{digest_of(text)[:8]}":
        LOG.warning("%s is damaged, and passed over", path)
        return False
    return True


def _read(path: Path) -> str | None:
    try:
        with path.open(encoding="ascii", newline="") as file:
            text = file.read(MOST_BYTES + 1)
    except (OSError, UnicodeDecodeError):
        return None
    return text if len(text) <= MOST_BYTES else None
