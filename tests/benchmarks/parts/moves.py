"""Moves in a closed loop: what one costs at every level, with how many tables, and what its layers cost."""

import statistics
from collections.abc import Sequence

from benchmarks.contestants import replicated_house
from benchmarks.known_deals import KnownDeals
from benchmarks.lines import COLUMNS, GAME, echo_line, house_line, line, line_at
from benchmarks.measuring import Load
from benchmarks.reports import Bar, Cell, Report
from saratoga_rules.games import GAMES

TABLES = (1, 16, 64, 256)
AT = 64
"""Tables at which the layers and the other games are compared."""
REPLICATED_AT = (16, 64)
ROUNDS = 3
"""Of the house and the echo in turns, from which the median is taken."""

LEAST_RATIO, LEAST_GROWTH = 2.5, 1.3


async def moves(report: Report, *, quick: bool) -> None:
    """Parts 1 and 3."""
    seconds = 1.5 if quick else 2.5
    counts = (16, 64, 256) if quick else TABLES
    rows: list[list[Cell]] = []
    safe: dict[int, Load] = {}
    echo: dict[int, Load] = {}
    for tables in counts:
        safe[tables] = await house_line(tables, seconds)
        echo[tables] = await echo_line(safe[tables], tables, seconds)
        rows.append(line("bare echo", tables, echo[tables]))
        if not quick or tables == AT:
            fast = await house_line(tables, seconds, durability="fast")
            rows.append(line("fast", tables, fast, echo[tables]))
        rows.append(line("safe", tables, safe[tables], echo[tables]))
        if tables in REPLICATED_AT and (not quick or tables == AT):
            replicated = await line_at(replicated_house, tables, seconds)
            rows.append(line("replicated", tables, replicated, echo[tables]))
    report.table(COLUMNS, rows)
    report.say(
        f"A message to the house had {safe[AT].question} bytes, an answer {safe[AT].answer} (with the "
        "legal moves); the echo's as many. At `replicated` the store's CPU is that of primary and replica, "
        "on a file system in memory."
    )
    await _in_turns(report, safe[AT], echo[AT], seconds)
    _growth(report, safe, echo)


async def _in_turns(report: Report, safe: Load, echo: Load, seconds: float) -> None:
    pairs = [(safe, echo)]
    for _ in range(ROUNDS - 1):
        again = await house_line(AT, seconds)
        pairs.append((again, await echo_line(again, AT, seconds)))
    report.say(f"`safe` and the echo in turns, {AT} tables:")
    report.table(
        ("round", "safe us", "echo us", "ratio"),
        [
            [str(number), one.micros, other.micros, one.micros / other.micros]
            for number, (one, other) in enumerate(pairs, start=1)
        ],
    )
    ratio = statistics.median(one.micros / other.micros for one, other in pairs)
    report.bar(Bar(f"a move at `safe`, {AT} tables, in echoes (median)", ratio, LEAST_RATIO, " x"))


def _growth(report: Report, safe: dict[int, Load], echo: dict[int, Load]) -> None:
    own = echo[256].micros - echo[16].micros
    growth = (safe[256].micros - own) / safe[16].micros
    report.say(
        f"From 16 to 256 tables the echo's own cost grew by {own:.1f} us, the house's from "
        f"{safe[16].micros:.1f} to {safe[256].micros:.1f} us."
    )
    report.bar(Bar("cost at 256 tables to that at 16, less the echo's", growth, LEAST_GROWTH, " x"))


LAYERS: Sequence[tuple[str, tuple[str, ...]]] = (
    ("everything", ()),
    ("without rules", ("no-rules",)),
    ("without commit", ("no-commit",)),
    ("without both", ("no-rules", "no-commit")),
)


async def layers(report: Report, *, quick: bool) -> None:
    """Part 1: the same with layers replaced."""
    seconds = 1.5 if quick else 2.5
    loads = {name: await house_line(AT, seconds, altered=altered) for name, altered in LAYERS}
    whole, echo = loads["everything"], await echo_line(loads["everything"], AT, seconds)
    # the position stays where the rules are off, so the answers differ in size
    rows = [line("bare echo", AT, echo)]
    rows += [line(name, AT, load, echo) for name, load in loads.items()]
    known = KnownDeals(GAME)
    listed = await known.load(AT, seconds, legal=True)
    unlisted = await known.load(AT, seconds, legal=False)
    rows.append(line("known deals, legal moves told", AT, listed, echo))
    rows.append(line("known deals, legal moves not told", AT, unlisted, echo))
    report.table(COLUMNS, rows)
    report.say("So of a move's microseconds:")
    both = loads["without both"]
    report.table(
        ("layer", "us"),
        [
            ["bare echo", echo.micros],
            ["edge, codec and house (without both, less the echo)", both.micros - echo.micros],
            ["rules (everything less without rules)", whole.micros - loads["without rules"].micros],
            [
                "commit (everything less without commit)",
                whole.micros - loads["without commit"].micros,
            ],
            ["of the rules: listing and telling the legal moves", listed.micros - unlisted.micros],
        ],
    )
    report.say(
        f"Answers had {whole.answer} bytes, {both.answer} without both, {listed.answer} with and "
        f"{unlisted.answer} without legal moves on known deals. *Rules*: judging, listing legal moves and "
        "the test for *stuck*; not the view of the position, which is made all the same. The differences "
        "need not add up: without a commit there is no batch to wait for, and moves come one by one."
    )


async def games(report: Report, *, quick: bool) -> None:
    """Part 4."""
    seconds = 1.5 if quick else 2.5
    rows: list[list[Cell]] = []
    for name in GAMES:
        load = await house_line(AT, seconds, game=name)
        echo = await echo_line(load, AT, 1.0 if quick else 1.5)
        rows.append([*line(name, AT, load, echo), echo.micros, load.answer])
    report.table((*COLUMNS, "its echo us", "answer bytes"), rows)
