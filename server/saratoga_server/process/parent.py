"""What the server tells the program that started it, and systemd.

Without systemd, notifications (sd_notify(3)) do nothing.
"""

import asyncio
import os
import socket
from collections.abc import Mapping
from typing import Final

from saratoga_server.cancellation import pause
from saratoga_server.logs import EventLog
from saratoga_server.process.output import STDOUT, write_all

READY_LINE: Final = "saratoga-server ready "
"""The beginning of the ready line on standard output; the address follows."""

WRITTEN_WITHIN: Final = 0.1
"""Seconds for which the server waits for the line to be written: a pipe may have no reader."""

READY: Final = "READY=1"
STOPPING: Final = "STOPPING=1"
WATCHDOG: Final = "WATCHDOG=1"

log = EventLog("server")


async def announce(address: str, descriptor: int = STDOUT) -> None:
    """Print the ready line, and notify systemd."""
    line = f"{READY_LINE}{address}\n".encode()
    try:
        # unbuffered, because a failed buffered write would be flushed, and fail, again at exit
        async with asyncio.timeout(WRITTEN_WITHIN):
            await asyncio.to_thread(write_all, descriptor, line)
    except OSError as error:  # also a timeout
        # a closed terminal, a full disk, a pipe that nobody reads; players can connect nevertheless
        log.warning("ready_line_failed", text=str(error))
    notify(READY)


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
