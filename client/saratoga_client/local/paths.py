"""Where this machine keeps what belongs to its player.

Each kind of file lies where the platform keeps its kind: what one writes by hand with the
configuration, what comes and goes with the state, what must not be lost with the data. On Linux
these are `~/.config/saratoga`, `~/.local/state/saratoga` and `~/.local/share/saratoga`, or what
the `XDG_` variables say. `SARATOGA_HOME` puts everything into one folder.
"""

import os
from pathlib import Path
from typing import Final

import platformdirs

HOME_VARIABLE: Final = "SARATOGA_HOME"
"""Names one folder for everything that a player keeps."""

PROGRAM: Final = "saratoga"
CONFIG_FILE: Final = "config.toml"


def config_folder() -> Path:
    """What a player may write by hand; no folder is made by asking for it."""
    return _named() or platformdirs.user_config_path(PROGRAM, appauthor=False, roaming=False)


def config_path() -> Path:
    """The file of settings; it need not be there."""
    return config_folder() / CONFIG_FILE


def state_folder() -> Path:
    """What may be deleted without losing anything of worth, such as the report of a fault."""
    return _named() or platformdirs.user_state_path(PROGRAM, appauthor=False, roaming=False)


def data_folder() -> Path:
    """What must not be lost: the secret, what was witnessed of races, finished records."""
    return _named() or platformdirs.user_data_path(PROGRAM, appauthor=False, roaming=False)


def _named() -> Path | None:
    named = os.environ.get(HOME_VARIABLE)
    return Path(named).expanduser() if named else None
