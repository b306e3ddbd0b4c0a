"""The Function library that the server loads into its store.

Its Functions' names end in a hash of its text, so a server never calls those of another release.
"""

from hashlib import sha256
from importlib.resources import files
from typing import Final

VERSION_MARK: Final = "@VERSION@"
_FOLDER: Final = files("saratoga_server.store").joinpath("functions")
_FILES: Final = ("save", "boards", "audit")


def _read(name: str) -> str:
    return _FOLDER.joinpath(f"{name}.lua").read_text()


_TEXT: Final = _read("common") + "".join(f"\ndo\n{_read(name)}end\n" for name in _FILES)

VERSION: Final = sha256(_TEXT.encode()).hexdigest()[:10]
SOURCE: Final = _TEXT.replace(VERSION_MARK, VERSION)
"""The source code of the library."""


def function_name(name: str) -> str:
    """Return the name of one of our Functions in the store."""
    return f"{name}_{VERSION}"
