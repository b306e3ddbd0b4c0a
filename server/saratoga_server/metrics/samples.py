"""The house's counts as samples: what Prometheus reads, and the server that it reads them from."""

import socket
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Final
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer

from prometheus_client import CollectorRegistry, ProcessCollector, make_wsgi_app
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)
from prometheus_client.exposition import ThreadingWSGIServer
from prometheus_client.registry import Collector

from saratoga_server.metrics.counters import Histogram, Metrics
from saratoga_server.ports import StoreHealth


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
        yield _by("nudges", "Nudges heard.", "kind", counts.node_events)
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


def _histogram(name: str, words: str, tally: Histogram) -> Metric:
    family = HistogramMetricFamily(f"saratoga_{name}", words)
    family.add_metric([], tally.buckets(), tally.total)
    return family


def registry_of(metrics: Metrics, node: str = "") -> CollectorRegistry:
    """What Prometheus reads: the house's counts, and the process's memory, time and files."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_House(metrics, node))
    ProcessCollector(registry=registry)
    return registry


class _Silent(WSGIRequestHandler):
    """Writes no line for every scrape."""

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its name there
        """Write nothing."""


def server_on(door: socket.socket, metrics: Metrics, node: str) -> WSGIServer:
    """A server of the page on a socket that is listened on already, each scrape in a thread."""
    host, port = door.getsockname()[:2]
    server = ThreadingWSGIServer((host, port), _Silent, bind_and_activate=False)
    server.socket.close()
    server.socket = door
    server.server_name, server.server_port = host, port
    server.setup_environ()
    server.set_app(make_wsgi_app(registry_of(metrics, node)))
    return server
