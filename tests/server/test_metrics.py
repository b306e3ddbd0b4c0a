"""The metrics of a node, as Prometheus scrapes them."""

from collections.abc import Iterator
from urllib.request import urlopen

import pytest

from saratoga_server.metrics import Metrics, MetricsServer, serve_metrics


@pytest.fixture
def server() -> Iterator[tuple[Metrics, MetricsServer]]:
    metrics = Metrics("east-1")
    server = serve_metrics(metrics, "127.0.0.1", 0)
    yield metrics, server
    server.close()


def test_every_scrape_shows_the_counts_of_that_moment(
    server: tuple[Metrics, MetricsServer],
) -> None:
    metrics, served = server
    for count in (0, 1, 2):
        with urlopen(f"http://127.0.0.1:{served.port}/metrics", timeout=10) as answer:
            seen = answer.read().decode().splitlines()
        for line in (
            f"saratoga_acknowledgement_seconds_count {count}.0",
            f'saratoga_refusals_total{{code="server_fault"}} {count}.0',
            'saratoga_limited_total{what="connections"} 0.0',
            'saratoga_races_voided_total{reason="closed"} 0.0',
            'saratoga_node{node="east-1"} 1.0',
        ):
            assert line in seen
        assert any(line.startswith("process_resident_memory_bytes") for line in seen)
        assert not any("_created" in line for line in seen)
        metrics.acknowledgement.observe(0.003)
        metrics.refusals.labels("server_fault").inc()


def test_a_port_that_is_taken_is_an_error(server: tuple[Metrics, MetricsServer]) -> None:
    _, served = server
    with pytest.raises(OSError, match="in use"):
        serve_metrics(Metrics(), "127.0.0.1", served.port)
