"""Measure moves in a closed loop: their cost by durability level, number of tables, and layer."""

import statistics
from collections.abc import Sequence

from benchmarks.closed_loop import race_load
from benchmarks.contestants import replicated_server
from benchmarks.lines import GAME, columns, echo_line, line, race_line, tell, undisturbed
from benchmarks.measuring import Load, together
from benchmarks.reports import Bar, Cell, Report
from benchmarks.turns import BARE, BYTES, SAFE, server_and_echoes
from saratoga_rules.games import GAMES

SECONDS, QUICK_SECONDS = 1.5, 1.0
TABLES, QUICK_TABLES = (1, 4, 16, 64, 256), (1, 16, 64, 256)
AT = 64
"""The number of tables at which layers and games are compared."""
GROWN = (16, 256)
"""The numbers of tables between which the growth of the cost is measured."""
ROUNDS_IN_TURNS, QUICK_ROUNDS_IN_TURNS = 6, 2
"""Rounds in which all programs are measured in turn."""
ROUNDS, FEWER_ROUNDS = 2, 1
"""The number of measurements whose mean a row shows."""

MOST_RATIO, MOST_ALONE, MOST_TRANSPORT, MOST_GROWTH, MOST_BARE = 1.5, 2.6, 0.5, 1.3, 0.65

FIRST_GAME = next(iter(GAMES))
"""The game that newcomers are offered first."""
MOST_OF_FIRST_GAME = 1.3


async def moves(report: Report, *, quick: bool) -> None:
    """Measure the cost of a move and of a bare echo, at 1 to 256 tables."""
    seconds = QUICK_SECONDS if quick else SECONDS
    rows: list[list[Cell]] = []
    safe: dict[int, Load] = {}
    echo: dict[int, Load] = {}
    for tables in QUICK_TABLES if quick else TABLES:
        safe[tables] = await race_line(tables, seconds)
        echo[tables] = await echo_line(safe[tables], tables, seconds)
        others = {}
        if tables == AT and not quick:
            others["fast"] = await race_line(tables, seconds, durability="fast")
            others["replicated"] = await _replicated(tables, seconds)
        rows.append(line("bare echo", tables, echo[tables], echo[tables]))
        for name, load in {"safe": safe[tables], **others}.items():
            rows.append(line(name, tables, load, echo[tables]))
    report.table(columns("echo"), rows)
    report.say(
        f"A message to the server had {safe[AT].question} bytes, an answer {safe[AT].answer} (with the "
        "legal moves); the echo's as many. At `replicated` the store's CPU is that of primary and replica, "
        "of which the replica's files are in memory."
    )
    alone = Bar(
        "a move at `safe`, 1 table, in bare echoes",
        safe[1].micros / echo[1].micros,
        MOST_ALONE,
        " x",
    )
    alone.is_quiet = safe[1].is_undisturbed and echo[1].is_undisturbed
    report.bar(alone)
    await _in_turns(report, QUICK_ROUNDS_IN_TURNS if quick else ROUNDS_IN_TURNS)
    await _growth(report, safe, echo, FEWER_ROUNDS if quick else ROUNDS, seconds)
    await _first_game(report, FEWER_ROUNDS if quick else ROUNDS, seconds)


@undisturbed
async def _replicated(tables: int, seconds: float) -> Load:
    with replicated_server() as running:
        load = await race_load(running, tables, GAME, seconds)
    tell("replicated", tables, load)
    return load


async def _in_turns(report: Report, rounds: int) -> None:
    seen = await server_and_echoes(AT, rounds, GAME)
    seen.tell(report, BARE)
    for name, what, most in (
        (BYTES, "our transport, echoing", MOST_TRANSPORT),
        (SAFE, "a move at `safe`", MOST_RATIO),
    ):
        bar = Bar(f"{what}, {AT} tables, in bare echoes", seen.ratio(name, BARE), most, " x")
        bar.is_quiet = seen.is_quiet
        report.bar(bar)


