"""The time of day; no other module of the client reads the system clock."""

from time import time


def now() -> int:
    """Return the time of this machine's clock in milliseconds since 1970 UTC."""
    return int(time() * 1000)
