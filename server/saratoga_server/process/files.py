"""How many files this process may have open: every connection is one."""

import resource
from contextlib import suppress


def allow_all_files() -> None:
    """Take all that the system allows; by itself it gives 1,024, for the sake of older programs."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    # some systems say that there is no bound, and allow less
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
