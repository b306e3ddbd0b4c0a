"""Settings for every test: the effort of Hypothesis, and the handling of Ctrl-C.

`SARATOGA_HYPOTHESIS_PROFILE` is `dev` (the default: 25 random examples for each property), `ci`
(50), `planted` (100, and the first failure is not made smaller) or `long` (2000). `.ci/run` names
the day's seed (`SARATOGA_SEED`) and begins Hypothesis with it.
"""

import gc
import os
import signal
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, settings

from saratoga_client.session import record_keeper
from saratoga_rules.game import Game

# A shell without job control ignores SIGINT in background jobs, nohup ignores SIGHUP, and all
# programs that the tests start would inherit that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)

# Several processes load every test module, and hundreds start the program: without bytecode each of
# them would compile it again.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# Collecting the tests makes many objects, of which none is garbage: see `pytest_collection_finish`.
gc.disable()

# Walks through whole games are slow to generate, which is not an error of the test.
_SLOW_IS_FINE = [HealthCheck.too_slow, HealthCheck.data_too_large]

settings.register_profile(
    "dev", max_examples=25, deadline=None, suppress_health_check=_SLOW_IS_FINE
)
settings.register_profile(
    "ci",
    max_examples=50,
    deadline=None,
    database=None,
    print_blob=True,
    suppress_health_check=_SLOW_IS_FINE,
)
settings.register_profile(
    "planted",
    settings.get_profile("ci"),
    max_examples=100,
    phases=(Phase.explicit, Phase.generate),
)
settings.register_profile(
    "long", max_examples=2000, deadline=None, suppress_health_check=_SLOW_IS_FINE
)
settings.load_profile(os.environ.get("SARATOGA_HYPOTHESIS_PROFILE", "dev"))

WAITING_FOLDERS = {"deploy", "end_to_end", "faults", "hostile"}
"""Folders whose tests mostly wait for the processes that they start."""

# `kit.stores` first: a plugin that was imported before pytest registers it has no assertion rewriting.
pytest_plugins = [
    "kit.stores",
    "kit.server_process",
    "kit.in_process_server",
    "kit.deployment",
    "kit.evenings",
    *(["kit.browser_pages"] if find_spec("playwright") else []),
]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Spread the tests that wait for processes evenly, so that they run beside those that compute.

    Tests of one file stay together, because they may share servers.
    """
    files: dict[Path, list[pytest.Item]] = {}
    for item in items:
        files.setdefault(item.path, []).append(item)
    waiting = [path for path in files if not WAITING_FOLDERS.isdisjoint(path.parts)]
    place = {path: number / len(waiting) for number, path in enumerate(waiting)}
    others = [path for path in files if path not in place]
    place |= {path: (number + 0.5) / len(others) for number, path in enumerate(others)}
    items[:] = [item for path in sorted(files, key=place.__getitem__) for item in files[path]]


def pytest_collection_finish() -> None:
    """Turn the garbage collector on, without the modules and tests, which live to the end."""
    gc.freeze()
    gc.enable()


def pytest_make_parametrize_id(val: object) -> str | None:
    """Return the name of a game as its test id, since its value is long and prints its sets in any order."""
    return val.name if isinstance(val, Game) else None


@pytest.fixture
def impatient_checks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let records count as withheld sooner, for tests of servers that withhold them."""
    monkeypatch.setattr(record_keeper, "MISSING_AFTER", 0.2)
    monkeypatch.setattr(record_keeper, "ASK_AGAIN_AFTER", 0.01)
    monkeypatch.setattr(record_keeper, "CHECKS_WITHIN", 1.0)