async def _growth(
    report: Report, safe: dict[int, Load], echo: dict[int, Load], rounds: int, seconds: float
) -> None:
    ours = {tables: [safe[tables]] for tables in GROWN}
    theirs = {tables: [echo[tables]] for tables in GROWN}
    for _ in range(rounds - 1):
        for tables in GROWN:
            again = await race_line(tables, seconds)
            ours[tables].append(again)
            theirs[tables].append(await echo_line(again, tables, seconds))
    (few, many), (its_few, its_many) = (
        [statistics.mean(load.micros for load in each[tables]) for tables in GROWN]
        for each in (ours, theirs)
    )
    loads = [load for each in (ours, theirs) for some in each.values() for load in some]
    report.say(
        f"From {GROWN[0]} to {GROWN[1]} tables (means of {rounds}) the server's cost went from {few:.1f} to "
        f"{many:.1f} us, the echo's own from {its_few:.1f} to {its_many:.1f}; all of it counted, the server's "
        f"is {many / few:.2f} x."
    )
    growth = (many - (its_many - its_few)) / few
    what = "cost at 256 tables to that at 16, less the echo's growth"
    is_quiet = all(load.is_undisturbed for load in loads)
    report.bar(Bar(what, growth, MOST_GROWTH, " x", is_quiet=is_quiet))


async def _first_game(report: Report, rounds: int, seconds: float) -> None:
    loads: dict[str, list[Load]] = {GAME: [], FIRST_GAME: []}
    for _ in range(rounds):
        for game, some in loads.items():
            some.append(await race_line(AT, seconds, game=game))
    theirs, its = (statistics.mean(load.micros for load in some) for some in loads.values())
    is_quiet = all(load.is_undisturbed for some in loads.values() for load in some)
    what = f"a move of {FIRST_GAME} at `safe`, {AT} tables, in moves of {GAME}"
    report.bar(Bar(what, its / theirs, MOST_OF_FIRST_GAME, " x", is_quiet=is_quiet))


LAYERS: Sequence[tuple[str, tuple[str, ...]]] = (
    ("everything", ()),
    ("without rules", ("no-rules",)),
    ("without commit", ("no-commit",)),
    ("without both", ("no-rules", "no-commit")),
)


async def layers(report: Report, *, quick: bool) -> None:
    """Measure a move while parts of the server are replaced."""
    seconds = QUICK_SECONDS if quick else SECONDS
    seen: dict[str, list[Load]] = {name: [] for name, _ in LAYERS}
    for _ in range(ROUNDS):
        # in turns, so that the machine's state is nearly the same for all
        for name, altered in LAYERS:
            seen[name].append(await race_line(AT, seconds, altered=altered))
    loads = {name: together(some) for name, some in seen.items()}
    whole = loads["everything"]
    echo = together([await echo_line(whole, AT, seconds) for _ in range(ROUNDS)])
    # without the rules the position never changes, so the sizes of the responses differ
    rows = [line("bare echo", AT, echo, echo)]
    rows += [line(name, AT, load, echo) for name, load in loads.items()]
    report.table(columns("echo"), rows)
    bare = loads["without rules"]
    bar = Bar(
        f"a move without rules, {AT} tables, in bare echoes",
        bare.micros / echo.micros,
        MOST_BARE,
        " x",
    )
    bar.is_quiet = bare.is_undisturbed and echo.is_undisturbed
    report.bar(bar)
    report.say("So of a move's microseconds:")
    both = loads["without both"]
    report.table(
        ("layer", "us"),
        [
            ["bare echo", echo.micros],
            ["transport, codec, handlers (without both, less the echo)", both.micros - echo.micros],
            ["rules (everything less without rules)", whole.micros - loads["without rules"].micros],
            [
                "commit (everything less without commit)",
                whole.micros - loads["without commit"].micros,
            ],
        ],
    )
    report.say(
        f"Answers had {whole.answer} bytes, {both.answer} without both. *Rules*: judging, listing legal "
        "moves and the test for *stuck*; not the view of the position, which is made all the same. The "
        "differences need not add up: without a commit there is no batch to wait for, and moves come one "
        "by one."
    )


async def games(report: Report, *, quick: bool) -> None:
    """Measure a move of every game, and beside it an echo with messages of the same sizes."""
    seconds = QUICK_SECONDS if quick else SECONDS
    rows: list[list[Cell]] = []
    for name in GAMES:
        load = await race_line(AT, seconds, game=name)
        echo = await echo_line(load, AT, QUICK_SECONDS)
        rows.append([*line(name, AT, load, echo), echo.micros, load.answer])
    report.table((*columns("echo"), "its echo us", "answer bytes"), rows)
