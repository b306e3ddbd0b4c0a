"""Settings for every test: the effort of Hypothesis, and the handling of Ctrl-C.

`SARATOGA_HYPOTHESIS_PROFILE` is `dev` (the default: 50 random examples for each property), `ci` (200,
the same ones every time) or `long` (2000).
"""

import os
import signal
import sys

from hypothesis import HealthCheck, settings

from saratoga_rules.game import Game

# A shell without job control ignores SIGINT in background jobs, and all programs that the tests start
# would inherit that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Several processes load every test module, and hundreds start the program: without bytecode each of them
# would compile it again.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# Walks through whole games are slow to generate, which is not an error of the test.
_SLOW_IS_FINE = [HealthCheck.too_slow, HealthCheck.data_too_large]

settings.register_profile(
    "dev", max_examples=50, deadline=None, suppress_health_check=_SLOW_IS_FINE
)
settings.register_profile(
    "ci",
    max_examples=200,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=_SLOW_IS_FINE,
)
settings.register_profile(
    "long", max_examples=2000, deadline=None, suppress_health_check=_SLOW_IS_FINE
)
settings.load_profile(os.environ.get("SARATOGA_HYPOTHESIS_PROFILE", "dev"))

# `kit.stores` first: a plugin that was imported before pytest registers it has no assertion rewriting.
pytest_plugins = [
    "kit.stores",
    "kit.full_pipe",
    "kit.completeness",
    "kit.programs",
    "kit.server_process",
    "kit.in_process_server",
    "kit.listening_server",
    "kit.figures",
    "kit.deployment_fixture",
]


def pytest_make_parametrize_id(val: object) -> str | None:
    """Return the name of a game as its test id, since its value is long and prints its sets in any order."""
    return val.name if isinstance(val, Game) else None
