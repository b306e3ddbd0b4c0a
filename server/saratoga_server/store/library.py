"""The Function library that the house loads into its store.

Its names end in a hash of its text, so two releases of the house can work on one store.
"""

from hashlib import sha256
from importlib.resources import files
from typing import Final

_MARK: Final = "@VERSION@"
_FOLDER: Final = files("saratoga_server.store").joinpath("functions")
_CHAPTERS: Final = ("boards", "tables", "players", "leaderboards", "audit")


def _chapter(name: str) -> str:
    return _FOLDER.joinpath(f"{name}.lua").read_text()


_TEXT: Final = _chapter("common") + "".join(f"\ndo\n{_chapter(name)}end\n" for name in _CHAPTERS)

VERSION: Final = sha256(_TEXT.encode()).hexdigest()[:10]
SOURCE: Final = _TEXT.replace(_MARK, VERSION)
"""The text to load."""


def function_name(name: str) -> str:
    """The name under which the store knows one of our functions."""
    return f"{name}_{VERSION}"
