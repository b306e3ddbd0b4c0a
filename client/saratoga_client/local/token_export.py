"""A secret or a token as one line of text, for a second device.

Pure. The line has one of two forms:

    saratoga secret 64 HEXADECIMAL DIGITS
    saratoga token wss://cards.example.org:443 64 HEXADECIMAL DIGITS
"""

from dataclasses import dataclass
from typing import Final

from saratoga_client.local.key_files import is_key
from saratoga_client.local.origins import origin_of

PROGRAM: Final = "saratoga"


@dataclass(frozen=True, slots=True)
class ExportedKey:
    """A secret, or the token for one server."""

    key: str
    is_secret: bool
    """True for the secret, false for a token."""
    origin: str = ""
    """The origin of the token's server; empty for a secret."""

    def __repr__(self) -> str:
        """Return a description without the key, so that logs never show the key."""
        return f"ExportedKey(is_secret={self.is_secret}, origin={self.origin!r})"

    @property
    def line(self) -> str:
        if self.is_secret:
            return f"{PROGRAM} secret {self.key}"
        return f"{PROGRAM} token {self.origin} {self.key}"


def read(line: str) -> ExportedKey | None:
    """Parse an exported line; return `None` for any other text."""
    match line.split():
        case ["saratoga", "secret", key] if is_key(key):
            return ExportedKey(key, is_secret=True)
        case ["saratoga", "token", server, key] if is_key(key):
            try:
                return ExportedKey(key, is_secret=False, origin=origin_of(server))
            except ValueError:
                return None
        case _:
            return None
