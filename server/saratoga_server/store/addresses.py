"""Parse the addresses of stores that the operator gives."""

import re
from typing import Final

_NEXT: Final = re.compile(r",(?=(?:redis|rediss|unix)://)")


def addresses(url: str) -> list[str]:
    """Return the addresses of several nodes of a cluster, separated by commas in `url`."""
    # a password or a path may contain a comma
    return _NEXT.split(url)
