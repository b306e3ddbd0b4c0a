"""The folders of the player's files: configuration, state and data.

Each platform has its conventional folders. On Linux these are `~/.config/saratoga`,
`~/.local/state/saratoga` and `~/.local/share/saratoga`, unless `XDG_` variables name others.
`SARATOGA_HOME` puts all files into one folder.
"""

import os
from pathlib import Path
from typing import Final

import platformdirs

HOME_VARIABLE: Final = "SARATOGA_HOME"
"""The environment variable that names one folder for all files."""

PROGRAM: Final = "saratoga"
CONFIG_FILE: Final = "config.toml"


def config_folder() -> Path:
    """Return the folder of files that the player edits; it may not exist."""
    return _named() or platformdirs.user_config_path(PROGRAM, appauthor=False, roaming=False)


def config_path() -> Path:
    """Return the path of the settings file, which may not exist."""
    return config_folder() / CONFIG_FILE


def state_folder() -> Path:
    """Return the folder of files that may be deleted, such as error reports."""
    return _named() or platformdirs.user_state_path(PROGRAM, appauthor=False, roaming=False)


def data_folder() -> Path:
    """Return the folder of files that must not be lost: the secret, race evidence, records."""
    return _named() or platformdirs.user_data_path(PROGRAM, appauthor=False, roaming=False)


def _named() -> Path | None:
    named = os.environ.get(HOME_VARIABLE)
    return Path(named).expanduser() if named else None
