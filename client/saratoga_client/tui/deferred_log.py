"""Log lines that wait while a screen has the terminal, and are written when it is given back.

A line written into a painted screen would stay across the board until that part is painted again.
"""

import logging
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

MOST_KEPT: Final = 20
"""Lines; beyond this the oldest are dropped."""


class DeferredLog(logging.Handler):
    """A handler that keeps the latest records."""

    def __init__(self) -> None:
        super().__init__()
        self.kept: deque[logging.LogRecord] = deque(maxlen=MOST_KEPT)

    def emit(self, record: logging.LogRecord) -> None:
        self.kept.append(record)


@contextmanager
def deferred_logs() -> Iterator[None]:
    """Keep the records of all handlers that write to a terminal, and write them at the end."""
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
