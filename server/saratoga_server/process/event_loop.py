"""Run the event loop, on uvloop if it is installed."""

import asyncio
import sys
from collections.abc import Coroutine
from typing import Final

THREAD_SWITCH_INTERVAL: Final = 0.001
"""The longest time that a worker thread may delay the event loop, in seconds."""


def run_event_loop(work: Coroutine[None, None, None]) -> None:
    """Run `work` until it returns."""
    sys.setswitchinterval(THREAD_SWITCH_INTERVAL)
    try:
        import uvloop  # optional: not built for every system
    except ImportError:
        asyncio.run(work)
    else:
        uvloop.run(work)
