"""Hold log lines back while the screen is open, and write them when the terminal is restored.

A line written to a painted screen would overwrite the board until that part is painted again.
"""

import logging
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

MOST_KEPT: Final = 20
"""Maximum number of held lines; the oldest are dropped first."""


class DeferredLog(logging.Handler):
    """A logging handler that holds the latest records."""

    def __init__(self) -> None:
        super().__init__()
        self.kept: deque[logging.LogRecord] = deque(maxlen=MOST_KEPT)

    def emit(self, record: logging.LogRecord) -> None:
        self.kept.append(record)


@contextmanager
def deferred_logs() -> Iterator[None]:
    """Hold the latest records of all handlers that write to a terminal, and write them at the end."""
    root, deferred = logging.getLogger(), DeferredLog()
    writers = [handler for handler in root.handlers if _writes_to_terminal(handler)]
    if not writers:
        yield
        return
    for writer in writers:
        root.removeHandler(writer)
    root.addHandler(deferred)
    try:
        yield
    finally:
        root.removeHandler(deferred)
        for writer in writers:
            root.addHandler(writer)
        for record in deferred.kept:
            for writer in writers:
                if record.levelno >= writer.level:
                    writer.handle(record)


def _writes_to_terminal(handler: logging.Handler) -> bool:
    stream = handler.stream if isinstance(handler, logging.StreamHandler) else None
    try:
        return stream is not None and stream.isatty()
    except (AttributeError, ValueError):
        return False
