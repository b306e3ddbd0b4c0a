"""Settings for every test: how hard Hypothesis looks, and that Ctrl-C is heard.

`SARATOGA_HYPOTHESIS_PROFILE` chooses: `dev` (the default) looks at 50 examples a property by chance,
`ci` at 200, the same ones every time, and `long` at 2000.
"""

import os
import signal

from hypothesis import HealthCheck, settings

from saratoga_rules.game import Game

# A shell without job control starts what it runs in the background deaf to Ctrl-C, and every program
# that the tests start would inherit that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Walks through whole games are slow to draw: that is no fault of the test.
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

# `kit.stores` first: whoever imports a plugin before pytest does takes its asserts' explanations away.
pytest_plugins = [
    "kit.stores",
    "kit.completeness",
    "kit.programs",
    "kit.server_process",
    "kit.in_process_server",
    "kit.listening_server",
    "kit.figures",
    "kit.deployed",
]


def pytest_make_parametrize_id(val: object) -> str | None:
    """A game goes by its name: its whole value is long, and its sets are told in any order."""
    return val.name if isinstance(val, Game) else None
