"""The store of practice runs: a folder for each deal, a file for each run.

A file is written completely or not at all. An unreadable file is left in place and ignored.
"""

import contextlib
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from saratoga_client.local.files import replace_file
from saratoga_client.local.paths import data_folder
from saratoga_client.practice.deals import PracticeDeal, file_name
from saratoga_client.practice.ghost import Ghost, ghost_of_run
from saratoga_client.practice.runs import PracticeRun, format_run, parse_run
from saratoga_client.wording import minutes_and_seconds

FOLDER: Final = "practice"
ENDING: Final = ".run"

MOST_KEPT: Final = 20
"""Maximum number of saved runs per deal; a new run replaces the oldest."""

MOST_BYTES: Final = 1024 * 1024
"""Maximum bytes of a run's file; larger files are ignored."""


class RunStore:
    """The practice runs on this machine."""

    def __init__(self, root: Path | None = None) -> None:
        self._root = data_folder() / FOLDER if root is None else root

    def keep(self, run: PracticeRun) -> Path:
        """Save a run beside the earlier ones of its deal; raises `OSError`."""
        folder = self._folder(run.practice.deal)
        path = folder / f"{run.began:015d}{ENDING}"
        replace_file(path, format_run(run).encode("ascii"))
        for old in self._paths(folder)[:-MOST_KEPT]:
            with contextlib.suppress(OSError):
                old.unlink()
        return path

    def runs(self, deal: PracticeDeal) -> list[PracticeRun]:
        """Return the runs of a deal, the oldest first."""
        found: list[PracticeRun] = []
        for path in self._paths(self._folder(deal)):
            with contextlib.suppress(OSError, ValueError):
                run = load_run(path)
                if run.practice.deal == deal:
                    found.append(run)
        return found

    def _folder(self, deal: PracticeDeal) -> Path:
        return self._root / deal.game.name / file_name(deal)

    def _paths(self, folder: Path) -> list[Path]:
        return sorted(folder.glob(f"*{ENDING}"))


def load_run(path: Path) -> PracticeRun:
    """Read a run from a file; raises `OSError`, or `ValueError` if it is no run."""
    with path.open(encoding="ascii", newline="") as file:
        text = file.read(MOST_BYTES + 1)
    if len(text) > MOST_BYTES:
        raise ValueError(f"{path} is longer than any run.")
    return parse_run(text)


def ghosts_of(runs: Iterable[PracticeRun]) -> list[Ghost]:
    """Return runs as ghosts."""
    return [ghost_of_run(run.practice, run.end, _words(run)) for run in runs]


def _words(run: PracticeRun) -> str:
    won = "won" if run.is_won else f"{run.practice.banked} banked"
    return f"your run, {won} in {minutes_and_seconds(run.end)}"
