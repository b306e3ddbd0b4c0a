"""The metrics of one node's own work, as Prometheus counts them, which adds up the nodes.

Every label value that an alert uses is 0 from the start, because Prometheus does not see the
increase of a series that begins at 1.
"""

import asyncio
from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    ProcessCollector,
    disable_created_metrics,
)

from saratoga_protocol.refusals import REASONS
from saratoga_rules.records.record import VOID_REASONS
from saratoga_server.background_tasks import pause, run_logged
from saratoga_server.domain.tables.state import TablePhase
from saratoga_server.limits import Action

if TYPE_CHECKING:
    from saratoga_server.node import Node

BATCH_SIZES: Final = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512)
LATENCIES: Final = (
    *(0.0005, 0.001, 0.002, 0.005, 0.01, 0.025),
    *(0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0),
)  # fmt: skip
"""The bounds of latency histograms, in seconds."""

SAMPLE_EVERY: Final = 2.0
"""Seconds between two samples of readiness."""

disable_created_metrics()  # type: ignore[no-untyped-call]


class Metrics:
    """The metrics of one node."""

    def __init__(self, node: str = "") -> None:
        self.registry = CollectorRegistry(auto_describe=False)
        ProcessCollector(registry=self.registry)

        def count(name: str, text: str) -> Counter:
            return Counter(f"saratoga_{name}", text, registry=self.registry)

        def count_by(name: str, text: str, label: str, values: Iterable[str] = ()) -> Counter:
            counter = Counter(f"saratoga_{name}", text, [label], registry=self.registry)
            for value in values:
                counter.labels(value)
            return counter

        def gauge(name: str, text: str, *labels: str) -> Gauge:
            return Gauge(f"saratoga_{name}", text, labels, registry=self.registry)

        def histogram(name: str, text: str, bounds: tuple[float, ...]) -> Histogram:
            return Histogram(f"saratoga_{name}", text, buckets=bounds, registry=self.registry)

        gauge("node", "Always 1; the label names the node.", "node").labels(node).set(1)
        self.ready = gauge("ready", "1 if the node accepts players.")
        self.store_refused = gauge(
            "store_refused",
            "1 if the node does not use its store because of its settings, data or clock.",
        )
        self.connections = gauge("connections", "Connections open now.")
        self.tasks = gauge("tasks", "Tasks of the event loop. Growth without players is a leak.")
        self.tables = gauge("tables", "Tables on this node, by phase.", "phase")
        self.commands = count_by("commands", "Commands read.", "type")
        self.refusals = count_by("refusals", "Commands refused.", "code", REASONS)
        self.limited = count_by("limited", "Requests refused by a rate limit.", "what", Action)
        self.acknowledgement = histogram(
            "acknowledgement_seconds",
            "Time from a move's frame to its acknowledgement, for every acknowledged move.",
            LATENCIES,
        )
        self.batches = histogram(
            "commit_boards", "Boards written to the store in one commit.", BATCH_SIZES
        )
        self.store_errors = count("store_errors", "Store calls without a reply.")
        self.store_losses = count(
            "store_losses", "Losses of writes by the store that its durability promises to keep."
        )
        self.loop_lag = histogram("loop_lag_seconds", "Delay of the event loop.", LATENCIES)
        self.slow_clients = count(
            "slow_clients", "Connections aborted: the client stopped reading."
        )
        self.races_begun = count("races_begun", "Races started by this node.")
        self.races_over = count("races_over", "Races finished by this node.")
        self.races_voided = count_by(
            "races_voided", "Races and countdowns voided by this node.", "reason", VOID_REASONS
        )
        self.node_events = count_by(
            "node_events", "Events received from other nodes and the store.", "kind"
        )
        self.resubscriptions = count("resubscriptions", "Subscriptions to node events renewed.")
        self.log_lines_dropped = count(
            "log_lines_dropped", "Lines of the log that could not be written."
        )

    async def keep_sampling(self, node: "Node") -> None:
        """Sample tables and readiness every `SAMPLE_EVERY` seconds; never return."""
        loop = asyncio.get_running_loop()
        self.tasks.set_function(lambda: len(asyncio.all_tasks(loop)))

        async def sample() -> None:
            phases = node.tables.phases()
            for phase in TablePhase:
                self.tables.labels(phase).set(phases[phase])
            self.store_refused.set(node.store.guard.why_refused is not None)
            self.ready.set(await node.why_not_ready() is None)

        while True:
            await run_logged(sample())
            await pause(SAMPLE_EVERY)
