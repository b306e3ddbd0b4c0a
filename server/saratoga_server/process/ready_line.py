"""Announce that players can connect, to the parent process and to systemd."""

from typing import Final

from saratoga_server.logs import EventLog
from saratoga_server.process import systemd
from saratoga_server.process.output import STDOUT, write_within

READY_LINE: Final = "saratoga-server ready "
"""The beginning of the ready line on standard output; the address follows."""

PRINTED_WITHIN: Final = 0.1
"""Seconds for which the event loop may wait for the ready line to be printed."""

log = EventLog("server")


def announce(address: str, descriptor: int = STDOUT) -> None:
    """Print the ready line, and notify systemd."""
    line = f"{READY_LINE}{address}\n".encode()
    try:
        # unbuffered, because a failed buffered write would be flushed, and fail, again at exit
        write_within(descriptor, line, PRINTED_WITHIN)
    except OSError as error:
        # a closed terminal, a full disk, a pipe that nobody reads; players can connect nevertheless
        log.warning("ready_line_failed", text=str(error))
    systemd.notify(systemd.READY)
