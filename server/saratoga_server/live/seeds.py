"""Random seeds for deals."""

import secrets
from collections.abc import Callable

NewSeed = Callable[[], bytes]
"""Returns 32 bytes that nobody can guess: the server's part of a deal."""


def new_seed() -> bytes:
    """Return a seed from the system's source of randomness."""
    return secrets.token_bytes(32)
