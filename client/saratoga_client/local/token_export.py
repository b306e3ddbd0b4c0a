"""What is carried to a second device, as a line of text: the secret, or the token for one house.

Pure. The line says which of the two it is, so that one cannot be taken for the other:

    saratoga secret 64 HEXADECIMAL DIGITS
    saratoga token wss://cards.example.org:443 64 HEXADECIMAL DIGITS

A line of digits alone is what Saratoga 0.1 wrote: the token that it showed to every house.
"""

from dataclasses import dataclass
from typing import Final

from saratoga_client.local.key_files import is_key
from saratoga_client.local.origins import origin_of

PROGRAM: Final = "saratoga"


@dataclass(frozen=True, slots=True)
class ExportedKey:
    """A secret on its way."""

    key: str
    is_secret: bool
    """Who one is everywhere; else a token, who one is at one house."""
    origin: str = ""
    """The house of the token, where the line names it."""

    def __repr__(self) -> str:
        """Without the key."""
        return f"ExportedKey(is_secret={self.is_secret}, origin={self.origin!r})"

    @property
    def line(self) -> str:
        if self.is_secret:
            return f"{PROGRAM} secret {self.key}"
        return f"{PROGRAM} token {self.origin} {self.key}"


def read(line: str) -> ExportedKey | None:
    """Read such a line; `None` if it is none."""
    match line.split():
        case [key] if is_key(key):
            return ExportedKey(key, is_secret=False)
        case ["saratoga", "secret", key] if is_key(key):
            return ExportedKey(key, is_secret=True)
        case ["saratoga", "token", house, key] if is_key(key):
            try:
                return ExportedKey(key, is_secret=False, origin=origin_of(house))
            except ValueError:
                return None
        case _:
            return None
