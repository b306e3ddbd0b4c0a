"""Classify a store's errors as transient or not."""

from typing import Final

from redis.exceptions import (
    BusyLoadingError,
    MasterDownError,
    OutOfMemoryError,
    ReadOnlyError,
)

TRANSIENT: Final = (
    "LOADING", "BUSY", "READONLY", "OOM", "MISCONF", "NOREPLICAS", "MASTERDOWN", "UNBLOCKED",
)  # fmt: skip
"""The first words of error replies after which the same command may succeed a little later."""

_TRANSIENT_ERRORS: Final = (BusyLoadingError, MasterDownError, OutOfMemoryError, ReadOnlyError)
"""redis-py's exceptions for such errors; their texts lack the first word."""

FUNCTION_MISSING: Final = "Function not found"
"""The error reply if the Functions were flushed or a new primary never had them."""


def is_transient(error: str | Exception) -> bool:
    """Return whether the command may succeed if it is sent again after a pause."""
    text = str(error)
    return isinstance(error, _TRANSIENT_ERRORS) or text.partition(" ")[0] in TRANSIENT


def is_function_missing(error: str | Exception) -> bool:
    return FUNCTION_MISSING in str(error)
