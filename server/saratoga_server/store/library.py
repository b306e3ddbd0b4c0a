"""The Function library that the house loads into its store.

Its names end in a hash of its text, so two releases of the house can work on one store.
"""

from hashlib import sha256
from importlib.resources import files
from typing import Final

_MARK: Final = "@VERSION@"
_TEMPLATE: Final = files("saratoga_server.store").joinpath("functions.lua").read_text()

VERSION: Final = sha256(_TEMPLATE.encode()).hexdigest()[:10]
SOURCE: Final = _TEMPLATE.replace(_MARK, VERSION)
"""The text to load."""


def function_name(name: str) -> str:
    """The name under which the store knows one of our functions."""
    return f"{name}_{VERSION}"
