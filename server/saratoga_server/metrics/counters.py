"""What the house counts.

Counting is adding to plain integers, since some of it happens at every move; only a scrape turns
them into samples (`samples.py`). One node counts its own work; sums over nodes are the reader's.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Mapping
from itertools import accumulate
from typing import Final

from saratoga_protocol.refusals import REASONS
from saratoga_server.ports import StoreHealth
from saratoga_server.rate_limits.rates import Action

BATCH_SIZES: Final = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0, 512.0)
LATENCIES: Final = (
    *(0.0005, 0.001, 0.002, 0.005, 0.01, 0.025),
    *(0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0),
)  # fmt: skip
"""Seconds."""


class Histogram:
    """A histogram: how many observations fell at or below each bound, and their sum."""

    __slots__ = ("_bounds", "_counts", "total")

    def __init__(self, bounds: tuple[float, ...]) -> None:
        self._bounds = bounds
        self._counts = [0] * (len(bounds) + 1)
        self.total = 0.0

    def observe(self, value: float) -> None:
        self._counts[bisect_left(self._bounds, value)] += 1
        self.total += value

    @property
    def count(self) -> int:
        return sum(self._counts)

    def buckets(self) -> list[tuple[str, float]]:
        """Bounds as text, each with how many observations were not above it."""
        names = [*map(str, self._bounds), "+Inf"]
        return list(zip(names, accumulate(map(float, self._counts)), strict=True))


class Metrics:
    """The counts of one node. Add to them directly: `metrics.moves_acknowledged += 1`.

    What an alarm looks at is there from the start, as 0: Prometheus takes no notice of the first of
    a kind that was not there before.
    """

    __slots__ = (
        "acknowledgement",
        "batches",
        "commands",
        "connections",
        "is_ready",
        "limited",
        "loop_lag",
        "moves_acknowledged",
        "node_events",
        "races_begun",
        "races_over",
        "refusals",
        "resubscriptions",
        "slow_clients",
        "store_errors",
        "stores",
        "tables",
        "tasks",
        "unread_results",
    )

    def __init__(self) -> None:
        self.connections = 0
        """Open now."""
        self.commands: Counter[str] = Counter()
        """By type, such as `move`."""
        self.refusals: Counter[str] = Counter(dict.fromkeys(REASONS, 0))
        """By code."""
        self.moves_acknowledged = 0
        self.batches = Histogram(BATCH_SIZES)
        """Boards in one commit."""
        self.acknowledgement = Histogram(LATENCIES)
        """Seconds from a move's frame to its answer."""
        self.tables: Mapping[str, int] = {}
        """How many this node knows, by phase; replace it whole."""
        self.store_errors = 0
        """Calls that the store did not answer."""
        self.limited: Counter[str] = Counter(dict.fromkeys(Action, 0))
        """What was refused because it was too much, by what it was (`rates.Action`)."""
        self.tasks = 0
        """Of the process's event loop, as last seen: what grows without players is a leak."""
        self.loop_lag = Histogram(LATENCIES)
        """Seconds by which the event loop was late, looked at four times a second."""
        self.slow_clients = 0
        """Connections aborted because their client stopped reading."""
        self.races_begun = 0
        """By this node; each race at one node only."""
        self.races_over = 0
        """Counted up by this node; each race at one node only."""
        self.node_events: Counter[str] = Counter()
        """Heard from nodes and the store, by kind."""
        self.resubscriptions = 0
        """How often the news from other nodes had to be subscribed to anew."""
        self.unread_results = 0
        """Results of races, put by because this node could not read them."""
        self.is_ready = False
        """Whether players should be sent here, as last seen."""
        self.stores: tuple[StoreHealth, ...] = ()
        """Every primary, as last seen; replace it whole."""
