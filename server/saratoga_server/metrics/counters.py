"""The counters of one node.

They are plain integers, because some are incremented at every move. A scrape turns them into
samples (`exporter.py`). Each node counts its own work; Prometheus adds up the nodes.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Mapping
from itertools import accumulate
from typing import Final

from saratoga_protocol.refusals import REASONS
from saratoga_rules.records.record import VOID_REASONS
from saratoga_server.rate_limits.rates import Action
from saratoga_server.store.health import StoreHealth

BATCH_SIZES: Final = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0, 512.0)
LATENCIES: Final = (
    *(0.0005, 0.001, 0.002, 0.005, 0.01, 0.025),
    *(0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0),
)  # fmt: skip
"""The bounds of latency histograms, in seconds."""


class Histogram:
    """The number of observations at or below each bound, and their sum."""

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
        """Return each bound as text, with the number of observations at or below it."""
        names = [*map(str, self._bounds), "+Inf"]
        return list(zip(names, accumulate(map(float, self._counts)), strict=True))


class Metrics:
    """The metrics of one node. Change them directly: `metrics.moves_acknowledged += 1`.

    Every label value that an alert uses is 0 from the start, because Prometheus does not see the increase
    of a series that begins at 1.
    """

    def __init__(self) -> None:
        self.connections = 0
        """Connections open now."""
        self.commands: Counter[str] = Counter()
        """Commands by type, such as `move`."""
        self.refusals: Counter[str] = Counter(dict.fromkeys(REASONS, 0))
        """Refused commands, by code."""
        self.moves_acknowledged = 0
        self.batches = Histogram(BATCH_SIZES)
        """The number of boards in each commit request."""
        self.acknowledgement = Histogram(LATENCIES)
        """Seconds from a move's frame to its acknowledgement."""
        self.tables: Mapping[str, int] = {}
        """Tables in this node's cache, by phase; replaced as a whole."""
        self.store_errors = 0
        self.store_losses = 0
        """How often the store had lost writes that its level of durability promises to keep."""
        """Store calls without a reply."""
        self.limited: Counter[str] = Counter(dict.fromkeys(Action, 0))
        """Requests refused by a rate limit, by kind (`rates.Action`)."""
        self.tasks = 0
        """Tasks of the event loop when last sampled. Growth without players means a leak."""
        self.loop_lag = Histogram(LATENCIES)
        """Seconds by which the event loop was late, sampled four times a second."""
        self.slow_clients = 0
        """Connections aborted because the client stopped reading."""
        self.races_begun = 0
        """Races started by this node; only one node counts each race."""
        self.races_over = 0
        """Races finished by this node; only one node counts each race."""
        self.races_voided: Counter[str] = Counter(dict.fromkeys(VOID_REASONS, 0))
        """Races and countdowns voided by this node, by reason; only one node counts each race."""
        self.node_events: Counter[str] = Counter()
        """Events received from other nodes and the store, by kind."""
        self.resubscriptions = 0
        """Renewals of the subscription to node events."""
        self.log_lines_dropped = 0
        """Lines of the log that could not be written."""
        self.is_ready = False
        """True if this node accepted players when last sampled."""
        self.is_store_refused = False
        """True if this node refused to use its store when last sampled."""
        self.store: StoreHealth | None = None
        """The health of the store when last sampled; `None` before the first sample."""
