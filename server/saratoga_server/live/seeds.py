"""Random seeds for deals."""

import secrets
from collections.abc import Callable

NewSeed = Callable[[], bytes]
"""A function that returns 32 random bytes: the server's part of a deal."""


def new_seed() -> bytes:
    """Return 32 bytes from the system's random number generator."""
    return secrets.token_bytes(32)
