"""The counters of a node: sampled, and shown in the format of Prometheus."""

from collections.abc import Iterator
from urllib.request import urlopen

import pytest
from prometheus_client import generate_latest
from prometheus_client.parser import text_string_to_metric_families

from saratoga_server.metrics.counters import Histogram, Metrics
from saratoga_server.metrics.exporter import MetricsServer, registry_of, serve_metrics
from saratoga_server.metrics.sampler import Sampler
from saratoga_server.store.health import StoreHealth

# The counters of a node


def test_an_observation_at_a_bound_counts_in_its_bucket() -> None:
    histogram = Histogram((1.0, 2.0))
    for value in (0.5, 1.0, 1.5, 2.0, 99.0):
        histogram.observe(value)
    assert histogram.buckets() == [("1.0", 2.0), ("2.0", 4.0), ("+Inf", 5.0)]
    assert (histogram.count, histogram.total) == (5, 104.0)


# Samples of a node's readiness, its store's health and its tasks


class Node:
    """A node that is ready unless `reason` is set."""

    reason: str | None = None

    async def why_not_ready(self) -> str | None:
        return self.reason


def not_refused() -> None:
    return None


UP = StoreHealth(primary="a:1", is_up=True, memory=5)


async def healthy() -> StoreHealth:
    return UP


async def test_a_sample_has_readiness_and_store_health() -> None:
    metrics = Metrics()
    await Sampler(Node().why_not_ready, healthy, metrics, not_refused).sample()
    assert (metrics.is_ready, metrics.store) == (True, UP)


async def test_a_refused_store_is_sampled_until_it_is_accepted_again() -> None:
    metrics, reasons = Metrics(), [None, "The store loses moves.", None]
    sampler = Sampler(Node().why_not_ready, healthy, metrics, reasons.pop)
    seen = []
    for _ in range(3):
        await sampler.sample()
        seen.append(metrics.is_store_refused)
    assert seen == [False, True, False]


# The counters of a node in the format of Prometheus


def samples(metrics: Metrics) -> dict[str, float]:
    """Return every sample of a scrape, by name and labels."""
    return read(generate_latest(registry_of(metrics, "east-1")).decode())


