"""What the house counts, in the form that Prometheus reads.

Counting is adding to plain integers, since some of it happens at every move; only a scrape turns
them into samples. One node counts its own work; sums over nodes are the reader's.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from itertools import accumulate
from threading import Thread
from typing import Final
from wsgiref.simple_server import WSGIServer

from prometheus_client import CollectorRegistry, ProcessCollector, start_http_server
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)
from prometheus_client.registry import Collector

from saratoga_protocol.refusals import REASONS
from saratoga_server.allowance.limits import Act
from saratoga_server.ports import StoreHealth

LOOPBACK: Final = "127.0.0.1"

BATCH_SIZES: Final = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0, 512.0)
LATENCIES: Final = (
    *(0.0005, 0.001, 0.002, 0.005, 0.01, 0.025),
    *(0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0),
)  # fmt: skip
"""Seconds."""


class Tally:
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
        "nudges",
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
        self.batches = Tally(BATCH_SIZES)
        """Boards in one commit."""
        self.acknowledgement = Tally(LATENCIES)
        """Seconds from a move's frame to its answer."""
        self.tables: Mapping[str, int] = {}
        """How many this node knows, by phase; replace it whole."""
        self.store_errors = 0
        """Calls that the store did not answer."""
        self.limited: Counter[str] = Counter(dict.fromkeys(Act, 0))
        """What was refused because it was too much, by what it was (`limits.Act`)."""
        self.tasks = 0
        """Of the process's event loop, as last seen: what grows without players is a leak."""
        self.loop_lag = Tally(LATENCIES)
        """Seconds by which the event loop was late, looked at four times a second."""
        self.slow_clients = 0
        """Connections aborted because their client stopped reading."""
        self.races_begun = 0
        """By this node; each race at one node only."""
        self.races_over = 0
        """Counted up by this node; each race at one node only."""
        self.nudges: Counter[str] = Counter()
        """Heard from nodes and the store, by kind."""
        self.resubscriptions = 0
        """How often the news from other nodes had to be subscribed to anew."""
        self.unread_results = 0
        """Results of races, put by because this node could not read them."""
        self.is_ready = False
        """Whether players should be sent here, as last seen."""
        self.stores: tuple[StoreHealth, ...] = ()
        """Every primary, as last seen; replace it whole."""


class _House(Collector):
    """Turns the counts into samples when they are asked for."""

    def __init__(self, metrics: Metrics, node: str) -> None:
        self._metrics = metrics
        self._node = node

    def collect(self) -> Iterator[Metric]:
        counts = self._metrics
        yield _gauge("connections", "Connections open now.", counts.connections)
        yield _gauge("tasks", "Tasks of the event loop.", counts.tasks)
        yield _by("commands", "Commands read.", "type", counts.commands)
        yield _by("refusals", "Commands refused.", "code", counts.refusals)
        yield _counter("moves_acknowledged", "Moves durable and done.", counts.moves_acknowledged)
        yield _histogram("commit_boards", "Boards in one commit.", counts.batches)
        yield _histogram(
            "acknowledgement_seconds", "From a move to its answer.", counts.acknowledgement
        )
        tables = GaugeMetricFamily(
            "saratoga_tables", "Tables this node knows, by phase.", labels=["phase"]
        )
        for phase, count in sorted(counts.tables.items()):
            tables.add_metric([phase], count)
        yield tables
        yield _counter("store_errors", "Calls without an answer.", counts.store_errors)
        yield _by("limited", "Refused: too much of it.", "what", counts.limited)
        yield _histogram("loop_lag_seconds", "How late the event loop was.", counts.loop_lag)
        yield _counter("slow_clients", "Connections aborted: unread.", counts.slow_clients)
        yield _counter("races_begun", "Races begun by this node.", counts.races_begun)
        yield _counter("races_over", "Races counted up by this node.", counts.races_over)
        yield _by("nudges", "Nudges heard.", "kind", counts.nudges)
        yield _counter("resubscriptions", "News subscribed to anew.", counts.resubscriptions)
        yield _gauge("unread_results", "Results put by: unreadable.", counts.unread_results)
        yield _gauge("ready", "1: players should be sent here.", counts.is_ready)
        yield from _stores(counts.stores)
        node = GaugeMetricFamily("saratoga_node", "Always 1; names the node.", labels=["node"])
        node.add_metric([self._node], 1)
        yield node


_STORE_GAUGES: Final[tuple[tuple[str, str, Callable[[StoreHealth], float]], ...]] = (
    ("up", "1: the primary answers.", lambda store: store.is_up),
    ("memory_bytes", "Memory in use.", lambda store: store.memory),
    ("memory_limit_bytes", "Memory it may use; 0: any.", lambda store: store.memory_limit),
    ("replicas", "Replicas in step.", lambda store: store.replicas),
    ("appending", "1: its last write reached its file.", lambda store: store.is_appending),
    ("file_bytes", "Size of its append-only files.", lambda store: store.file_size),
)


def _stores(stores: tuple[StoreHealth, ...]) -> Iterator[Metric]:
    """Of a primary that does not answer, only that."""
    for name, words, value in _STORE_GAUGES:
        family = GaugeMetricFamily(f"saratoga_store_{name}", words, labels=["primary"])
        for store in stores:
            if store.is_up or name == "up":
                family.add_metric([store.primary], value(store))
        yield family


def _gauge(name: str, words: str, value: float) -> Metric:
    return GaugeMetricFamily(f"saratoga_{name}", words, value=value)


def _counter(name: str, words: str, value: float) -> Metric:
    return CounterMetricFamily(f"saratoga_{name}", words, value=value)


def _by(name: str, words: str, label: str, counts: Counter[str]) -> Metric:
    family = CounterMetricFamily(f"saratoga_{name}", words, labels=[label])
    # the scrape has a thread of its own; sorting begins with a copy, made in one step
    for value, count in sorted(counts.items()):
        family.add_metric([value], count)
    return family


def _histogram(name: str, words: str, tally: Tally) -> Metric:
    family = HistogramMetricFamily(f"saratoga_{name}", words)
    family.add_metric([], tally.buckets(), tally.total)
    return family


def registry_of(metrics: Metrics, node: str = "") -> CollectorRegistry:
    """What Prometheus reads: the house's counts, and the process's memory, time and files."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_House(metrics, node))
    ProcessCollector(registry=registry)
    return registry


class MetricsPage:
    """The page that Prometheus scrapes, in a thread of its own.

    Close it at the end; that blocks for up to half a second.
    """

    __slots__ = ("_server", "_thread")

    def __init__(self, server: WSGIServer, thread: Thread) -> None:
        self._server = server
        self._thread = thread

    @property
    def port(self) -> int:
        return self._server.server_port

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def serve_metrics(metrics: Metrics, port: int, node: str = "", host: str = LOOPBACK) -> MetricsPage:
    """Open the page; port 0 takes a free one. `OSError`: the port is taken."""
    server, thread = start_http_server(port, host, registry_of(metrics, node))
    return MetricsPage(server, thread)
