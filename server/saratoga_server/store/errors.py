"""Which of a store's errors pass by themselves."""

from typing import Final

PASSING: Final = (
    "LOADING", "BUSY", "READONLY", "OOM", "MISCONF", "NOREPLICAS", "MASTERDOWN", "CLUSTERDOWN",
    "TRYAGAIN", "UNBLOCKED", "MOVED", "ASK",
)  # fmt: skip
"""First words of error replies after which the same command may succeed a little later.

In a cluster that may be somewhere else. Nobody goes where ASK points: half of a slot lies there,
and a Function needs all of it.
"""

ELSEWHERE: Final = "non local key"
"""In the reply to a Function that met a key on its way to another primary; it wrote nothing."""

FUNCTION_MISSING: Final = "Function not found"
"""The reply when somebody flushed the Functions, or a new primary never had them."""


def passes(error: object) -> bool:
    """Whether to wait and try again."""
    # redis-py takes the first word off the errors it knows
    text = str(error)
    word = getattr(error, "status_code", None)
    return word in PASSING or text.partition(" ")[0] in PASSING or ELSEWHERE in text


def is_function_missing(error: object) -> bool:
    return FUNCTION_MISSING in str(error)