def read(text: str) -> dict[str, float]:
    return {
        sample.name + "".join(f"[{value}]" for value in sample.labels.values()): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def test_every_count_starts_at_zero() -> None:
    seen = samples(Metrics())
    assert seen["saratoga_connections"] == 0
    assert seen["saratoga_moves_acknowledged_total"] == 0
    assert seen["saratoga_commit_boards_count"] == 0
    assert seen["saratoga_node[east-1]"] == 1
    assert seen["saratoga_refusals_total[server_fault]"] == 0
    assert seen["saratoga_limited_total[connections]"] == 0


def test_a_scrape_shows_what_was_counted() -> None:
    metrics = Metrics()
    metrics.connections = 3
    metrics.commands["move"] += 2
    metrics.commands["hello"] += 1
    metrics.refusals["illegal_move"] += 1
    metrics.moves_acknowledged += 2
    metrics.tables = {"running": 1, "gathering": 4}
    metrics.store_errors += 5
    metrics.slow_clients += 6
    metrics.log_lines_dropped += 8
    metrics.limited["codes"] += 7
    seen = samples(metrics)
    assert seen["saratoga_connections"] == 3
    assert seen["saratoga_commands_total[move]"] == 2
    assert seen["saratoga_commands_total[hello]"] == 1
    assert seen["saratoga_refusals_total[illegal_move]"] == 1
    assert seen["saratoga_moves_acknowledged_total"] == 2
    assert seen["saratoga_tables[running]"] == 1
    assert seen["saratoga_tables[gathering]"] == 4
    assert seen["saratoga_store_errors_total"] == 5
    assert seen["saratoga_slow_clients_total"] == 6
    assert seen["saratoga_log_lines_dropped_total"] == 8
    assert seen["saratoga_limited_total[codes]"] == 7


def test_a_scrape_shows_races_node_events_and_readiness() -> None:
    metrics = Metrics()
    assert samples(metrics)["saratoga_ready"] == 0
    metrics.races_begun, metrics.races_over = 2, 1
    metrics.resubscriptions, metrics.is_ready = 3, True
    metrics.node_events["touched"] += 5
    assert samples(metrics)["saratoga_races_voided_total[closed]"] == 0
    metrics.races_voided["closed"] += 6
    seen = samples(metrics)
    assert (seen["saratoga_races_begun_total"], seen["saratoga_races_over_total"]) == (2, 1)
    assert (seen["saratoga_resubscriptions_total"], seen["saratoga_ready"]) == (3, 1)
    assert seen["saratoga_races_voided_total[closed]"] == 6
    assert seen["saratoga_node_events_total[touched]"] == 5


def test_a_scrape_shows_the_health_of_the_store() -> None:
    metrics = Metrics()
    metrics.store = StoreHealth(
        primary="a:1",
        is_up=True,
        memory=5,
        memory_limit=9,
        replicas=1,
        is_appending=True,
        file_size=7,
    )
    seen = {name: value for name, value in samples(metrics).items() if "_store_" in name}
    assert seen == {
        "saratoga_store_errors_total": 0,
        "saratoga_store_losses_total": 0,
        "saratoga_store_refused": 0,
        "saratoga_store_up[a:1]": 1,
        "saratoga_store_memory_bytes[a:1]": 5,
        "saratoga_store_memory_limit_bytes[a:1]": 9,
        "saratoga_store_replicas[a:1]": 1,
        "saratoga_store_appending[a:1]": 1,
        "saratoga_store_file_bytes[a:1]": 7,
    }
    metrics.store = StoreHealth(primary="a:1", is_up=False)
    assert samples(metrics)["saratoga_store_up[a:1]"] == 0
    assert "saratoga_store_replicas[a:1]" not in samples(metrics)


def test_batches_and_latencies_are_histograms() -> None:
    metrics = Metrics()
    metrics.batches.observe(64)
    metrics.acknowledgement.observe(0.003)
    metrics.loop_lag.observe(0.2)
    seen = samples(metrics)
    assert seen["saratoga_commit_boards_bucket[32.0]"] == 0
    assert seen["saratoga_commit_boards_bucket[64.0]"] == 1
    assert seen["saratoga_commit_boards_sum"] == 64
    assert seen["saratoga_acknowledgement_seconds_bucket[0.005]"] == 1
    assert seen["saratoga_acknowledgement_seconds_count"] == 1
    assert seen["saratoga_loop_lag_seconds_bucket[0.1]"] == 0
    assert seen["saratoga_loop_lag_seconds_bucket[0.25]"] == 1


@pytest.fixture
def server() -> Iterator[tuple[Metrics, MetricsServer]]:
    metrics = Metrics()
    server = serve_metrics(metrics, "east-1", "127.0.0.1", 0)
    yield metrics, server
    server.close()


def scraped(port: int) -> dict[str, float]:
    with urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10) as answer:
        return read(answer.read().decode())


def test_every_scrape_shows_the_counts_of_that_moment(
    server: tuple[Metrics, MetricsServer],
) -> None:
    metrics, served = server
    for count in (7, 8):
        metrics.moves_acknowledged = count
        seen = scraped(served.port)
        assert seen["saratoga_moves_acknowledged_total"] == count
        assert seen["saratoga_node[east-1]"] == 1
        assert seen["process_resident_memory_bytes"] > 0


def test_a_port_that_is_taken_is_an_error(server: tuple[Metrics, MetricsServer]) -> None:
    _, served = server
    with pytest.raises(OSError, match="in use"):
        serve_metrics(Metrics(), "east-2", "127.0.0.1", served.port)
