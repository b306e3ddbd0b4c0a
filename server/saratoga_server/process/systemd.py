"""Telling the service manager how things stand, where there is one (sd_notify(3)).

One datagram a word, to the socket that the environment names. It is for the process that was started
by the manager alone: workers are not heard.
"""

import asyncio
import contextlib
import os
import socket
import time
from collections.abc import Mapping
from typing import Final

from saratoga_server.cancellation import pause

READY: Final = "READY=1"
STOPPING: Final = "STOPPING=1"
ALIVE: Final = "WATCHDOG=1"

MICROSECONDS: Final = 1_000_000


def reloading() -> str:
    """What is said before workers are replaced; `READY` ends it."""
    return f"RELOADING=1\nMONOTONIC_USEC={time.clock_gettime_ns(time.CLOCK_MONOTONIC) // 1000}"


def tell(word: str, environment: Mapping[str, str] = os.environ) -> bool:
    """Say something to the manager; False if there is none, or it does not listen."""
    address = environment.get("NOTIFY_SOCKET", "")
    if not address.startswith(("/", "@")):
        return False
    # a leading @ stands for a socket without a file
    address = "\0" + address[1:] if address.startswith("@") else address
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as line:
        line.setblocking(False)
        try:
            line.connect(address)
            line.send(word.encode())
        except OSError:
            return False
    return True


def watchdog_seconds(environment: Mapping[str, str] = os.environ) -> float | None:
    """How soon the manager wants to hear that this process lives; `None`: it does not ask."""
    meant_for = environment.get("WATCHDOG_PID", str(os.getpid()))
    with contextlib.suppress(KeyError, ValueError):
        seconds = int(environment["WATCHDOG_USEC"]) / MICROSECONDS
        return seconds if seconds > 0 and meant_for == str(os.getpid()) else None
    return None


async def stay_alive(environment: Mapping[str, str] = os.environ) -> None:
    """Say so as often as the manager wants to hear it; for ever, or not at all."""
    seconds = watchdog_seconds(environment)
    while seconds is not None:
        tell(ALIVE, environment)
        await pause(seconds / 2)
    await asyncio.Event().wait()
