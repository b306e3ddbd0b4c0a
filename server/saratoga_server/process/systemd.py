"""Notifications to systemd (sd_notify(3)); without systemd they do nothing."""

import asyncio
import os
import socket
from collections.abc import Mapping
from typing import Final

from saratoga_server.cancellation import pause

READY: Final = "READY=1"
STOPPING: Final = "STOPPING=1"
WATCHDOG: Final = "WATCHDOG=1"


def notify(state: str, environment: Mapping[str, str] = os.environ) -> None:
    """Send a state to the socket named by `$NOTIFY_SOCKET`; ignore a failure."""
    address = environment.get("NOTIFY_SOCKET", "")
    if not address.startswith(("/", "@")):
        return
    if address.startswith("@"):  # the abstract namespace: no file
        address = "\0" + address[1:]
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
        sender.setblocking(False)
        try:
            sender.sendto(state.encode(), address)
        except OSError:
            return


def watchdog_seconds(environment: Mapping[str, str] = os.environ) -> float | None:
    """Return the unit's `WatchdogSec=`; `None` if it has none, or if it is for another process."""
    if environment.get("WATCHDOG_PID", str(os.getpid())) != str(os.getpid()):
        return None
    microseconds = environment.get("WATCHDOG_USEC", "")
    seconds = int(microseconds) / 1_000_000 if microseconds.isdecimal() else 0.0
    return seconds or None


async def feed_watchdog(environment: Mapping[str, str] = os.environ) -> None:
    """Notify systemd twice per `WatchdogSec=` that the event loop runs; never return."""
    seconds = watchdog_seconds(environment)
    while seconds is not None:
        notify(WATCHDOG, environment)
        await pause(seconds / 2)
    await asyncio.Event().wait()
