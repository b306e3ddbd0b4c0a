"""Addresses of stores, as hosts write them."""

import re
from typing import Final

_NEXT: Final = re.compile(r",(?=(?:redis|rediss|unix)://)")


def addresses(url: str) -> list[str]:
    """One address, or those of several nodes of a cluster, separated by commas."""
    # a password or a path may have a comma in it
    return _NEXT.split(url)
