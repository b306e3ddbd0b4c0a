"""The only place where the client reads the time of day."""

from time import time


def now() -> int:
    """Return the time of this machine's clock in milliseconds since 1970 UTC."""
    return int(time() * 1000)
