"""Programs in tmux terminals: the test presses keys and reads the screens that tmux draws.

Each test has a tmux server of its own, which ends with the test. The test is attached in control mode, in
which tmux sends a message whenever a program has written. So screens are read when they change, and no
test waits for time to pass."""

import asyncio
import os
import re
import shlex
import shutil
import signal
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from kit.pseudo_terminal import environment
from kit.stores import SCRATCH
from saratoga_client.local.hosting import is_server

SEEN_WITHIN: Final = 60.0
"""Longest time in seconds for anything awaited; a bound that no test should reach."""

_SETTINGS: Final = """
set -g status off
set -g default-terminal screen-256color
set -g history-limit 0
set -g exit-unattached on
set -g exit-empty off
set -s escape-time 0
"""


_SHELL: Final = "trap : INT QUIT; read _; {program}; code=$?; echo; echo ended: $code; read _"
"""A shell script that starts the program at a key press, after its terminal has got its size."""
_ENDED: Final = re.compile(r"^ended: (\d+)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Screen:
    """The lines of a terminal without trailing blanks."""

    lines: tuple[str, ...]

    def __str__(self) -> str:
        return "\n".join(self.lines)

    def __contains__(self, text: str) -> bool:
        return any(text in line for line in self.lines)


@dataclass
class Pane:
    """A terminal with one program."""

    tmux: "Tmux"
    number: str
    """The pane's id in tmux, such as `%3`."""
    pid: int

    async def press(self, *keys: str) -> None:
        """Press keys, given by tmux's names such as `Tab`, `Enter`, `Space`, `C-c` or `x`."""
        await self.tmux.say(f"send-keys -t {self.number} {shlex.join(keys)}")

    async def type(self, text: str) -> None:
        """Type a text letter by letter."""
        await self.tmux.say(f"send-keys -t {self.number} -l {shlex.quote(text)}")

    async def resize(self, columns: int, lines: int) -> None:
        await self.tmux.say(f"resize-window -t {self.number} -x {columns} -y {lines}")

    async def screen(self) -> Screen:
        return Screen(tuple(await self.tmux.say(f"capture-pane -p -t {self.number}")))

    async def is_painted(self) -> bool:
        """Return whether the last frame is complete: Textual ends each by moving the cursor home."""
        at = await self.tmux.say(
            f"display-message -p -t {self.number} '#{{cursor_x}},#{{cursor_y}}'"
        )
        return at == ["0,0"]

    async def until(self, *wanted: str | Callable[[Screen], bool]) -> Screen:
        """Wait for the first screen that contains every text and meets every condition; return it.

        The screen may be half drawn: whatever a test expects on it is given here.
        """
        return await self.until_pressed((), *wanted)

    async def until_pressed(
        self,
        keys: tuple[str, ...],
        *wanted: str | Callable[[Screen], bool],
        at: "Pane | None" = None,
    ) -> Screen:
        """Wait like `until`, and press the keys again on every screen that does not match.

        They are pressed here, or `at` another terminal.
        """
        screen = None
        try:
            async with asyncio.timeout(SEEN_WITHIN):
                while True:
                    changed = self.tmux.written(self.number)
                    screen = await self.screen()
                    if all(
                        each in screen if isinstance(each, str) else each(screen) for each in wanted
                    ):
                        return screen
                    if keys:
                        await (at or self).press(*keys)
                    await changed.wait()
        except TimeoutError:
            raise AssertionError(f"never seen: {wanted}; the last was\n{screen}") from None

    async def ended(self) -> int:
        """Wait for the program to end; return its exit code. The screen stays."""
        screen = await self.until(lambda screen: _ENDED.search(str(screen)) is not None)
        found = _ENDED.search(str(screen))
        assert found is not None
        return int(found[1])


@dataclass
class Tmux:
    """A tmux server and the control client that sends commands to it."""

    socket: Path
    process: asyncio.subprocess.Process
    panes: list[Pane] = field(default_factory=list)
    answers: asyncio.Queue[tuple[bool, list[str]]] = field(default_factory=asyncio.Queue)
    _changed: dict[str, asyncio.Event] = field(default_factory=dict)
    _turn: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def open(
        self,
        *command: str,
        columns: int = 80,
        lines: int = 24,
        env: Mapping[str, str | None] | None = None,
    ) -> Pane:
        """Open a terminal of this size with a program in it."""
        wanted = environment({"TERM": None, **(env or {})})
        gone = [
            part for name in os.environ.keys() - wanted.keys() - {"TERM"} for part in ("-u", name)
        ]
        new = [f"{name}={value}" for name, value in wanted.items() if os.environ.get(name) != value]
        program = _SHELL.format(program=shlex.join(["env", *gone, *new, *command]))
        (line,) = await self.say(
            f"new-window -d -P -F '#{{pane_id}} #{{pane_pid}}' {shlex.join(['sh', '-c', program])}"
        )
        number, pid = line.split()
        pane = Pane(self, number, int(pid))
        self.panes.append(pane)
        await pane.resize(columns, lines)
        await pane.press("Enter")
        return pane

    async def say(self, command: str) -> list[str]:
        """Run a tmux command; return its output."""
        assert self.process.stdin is not None
        async with self._turn, asyncio.timeout(SEEN_WITHIN):
            self.process.stdin.write(command.encode() + b"\n")
            await self.process.stdin.drain()
            well, printed = await self.answers.get()
        assert well, f"{command}: {printed}"
        return printed

    def written(self, pane: str) -> asyncio.Event:
        """Return an event that is set at the next output, or at the end of the pane's program."""
        return self._changed.setdefault(pane, asyncio.Event())

    async def listen(self) -> None:
        """Read the tmux server's messages until the server ends."""
        assert self.process.stdout is not None
        block: list[str] | None = None
        async for raw in self.process.stdout:
            line = raw.decode(errors="replace").rstrip("\n")
            word, _, rest = line.partition(" ")
            if block is not None and word in ("%end", "%error"):
                self.answers.put_nowait((word == "%end", block))
                block = None
            elif block is not None:
                block.append(line)
            elif word == "%begin":
                block = []
            elif word == "%output":
                self._happened(rest.partition(" ")[0])
            elif word.startswith("%"):
                # The message about an ended pane does not name it.
                for pane in list(self._changed):
                    self._happened(pane)

    def _happened(self, pane: str) -> None:
        if changed := self._changed.pop(pane, None):
            changed.set()


@asynccontextmanager
async def open_tmux() -> AsyncIterator[Tmux]:
    """Run a tmux server until the end of the block."""
    program = shutil.which("tmux")
    assert program is not None, "tmux is not installed, and terminals are tested in it"
    with TemporaryDirectory(prefix="saratoga-", dir=SCRATCH, ignore_cleanup_errors=True) as folder:
        socket, settings = Path(folder) / "s", Path(folder) / "settings"
        settings.write_text(_SETTINGS)
        # The first window keeps the session open; -C: control mode.
        process = await asyncio.create_subprocess_exec(
            *(program, "-u", "-S", str(socket), "-f", str(settings), "-C"),
            *("new-session", "-x", "80", "-y", "24", "exec cat"),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            env=environment({"TMUX": None, "TMUX_TMPDIR": None}),
            limit=1 << 20,
        )
        tmux = Tmux(socket, process)
        listening = asyncio.create_task(tmux.listen())
        try:
            async with asyncio.timeout(SEEN_WITHIN):
                await tmux.answers.get()  # of new-session itself
            yield tmux
        finally:
            await _end(tmux, program)
            await listening


async def _end(tmux: Tmux, program: str) -> None:
    ending = await asyncio.create_subprocess_exec(
        *(program, "-S", str(tmux.socket), "kill-server"), stderr=asyncio.subprocess.DEVNULL
    )
    await ending.wait()
    for pane in tmux.panes:
        # Each pane's program leads its own session and has received the hang-up already.
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(pane.pid, signal.SIGKILL)
    if tmux.process.returncode is None:
        with suppress(TimeoutError):
            async with asyncio.timeout(SEEN_WITHIN):
                await tmux.process.wait()
    if tmux.process.returncode is None:
        tmux.process.kill()
        await tmux.process.wait()


INVITATION = re.compile(r"saratoga join (ws://[^/\s]+:(\d+)/[a-z]+-[a-z]+-\d\d)")
GONE_WITHIN = 30.0
"""Longest time in seconds for a server to stop; it drains for at most 20."""


async def gone(port: int) -> bool:
    """Wait until no server answers at the port."""
    async with asyncio.timeout(GONE_WITHIN):
        while await is_server("127.0.0.1", port):
            pass
    return True


async def enter(pane: Pane, text: str) -> None:
    """Type a line and press Enter."""
    await pane.type(text)
    await pane.press("Enter")


async def start_race(host: Pane, friend: Pane, board: str) -> None:
    """Let both players get ready and the host start; wait until both screens show the text of a board."""
    for player in (host, friend):
        await player.press("r")
    await host.until(lambda screen: str(screen).count("✓") == 2)
    await host.press("s")
    for player in (host, friend):
        await player.until(board)


async def invitation(pane: Pane) -> tuple[str, int]:
    """Wait for the gathering page of a table with one player; return the invitation's URL and port."""

    def found(screen: Screen) -> re.Match[str] | None:
        return INVITATION.search(str(screen))

    match = found(await pane.until("SEATS 1 of 16", lambda screen: found(screen) is not None))
    assert match is not None
    return match[1], int(match[2])
