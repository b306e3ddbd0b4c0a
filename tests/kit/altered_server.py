"""The server, or the player's program, with some constants or parts replaced before it starts.

    python -m kit.altered_server quick,idle -- --port 0 ...

Tests pass such a start as the module of a server: `running_server(module=QUICK)`.
"""

import asyncio
import runpy
import signal
import sys
from dataclasses import replace
from functools import partial
from importlib import import_module
from itertools import count
from types import MappingProxyType, ModuleType
from typing import Final

QUICK: Final = "kit.altered_server quick --"
"""A countdown of one second, in place of five."""
UNHURRIED: Final = "kit.altered_server unhurried --"
"""A countdown of one second in which a racer may reveal late.

A race starts as soon as every nonce is open, so the longer time costs nothing. Without it, a
browser that was held up for a second would void the countdown.
"""
SHARED: Final = "kit.altered_server unhurried,any-name --"
"""The same for many tests: a name is never taken."""
QUICK_STOP: Final = "kit.altered_server quick-stop --"
SMALL_LOG_QUEUE: Final = "kit.altered_server quick,small-log-queue --"
BRIEF_CHALLENGES: Final = "kit.altered_server unhurried,brief-challenges --"
"""A challenge can be entered for 8 seconds, and closes then as soon as its runs have ended."""
IDLE: Final = "kit.altered_server quick,idle --"
"""Boards end as idle after eight seconds."""
IDLE_PLAYER: Final = "kit.altered_server idle-player --"
"""`saratoga`, whose `host` starts a server like `IDLE`."""
FAILING_AT_SIGUSR1: Final = tuple(
    f"kit.altered_server failing-{name} --" for name in ("task", "guard", "store")
)

UNKNOWN_GAME: Final = "moonlight"
"""A game that only `NEW_GAME` knows; its facts are those of no other."""
NEW_TITLE: Final = "By the Light of the Moon"
NEW_GAME: Final = "kit.altered_server new-game,quick --"

STOP_WITHIN: Final = 5.0
LOG_QUEUE: Final = 20

COUNTDOWN: Final = "saratoga_server.domain.tables.countdown"
OTHER_VALUES: Final[dict[str, dict[str, dict[str, object]]]] = {
    "quick": {COUNTDOWN: {"CALL_MILLIS": 100, "REVEAL_MILLIS": 900, "COUNTDOWN_MILLIS": 1_000}},
    "unhurried": {
        COUNTDOWN: {"CALL_MILLIS": 100, "REVEAL_MILLIS": 8_000, "COUNTDOWN_MILLIS": 1_000}
    },
    "brief-challenges": {
        "saratoga_server.domain.open_races": {"CHALLENGE_MILLIS": 8_000, "LAST_RUN_MILLIS": 0}
    },
    "quick-stop": {"saratoga_server.run": {"STOP_WITHIN": STOP_WITHIN, "ABORT_WITHIN": 3.0}},
    "small-log-queue": {"saratoga_server.process": {"LOG_LIMIT": LOG_QUEUE}},
    "idle": {
        "saratoga_rules.records.standing": {"IDLE_MILLIS": 8_000},
        "saratoga_server.live.scheduler": {"LOOK_EVERY": 0.25},
    },
    "idle-player": {
        "saratoga_rules.records.standing": {"IDLE_MILLIS": 8_000},
        # seconds before the end; the last warning first
        "saratoga_client.session.table_session": {"WARNED_AT": (3, 6)},
    },
}
"""By alteration: what constants of which modules are, before any other module reads them."""

FAILING: Final = {
    "failing-task": ("saratoga_server.metrics", "Metrics", "keep_sampling"),
    "failing-guard": ("saratoga_server.store.guard", "StoreGuard", "keep"),
    "failing-store": ("saratoga_server.embedded_store.process", "StoreProcess", "wait"),
}
"""By alteration: the endless background task in place of which `_fail_at_signal` runs."""


async def _fail_at_signal(self: object, *given: object) -> None:
    """Raise an error at SIGUSR1."""
    signalled = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGUSR1, signalled.set)
    await signalled.wait()
    raise RuntimeError("lost the place")


def _free_names() -> None:
    from saratoga_server.handlers import identity

    checked, numbers = vars(identity)["checked_name"], count()

    def like_no_other(name: str) -> tuple[str, str]:
        shown, skeleton = checked(name)
        return shown, f"{skeleton} {next(numbers)}"

    vars(identity).update(checked_name=like_no_other)


def _host_idle_servers() -> None:
    from saratoga_client.local import hosting

    program = (sys.executable, "-m", *IDLE.split())
    vars(hosting).update(running_server=partial(hosting.running_server, program=program))


def _new_game() -> None:
    """Add a game to the rules: Canfield with another name, price, stock and deal."""
    import saratoga_rules.games as games
    from saratoga_rules.vocabulary.deal_steps import BaseCard, ToColumns, ToReserve
    from saratoga_rules.vocabulary.stocks import turned

    added = replace(
        games.GAMES["canfield"],
        name=UNKNOWN_GAME,
        title=NEW_TITLE,
        pack_price=48,
        deal=(BaseCard(), ToColumns(2), ToReserve(9)),
        stock=turned(2, passes=4),
    )
    words = ModuleType(f"{games.__name__}.{UNKNOWN_GAME}", "A game for the moon.")
    sys.modules[words.__name__] = words
    games.GAMES = MappingProxyType({**games.GAMES, UNKNOWN_GAME: added})  # type: ignore[misc]
    games.RULES = MappingProxyType(  # type: ignore[misc]
        {**games.RULES, games.RULES_VERSION: games.GAMES}
    )


def alter(name: str) -> None:
    """Make one alteration."""
    for module, values in OTHER_VALUES.get(name, {}).items():
        vars(import_module(module)).update(values)
    if name in FAILING:
        module, owner, method = FAILING[name]
        setattr(vars(import_module(module))[owner], method, _fail_at_signal)
    others = {"any-name": _free_names, "idle-player": _host_idle_servers, "new-game": _new_game}
    if name in others:
        others[name]()


def main() -> None:
    names, divider, *options = sys.argv[1:]
    assert divider == "--"
    for name in names.split(","):
        alter(name)
    program = "saratoga_client" if names == "idle-player" else "saratoga_server"
    sys.argv = [program.replace("saratoga_client", "saratoga").replace("_", "-"), *options]
    runpy.run_module(program, run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
