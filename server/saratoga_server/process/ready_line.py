"""Announce that players can connect, to the parent process and to systemd."""

import os
import sys
from typing import Final

from saratoga_server.logs import EventLog
from saratoga_server.process import systemd

READY_LINE: Final = "saratoga-server ready "
"""The beginning of the ready line on standard output; the address follows."""

log = EventLog("server")


def announce(address: str) -> None:
    """Print the ready line, and notify systemd."""
    line = f"{READY_LINE}{address}\n".encode()
    try:
        # unbuffered, because a failed buffered write would be flushed, and fail, again at exit
        os.write(sys.stdout.fileno(), line)
    except OSError as error:
        # a closed terminal or a full disk; players can connect nevertheless
        log.warning("ready_line_failed", text=str(error))
    systemd.notify(systemd.READY)
