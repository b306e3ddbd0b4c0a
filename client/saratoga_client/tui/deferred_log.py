"""What loggers say while a screen has the terminal: kept, and said when the terminal is given back.

A line written into a picture would stand across the board until that part is painted again.
"""

import logging
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

MOST_KEPT: Final = 20
"""Lines; then the oldest are lost."""


class LateLog(logging.Handler):
    """Keeps what it is given."""

    def __init__(self) -> None:
        super().__init__()
        self.kept: deque[logging.LogRecord] = deque(maxlen=MOST_KEPT)

    def emit(self, record: logging.LogRecord) -> None:
        self.kept.append(record)


@contextmanager
def said_later() -> Iterator[None]:
    """Loggers that write to a terminal are silent in here, and heard when it is left."""
    root, late = logging.getLogger(), LateLog()
    speakers = [handler for handler in root.handlers if _speaks_to_terminal(handler)]
    if not speakers:
        yield
        return
    for speaker in speakers:
        root.removeHandler(speaker)
    root.addHandler(late)
    try:
        yield
    finally:
        root.removeHandler(late)
        for speaker in speakers:
            root.addHandler(speaker)
        for record in late.kept:
            for speaker in speakers:
                if record.levelno >= speaker.level:
                    speaker.handle(record)


def _speaks_to_terminal(handler: logging.Handler) -> bool:
    stream = handler.stream if isinstance(handler, logging.StreamHandler) else None
    try:
        return stream is not None and stream.isatty()
    except (AttributeError, ValueError):
        return False
