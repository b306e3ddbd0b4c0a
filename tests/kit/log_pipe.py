"""A server's log as a pipe, which a test may leave unread."""

import asyncio
import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

SIZE: Final = 4096
"""The size of the pipe in bytes, the smallest that Linux makes."""


class LogPipe:
    """A named pipe from a server's standard error to a log file."""

    def __init__(self, pipe: Path, log: Path) -> None:
        self._path = pipe
        self._log = log
        os.mkfifo(pipe)
        # open in both directions: the pipe stays while the server is restarted
        self._pipe = os.open(pipe, os.O_RDWR | os.O_NONBLOCK)
        fcntl.fcntl(self._pipe, fcntl.F_SETPIPE_SZ, SIZE)

    @property
    def before_program(self) -> tuple[str, ...]:
        """Return the command prefix of the server."""
        return ("sh", "-c", 'exec 2>"$0" "$@"', str(self._path))

    def stop_reading(self) -> None:
        """Read no more, and fill the pipe with empty lines, so that the server's next line waits."""
        asyncio.get_running_loop().remove_reader(self._pipe)
        try:
            while True:
                os.write(self._pipe, b"\n")
        except BlockingIOError:
            pass

    def resume_reading(self) -> None:
        """Copy everything to the log file from now on."""
        asyncio.get_running_loop().add_reader(self._pipe, self._copy)

    def _copy(self) -> None:
        with self._log.open("ab") as log:
            log.write(os.read(self._pipe, SIZE))

    def close(self) -> None:
        asyncio.get_running_loop().remove_reader(self._pipe)
        os.close(self._pipe)


@contextmanager
def log_pipe(folder: Path, log: Path) -> Iterator[LogPipe]:
    """A pipe in `folder` that is read into the file `log`."""
    folder.mkdir(parents=True, exist_ok=True)
    pipe = LogPipe(folder / "log-pipe", log)
    pipe.resume_reading()
    try:
        yield pipe
    finally:
        pipe.close()
