"""Which of a store's errors are transient."""

from typing import Final

from redis.exceptions import (
    AskError,
    BusyLoadingError,
    ClusterDownError,
    OutOfMemoryError,
    ReadOnlyError,
    TryAgainError,
)

TRANSIENT: Final = (
    "LOADING", "BUSY", "READONLY", "OOM", "MISCONF", "NOREPLICAS", "MASTERDOWN", "CLUSTERDOWN",
    "TRYAGAIN", "UNBLOCKED", "MOVED", "ASK",
)  # fmt: skip
"""First words of error replies after which the same command may succeed a little later.

In a cluster it may succeed at another primary. ASK is not followed: half of a slot lies there, and
a Function needs all of it.
"""

_TRANSIENT_ERRORS: Final = (
    AskError,
    BusyLoadingError,
    ClusterDownError,
    OutOfMemoryError,
    ReadOnlyError,
    TryAgainError,
)
"""redis-py takes the first word off the errors that it has a class for (MOVED is an `AskError`)."""

NON_LOCAL_KEY: Final = "non local key"
"""In the reply to a Function that met a key which is being moved; it wrote nothing."""

FUNCTION_MISSING: Final = "Function not found"
"""The reply when the Functions were flushed, or a new primary never had them."""


def is_transient(error: str | Exception) -> bool:
    """Return whether to wait and try again."""
    text = str(error)
    return (
        isinstance(error, _TRANSIENT_ERRORS)
        or text.partition(" ")[0] in TRANSIENT
        or NON_LOCAL_KEY in text
    )


def is_function_missing(error: str | Exception) -> bool:
    return FUNCTION_MISSING in str(error)
