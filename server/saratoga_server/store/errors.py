"""Classify a store's errors as transient or not."""

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
"""The first words of error replies after which the same command may succeed a little later.

In a cluster it may succeed on another primary. ASK is not followed, because a Function needs all keys of
the slot.
"""

_TRANSIENT_ERRORS: Final = (
    AskError,
    BusyLoadingError,
    ClusterDownError,
    OutOfMemoryError,
    ReadOnlyError,
    TryAgainError,
)
"""redis-py's exceptions for such errors; their texts lack the first word (MOVED is an `AskError`)."""

_IN_FUNCTIONS: Final = ("non local key", "while the cluster is down")
"""Parts of the error replies of a Function that met a key being moved to another primary, or a cluster
without a majority or with a slot that nobody serves. Valkey and Redis word the rest differently."""

FUNCTION_MISSING: Final = "Function not found"
"""The error reply if the Functions were flushed or a new primary never had them."""


def is_transient(error: str | Exception) -> bool:
    """Return whether the command may succeed if it is sent again after a pause."""
    text = str(error)
    return (
        isinstance(error, _TRANSIENT_ERRORS)
        or text.partition(" ")[0] in TRANSIENT
        or any(part in text for part in _IN_FUNCTIONS)
    )


def is_function_missing(error: str | Exception) -> bool:
    return FUNCTION_MISSING in str(error)
