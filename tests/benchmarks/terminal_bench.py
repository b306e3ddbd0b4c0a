"""What the client in a terminal costs: `python tests/benchmarks/terminal_bench.py`.

Three figures, each with its bar: how soon a player sees something, beside the smallest program on
Textual in the same run; the processor time from a key to its repaint, on a board of 104 cards at
120x40; and the bytes that a step of a dragged packet sends to the terminal. The program is the
real one, in a terminal made of bytes (`kit.pseudo_terminal`). Linux only: it asks `/proc` for the
processor time.
"""

import asyncio
import statistics
import sys
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Final

sys.path.insert(0, str(Path(__file__).parent.parent))

from kit import bare_app
from kit.windows import Window, window

SARATOGA: Final = (sys.executable, "-m", "saratoga_client")
BARE: Final = (sys.executable, bare_app.__file__)

ROUNDS: Final = 9
FRAME_BAR: Final = 2.0
"""Times what the bare program takes."""
KEY_BAR: Final = 20.0
"""Milliseconds of processor time."""
DRAG_BAR: Final = 2048
"""Bytes."""
QUIET: Final = 0.06
"""Seconds after a frame until whatever a key caused is over."""
FRAME_ENDS: Final = b"\x1b[?2026l"


@dataclass(frozen=True, slots=True)
class Row:
    """A figure and what it may be."""

    what: str
    figure: str
    bar: str
    within: bool

    def __str__(self) -> str:
        verdict = "within" if self.within else "OVER"
        return f"{self.what:44}{self.figure:>34}  bar {self.bar:>10}  {verdict}"


@contextmanager
def home() -> Iterator[Mapping[str, str | None]]:
    """The environment of a player whom nobody knows yet."""
    with TemporaryDirectory(prefix="saratoga-") as folder:
        yield {"SARATOGA_HOME": folder}


async def first_frame(program: tuple[str, ...], shows: str, env: Mapping[str, str | None]) -> float:
    """Seconds from the start of a program until that is on its screen."""
    began = perf_counter()
    async with window(*program, env=env) as opened:
        await opened.terminal.shows(shows)
        return perf_counter() - began


async def first_frames() -> list[Row]:
    """The real program's first frames beside the bare one's, in turns."""
    programs = {
        "saratoga practice canfield": ((*SARATOGA, "practice", "canfield"), PRACTICE_SHOWS),
    }
    bare: list[float] = []
    took: dict[str, list[float]] = {name: [] for name in programs}
    with home() as env:
        for _ in range(ROUNDS):
            bare.append(await first_frame(BARE, bare_app.SHOWN, env))
            for name, (program, shows) in programs.items():
                took[name].append(await first_frame(program, shows, env))
    base = statistics.median(bare)
    return [
        Row(
            f"first frame, {name}",
            f"{statistics.median(each) * 1000:.0f} ms, {statistics.median(each) / base:.2f} x bare",
            f"{FRAME_BAR} x",
            statistics.median(each) <= FRAME_BAR * base,
        )
        for name, each in took.items()
    ]


@asynccontextmanager
async def practice(game: str, seed: str, *keys: bytes) -> AsyncIterator[Window]:
    """A practice game at 120x40, with some keys pressed already."""
    program = (*SARATOGA, "practice", game, "--seed", seed)
    with home() as env:
        async with window(*program, columns=120, lines=40, env=env, modern=True) as opened:
            await opened.terminal.shows(PRACTICE_SHOWS)
            for key in keys:
                await pressed(opened, key)
            yield opened


async def pressed(opened: Window, keys: bytes) -> int:
    """Type keys, and wait until the next frame is painted and all is quiet; returns the bytes."""
    since = len(opened.terminal.written)
    opened.terminal.type(keys)
    await opened.terminal.until(lambda: FRAME_ENDS in opened.terminal.written[since:])
    await asyncio.sleep(QUIET)
    return len(opened.terminal.written) - since


def processor_time(pid: int) -> float:
    """Milliseconds for which the threads of a process have run."""
    told = (task / "schedstat" for task in Path(f"/proc/{pid}/task").iterdir())
    return sum(int(each.read_text().split()[0]) for each in told) / 1e6


async def key_costs(game: str, before: tuple[bytes, ...], keys: tuple[bytes, ...]) -> Row:
    """What the keys cost one by one, after those before."""
    costs = []
    async with practice(game, SEED, *before) as opened:
        for key in keys:
            began = processor_time(opened.process.pid)
            await pressed(opened, key)
            costs.append(processor_time(opened.process.pid) - began)
    hundredths = statistics.quantiles(costs, n=100)
    return Row(
        f"a key, {game}, 104 cards, 120x40",
        f"median {statistics.median(costs):.1f} ms, p95 {hundredths[94]:.1f} ms",
        f"{KEY_BAR:.0f} ms",
        statistics.median(costs) <= KEY_BAR,
    )


SEED: Final = "1"
PRACTICE_SHOWS: Final = "practice"
TAB, ENTER, SPACE = b"\t", b"\r", b" "


async def measure() -> list[Row]:
    rows = await first_frames()
    rows.append(await key_costs("caprice", (SPACE,) * 7, (TAB,) * 40))
    rows.append(await key_costs("lady-palk", (SPACE,) * 20, (TAB,) * 40))
    return rows


def main() -> None:
    for row in asyncio.run(measure()):
        print(row)


if __name__ == "__main__":
    main()
