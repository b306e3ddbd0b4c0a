"""The one place where the players' side reads the time of day."""

from time import time


def now() -> int:
    """Milliseconds since 1970 UTC by this machine's clock."""
    return int(time() * 1000)
