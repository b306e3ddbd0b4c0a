"""Telling the parent process and systemd that players can connect."""

import os
import sys
from typing import Final

from saratoga_server.logs import EventLog
from saratoga_server.process import systemd

READY_LINE: Final = "saratoga-server ready "
"""Printed to standard output, followed by the address."""

log = EventLog("server")


def announce(address: str) -> None:
    """Print the ready line, and notify systemd."""
    line = f"{READY_LINE}{address}\n".encode()
    try:
        # past the stream's buffer: what it could not write it would fail to flush again at exit
        os.write(sys.stdout.fileno(), line)
    except OSError as error:
        # a closed terminal or a full disk; players can connect all the same
        log.warning("ready_line_not_printed", text=str(error))
    systemd.notify(systemd.READY)
