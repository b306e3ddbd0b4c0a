"""The store of practice runs: for each deal a JSON file with the latest runs as ghosts."""

from pathlib import Path
from typing import Final

from msgspec import MsgspecError, json

from saratoga_client.local.files import replace_file
from saratoga_client.local.paths import data_folder
from saratoga_client.practice.deals import PracticeDeal, file_name
from saratoga_client.practice.ghost import Ghost

FOLDER: Final = "practice"

MOST_KEPT: Final = 20
"""Maximum number of saved runs per deal; a new run replaces the oldest."""


class RunStore:
    """The practice runs on this machine."""

    def __init__(self, root: Path | None = None) -> None:
        self._root = data_folder() / FOLDER if root is None else root

    def keep(self, deal: PracticeDeal, run: Ghost) -> None:
        """Save a run beside the earlier ones of its deal; raises `OSError`."""
        runs = [*self.runs(deal), run][-MOST_KEPT:]
        replace_file(self._path(deal), json.encode(runs))

    def runs(self, deal: PracticeDeal) -> list[Ghost]:
        """Return the runs of a deal, the oldest first; none if the file cannot be read."""
        try:
            return json.decode(self._path(deal).read_bytes(), type=list[Ghost])
        except (OSError, MsgspecError):
            return []

    def _path(self, deal: PracticeDeal) -> Path:
        return self._root / deal.game.name / f"{file_name(deal)}.json"
