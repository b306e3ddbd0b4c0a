"""The limit on open files; each connection is one."""

import resource
from contextlib import suppress


def raise_open_file_limit() -> None:
    """Raise the soft limit, 1,024 on most systems, to the hard limit."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    # macOS reports no hard limit, and refuses a soft limit of that size
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
