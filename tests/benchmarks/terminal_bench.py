"""Measure the cost of the client in a terminal: `python tests/benchmarks/terminal_bench.py`.

There are two figures, each with a limit: the time to the first frame, compared with a minimal Textual
program in the same run; and the CPU time from a key to its repaint, in races of 104 cards at 120x40, also as a
multiple of a key of that program. The
client runs with a real server in a pseudo-terminal (`kit.pseudo_terminal`). The CPU time comes from `/proc`,
so this runs on Linux only.
"""

import asyncio
import re
import statistics
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Final

sys.path.insert(0, str(Path(__file__).parent.parent))

from benchmarks.measuring import processor_seconds
from kit import bare_app
from kit.pseudo_terminal import Window, window
from kit.server_process import ServerProcess, running_server

SARATOGA: Final = (sys.executable, "-m", "saratoga_client")
BARE: Final = (sys.executable, bare_app.__file__)

ROUNDS: Final = 11
FRAME_BAR: Final = 1.8
"""Maximum time to the first frame, as a multiple of the minimal program's time."""
KEY_BAR: Final = 20.0
"""Maximum CPU time for a key, in milliseconds."""
QUIET: Final = 0.05
"""Seconds without a frame after which the effects of a key are complete."""
FRAME_ENDS: Final = b"\x1b[?2026l"

COLUMNS, LINES, PANEL = 120, 40, 32
SEED: Final = "1"
TAB, ENTER, SPACE = b"\t", b"\r", b" "
DRAWS: Final = {"caprice": 5, "lady-palk": 20}
"""The number of draws at the start of each game, so that the board is full."""
KEYS: Final = 120

Environment = Mapping[str, str | None]


@dataclass(frozen=True, slots=True)
class Row:
    """A figure and its limit."""

    what: str
    figure: str
    bar: str
    within: bool
    more: str = ""

    def __str__(self) -> str:
        verdict = "within" if self.within else "OVER"
        more = f"\n    {self.more}" if self.more else ""
        return f"{self.what:44}{self.figure:>34}  bar {self.bar:>9}  {verdict}{more}"


# The first frame


async def first_frame(program: tuple[str, ...], shows: str, env: Environment) -> float:
    """Return the seconds from the start of a program until its screen shows a text."""
    began = perf_counter()
    async with window(*program, env=env) as opened:
        await opened.terminal.shows(shows)
        return perf_counter() - began


async def first_frames(env: Environment) -> list[Row]:
    """Measure the first frames of the client and of the minimal program in turns."""
    bare: list[float] = []
    took: dict[str, list[float]] = {}
    async with racing("canfield", env) as code:
        programs = {
            "practice": (("practice", "canfield"), "help"),
            "home": ((), "SARATOGA"),
            "home with the menu": ((), "Practise"),
            "a race, rejoined": (("join", code), "cash out"),
        }
        for _ in range(ROUNDS):
            bare.append(await first_frame(BARE, bare_app.SHOWN, env))
            for name, (words, shows) in programs.items():
                took.setdefault(name, []).append(await first_frame((*SARATOGA, *words), shows, env))
    base = statistics.median(bare)
    ratios = {name: statistics.median(each) / base for name, each in took.items()}
    return [
        Row(
            f"first frame, {name}",
            f"{statistics.median(took[name]) * 1000:.0f} ms, {ratio:.2f} x {base * 1000:.0f} ms",
            f"{FRAME_BAR} x",
            ratio <= FRAME_BAR,
        )
        for name, ratio in ratios.items()
    ]


# A key


@asynccontextmanager
async def racing(game: str, env: Environment) -> AsyncIterator[str]:
    """Run a race of one player in a terminal; yield the table's code."""
    async with race(game, env) as opened:
        found = re.search(rb"[a-z]+-[a-z]+-[0-9]+", bytes(opened.terminal.written))
        assert found is not None
        yield found[0].decode()


@asynccontextmanager
async def race(game: str, env: Environment) -> AsyncIterator[Window]:
    """Run a race of one player; yield its terminal window."""
    words = ("host", game, "--cap", "0")
    async with window(*SARATOGA, *words, columns=COLUMNS, lines=LINES, env=env) as opened:
        await opened.terminal.shows("when you are ready")
        opened.terminal.type(b"r")
        await opened.terminal.shows("not ready")
        opened.terminal.type(b"s")
        await opened.terminal.shows("cash out")
        yield opened


async def repainted(opened: Window, since: int) -> None:
    """Wait until a frame that began after byte `since` of the output is complete."""
    await opened.terminal.until(lambda: FRAME_ENDS in opened.terminal.written[since:])


async def pressed(opened: Window, key: bytes) -> tuple[float, float]:
    """Return the CPU milliseconds until the frame for a key is complete, and until all its effects are."""
    began, since = processor_time(opened.process.pid), len(opened.terminal.written)
    opened.terminal.type(key)
    await repainted(opened, since)
    painted = processor_time(opened.process.pid)
    await asyncio.sleep(QUIET)
    return painted - began, processor_time(opened.process.pid) - began


def processor_time(pid: int) -> float:
    """Return the milliseconds of CPU time that the threads of a process have used."""
    return processor_seconds([pid]) * 1000


async def bare_key_cost(env: Environment) -> float:
    """Return the median CPU time, in ms, from a key to its repaint in the smallest Textual program."""
    async with window(*BARE, columns=COLUMNS, lines=LINES, env=env) as opened:
        await opened.terminal.shows(bare_app.SHOWN)
        costs = [await pressed(opened, b"r") for _ in range(KEYS // 2)]
    return statistics.median(painted for painted, _ in costs)


async def key_costs(game: str, env: Environment) -> Row:
    """Measure the cost of Tab and Enter in turns, and compare it with a key of the bare program."""
    costs = []
    bare = await bare_key_cost(env)
    async with race(game, env) as opened:
        for _ in range(DRAWS[game]):
            await pressed(opened, SPACE)
        for number in range(KEYS):
            if b"the race is over" in opened.terminal.written:
                break
            costs.append(await pressed(opened, ENTER if number % 6 == 5 else TAB))
    median, p95 = spread([painted for painted, _ in costs])
    return Row(
        f"a key to its repaint, {game}",
        f"median {median:.1f} ms, p95 {p95:.1f} ms, {median / bare:.2f} x {bare:.1f} ms",
        f"{KEY_BAR:.0f} ms",
        p95 <= KEY_BAR,
        "with what the house says to it: median {:.1f} ms, p95 {:.1f} ms".format(
            *spread([over for _, over in costs])
        ),
    )


def spread(figures: list[float]) -> tuple[float, float]:
    """Return the median and the 95th percentile."""
    return statistics.median(figures), statistics.quantiles(figures, n=20)[-1]


async def measure(server_process: ServerProcess, folder: Path) -> None:
    def env(name: str) -> Environment:
        return {
            "SARATOGA_HOME": str(folder / name),
            "SARATOGA_NAME": name.title(),
            "SARATOGA_SERVER": server_process.url,
            # compile the modules first, as on every start but the first
            "PYTHONDONTWRITEBYTECODE": None,
            "PYTHONPYCACHEPREFIX": str(folder / "compiled"),
        }

    for game in DRAWS:
        print(await key_costs(game, env(game.replace("-", ""))))
    for row in await first_frames(env("racer")):
        print(row)


async def main() -> None:
    with TemporaryDirectory(prefix="saratoga-") as folder:
        async with running_server() as server_process:
            await measure(server_process, Path(folder))


if __name__ == "__main__":
    asyncio.run(main())
