"""The server, or the player's program, with some of its constants or parts replaced before it starts.

    python -m kit.altered_server quick,idle -- --port 0 ...

Tests pass such a start as the module of a server: `running_server(module=QUICK)`.
"""

import asyncio
import runpy
import signal
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import count
from types import MappingProxyType, ModuleType
from typing import Any, Final

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
    f"kit.altered_server {name} --" for name in ("failing-task", "failing-guard", "failing-store")
)

UNKNOWN_GAME: Final = "moonlight"
"""A game that only `NEW_GAME` knows; its facts are those of no other."""
NEW_TITLE: Final = "By the Light of the Moon"
NEW_GAME: Final = "kit.altered_server new-game,quick --"

CALL_MILLIS: Final = 100
REVEAL_MILLIS: Final = 900
LATE_REVEAL_MILLIS: Final = 8_000
COUNTDOWN_MILLIS: Final = 1_000
STOP_WITHIN: Final = 5.0
LOG_QUEUE: Final = 20
IDLE_MILLIS: Final = 8_000


def shorten_countdown(reveal_millis: int = REVEAL_MILLIS) -> None:
    from saratoga_server.domain.tables import countdown

    vars(countdown).update(
        CALL_MILLIS=CALL_MILLIS, REVEAL_MILLIS=reveal_millis, COUNTDOWN_MILLIS=COUNTDOWN_MILLIS
    )


def _free_names() -> None:
    from saratoga_server.handlers import identity

    checked, numbers = vars(identity)["checked_name"], count()

    def like_no_other(name: str) -> tuple[str, str]:
        shown, skeleton = checked(name)
        return shown, f"{skeleton} {next(numbers)}"

    vars(identity).update(checked_name=like_no_other)


def _brief_challenges() -> None:
    from saratoga_server.domain import open_races

    vars(open_races).update(CHALLENGE_MILLIS=8_000, LAST_RUN_MILLIS=0)


def _quick_stop() -> None:
    from saratoga_server import run

    vars(run).update(STOP_WITHIN=STOP_WITHIN, ABORT_WITHIN=3.0)


def _small_log_queue() -> None:
    from saratoga_server import process

    vars(process).update(LOG_LIMIT=LOG_QUEUE)


def _idle() -> None:
    """Shorten the time without activity."""
    from saratoga_rules.records import standing

    vars(standing).update(IDLE_MILLIS=IDLE_MILLIS)
    from saratoga_server.live import scheduler

    vars(scheduler).update(LOOK_EVERY=0.25)


def _idle_player() -> None:
    from saratoga_rules.records import standing

    vars(standing).update(IDLE_MILLIS=IDLE_MILLIS)
    from saratoga_client.local import hosting
    from saratoga_client.session import table_session

    vars(table_session).update(WARNED_AT=(3, 6))  # seconds before the end; the last warning first
    program = (sys.executable, "-m", *IDLE.split())
    vars(hosting).update(running_server=partial(hosting.running_server, program=program))


async def _fail_at_signal(self: object, *given: object) -> None:
    """Run in place of an endless background task; raise an error at SIGUSR1."""
    signalled = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGUSR1, signalled.set)
    await signalled.wait()
    raise RuntimeError("lost the place")


def _replaced(owner: object, name: str, function: object) -> None:
    setattr(owner, name, function)


def _failing_task() -> None:
    from saratoga_server.metrics import Metrics

    _replaced(Metrics, "keep_sampling", _fail_at_signal)


def _failing_guard() -> None:
    from saratoga_server.store.guard import StoreGuard

    _replaced(StoreGuard, "keep", _fail_at_signal)


def _failing_store() -> None:
    from saratoga_server.embedded_store.process import StoreProcess

    _replaced(StoreProcess, "wait", _fail_at_signal)


def _new_game() -> None:
    """Add a game to those that the rules know: Canfield with another name, price, stock and deal."""
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


ALTERATIONS: Final[dict[str, Callable[[], Any]]] = {
    "quick": shorten_countdown,
    "unhurried": partial(shorten_countdown, LATE_REVEAL_MILLIS),
    "any-name": _free_names,
    "brief-challenges": _brief_challenges,
    "quick-stop": _quick_stop,
    "small-log-queue": _small_log_queue,
    "idle": _idle,
    "idle-player": _idle_player,
    "failing-task": _failing_task,
    "failing-guard": _failing_guard,
    "failing-store": _failing_store,
    "new-game": _new_game,
}


def main() -> None:
    names, divider, *options = sys.argv[1:]
    assert divider == "--"
    for name in names.split(","):
        ALTERATIONS[name]()
    program = "saratoga_client" if names == "idle-player" else "saratoga_server"
    sys.argv = [program.replace("saratoga_client", "saratoga").replace("_", "-"), *options]
    runpy.run_module(program, run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
