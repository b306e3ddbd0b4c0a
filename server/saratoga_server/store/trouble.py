"""Which of a store's errors pass by themselves."""

from typing import Final

PASSING: Final = (
    "LOADING", "BUSY", "READONLY", "OOM", "MISCONF", "NOREPLICAS", "MASTERDOWN", "CLUSTERDOWN",
    "TRYAGAIN", "UNBLOCKED",
)  # fmt: skip
"""First words of error replies after which the same command may succeed a little later."""

FUNCTION_MISSING: Final = "Function not found"
"""The reply when somebody flushed the Functions, or a new primary never had them."""


def passes(error: object) -> bool:
    """Whether to wait and try again."""
    # redis-py takes the first word off the errors it knows
    word = getattr(error, "status_code", None) or str(error).partition(" ")[0]
    return word in PASSING


def is_function_missing(error: object) -> bool:
    return FUNCTION_MISSING in str(error)
