"""The metrics as Prometheus samples, and the HTTP server that Prometheus scrapes."""

import threading
from collections import Counter
from collections.abc import Callable, Iterator
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

from saratoga_server.metrics.counters import Histogram, Metrics
from saratoga_server.store.health import StoreHealth


class _NodeCollector(Collector):
    """A collector that turns the metrics into samples at each scrape."""

    def __init__(self, metrics: Metrics, node: str) -> None:
        self._metrics = metrics
        self._node = node

    def collect(self) -> Iterator[Metric]:
        counts = self._metrics
        yield _gauge("connections", "Connections open now.", counts.connections)
        yield _gauge("tasks", "Tasks of the event loop.", counts.tasks)
        yield _by("commands", "Commands read.", "type", counts.commands)
        yield _by("refusals", "Commands refused.", "code", counts.refusals)
        yield _counter(
            "moves_acknowledged",
            "Moves written to the store and acknowledged.",
            counts.moves_acknowledged,
        )
        yield _histogram(
            "commit_boards", "Boards written to the store in one commit.", counts.batches
        )
        yield _histogram(
            "acknowledgement_seconds",
            "Time from a move's frame to its acknowledgement.",
            counts.acknowledgement,
        )
        tables = GaugeMetricFamily(
            "saratoga_tables", "Tables on this node, by phase.", labels=["phase"]
        )
        for phase, count in sorted(counts.tables.items()):
            tables.add_metric([phase], count)
        yield tables
        yield _counter("store_errors", "Store calls without a reply.", counts.store_errors)
        yield _counter(
            "store_losses", "Losses of acknowledged writes by the store.", counts.store_losses
        )
        yield _by("limited", "Requests refused by a rate limit.", "what", counts.limited)
        yield _histogram("loop_lag_seconds", "Delay of the event loop.", counts.loop_lag)
        yield _counter(
            "slow_clients", "Connections aborted: the client stopped reading.", counts.slow_clients
        )
        yield _counter("races_begun", "Races started by this node.", counts.races_begun)
        yield _counter("races_over", "Races finished by this node.", counts.races_over)
        yield _by(
            "races_voided",
            "Races and countdowns voided by this node.",
            "reason",
            counts.races_voided,
        )
        yield _by(
            "node_events",
            "Events received from other nodes and the store.",
            "kind",
            counts.node_events,
        )
        yield _counter(
            "resubscriptions", "Subscriptions to node events renewed.", counts.resubscriptions
        )
        yield _counter(
            "log_lines_dropped",
            "Lines of the log that could not be written.",
            counts.log_lines_dropped,
        )
        yield _gauge("ready", "1 if the node accepts players.", counts.is_ready)
        yield _gauge(
            "store_refused",
            "1 if the node does not use its store because of its settings, data or clock.",
            counts.is_store_refused,
        )
        if counts.store is not None:
            yield from _store(counts.store)
        node = GaugeMetricFamily(
            "saratoga_node", "Always 1; the label names the node.", labels=["node"]
        )
        node.add_metric([self._node], 1)
        yield node


_STORE_GAUGES: Final[tuple[tuple[str, str, Callable[[StoreHealth], float]], ...]] = (
    ("up", "1 if the store answers.", lambda store: store.is_up),
    ("memory_bytes", "Memory in use.", lambda store: store.memory),
    ("memory_limit_bytes", "Memory limit; 0 if there is none.", lambda store: store.memory_limit),
    ("replicas", "Replicas in sync.", lambda store: store.replicas),
    (
        "appending",
        "1 if its last write to the append-only file succeeded.",
        lambda store: store.is_appending,
    ),
    ("file_bytes", "Size of the append-only files.", lambda store: store.file_size),
)


def _store(store: StoreHealth) -> Iterator[Metric]:
    """Yield the store's samples; if it does not answer, only `saratoga_store_up`."""
    for name, help_text, value in _STORE_GAUGES:
        family = GaugeMetricFamily(f"saratoga_store_{name}", help_text, labels=["primary"])
        if store.is_up or name == "up":
            family.add_metric([store.primary], value(store))
        yield family


def _gauge(name: str, help_text: str, value: float) -> Metric:
    return GaugeMetricFamily(f"saratoga_{name}", help_text, value=value)


def _counter(name: str, help_text: str, value: float) -> Metric:
    return CounterMetricFamily(f"saratoga_{name}", help_text, value=value)


def _by(name: str, help_text: str, label: str, counts: Counter[str]) -> Metric:
    family = CounterMetricFamily(f"saratoga_{name}", help_text, labels=[label])
    # each scrape runs in its own thread; `sorted` first copies the items in one step
    for value, count in sorted(counts.items()):
        family.add_metric([value], count)
    return family


def _histogram(name: str, help_text: str, histogram: Histogram) -> Metric:
    family = HistogramMetricFamily(f"saratoga_{name}", help_text)
    family.add_metric([], histogram.buckets(), histogram.total)
    return family


def registry_of(metrics: Metrics, node: str = "") -> CollectorRegistry:
    """Return a registry of the node's metrics, and of memory, CPU time and open files."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_NodeCollector(metrics, node))
    ProcessCollector(registry=registry)
    return registry


class MetricsServer:
    """The HTTP server that Prometheus scrapes; it runs in its own thread."""

    def __init__(self, server: WSGIServer, thread: threading.Thread) -> None:
        self._server = server
        self._thread = thread

    @property
    def port(self) -> int:
        return self._server.server_port

    def close(self) -> None:
        """Stop the server; blocks for half a second at most."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def serve_metrics(metrics: Metrics, node: str, host: str, port: int) -> MetricsServer:
    """Start and return the server; port 0 = any free port. Raises `OSError`."""
    return MetricsServer(*start_http_server(port, addr=host, registry=registry_of(metrics, node)))
