"""What the house counts, as Prometheus reads it."""

import socket

from prometheus_client import generate_latest
from prometheus_client.parser import text_string_to_metric_families

from saratoga_server.metrics.counters import Metrics
from saratoga_server.metrics.samples import registry_of, server_on
from saratoga_server.ports import StoreHealth


def samples(metrics: Metrics) -> dict[str, float]:
    """Every sample of the house by name and labels, as a scrape shows it."""
    return read(generate_latest(registry_of(metrics, "east-1")).decode())


def read(text: str) -> dict[str, float]:
    return {
        sample.name + "".join(f"[{value}]" for value in sample.labels.values()): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def test_everything_starts_at_nothing() -> None:
    seen = samples(Metrics())
    assert seen["saratoga_connections"] == 0
    assert seen["saratoga_moves_acknowledged_total"] == 0
    assert seen["saratoga_commit_boards_count"] == 0
    assert seen["saratoga_node[east-1]"] == 1
    assert seen["saratoga_refusals_total[house_fault]"] == 0
    assert seen["saratoga_limited_total[connections]"] == 0


def test_what_was_counted_is_what_is_scraped() -> None:
    metrics = Metrics()
    metrics.connections = 3
    metrics.commands["move"] += 2
    metrics.commands["hello"] += 1
    metrics.refusals["illegal_move"] += 1
    metrics.moves_acknowledged += 2
    metrics.tables = {"running": 1, "gathering": 4}
    metrics.store_errors += 5
    metrics.slow_clients += 6
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
    assert seen["saratoga_limited_total[codes]"] == 7


def test_a_node_tells_of_races_news_and_readiness() -> None:
    metrics = Metrics()
    assert samples(metrics)["saratoga_ready"] == 0
    metrics.races_begun, metrics.races_over = 2, 1
    metrics.resubscriptions, metrics.is_ready, metrics.unread_results = 3, True, 4
    seen = samples(metrics)
    assert (seen["saratoga_races_begun_total"], seen["saratoga_races_over_total"]) == (2, 1)
    assert (seen["saratoga_resubscriptions_total"], seen["saratoga_ready"]) == (3, 1)
    assert seen["saratoga_unread_results"] == 4


def test_every_primary_of_the_store_has_its_figures() -> None:
    metrics = Metrics()
    metrics.stores = (
        StoreHealth(
            primary="a:1",
            is_up=True,
            memory=5,
            memory_limit=9,
            replicas=1,
            is_appending=True,
            file_size=7,
        ),
        StoreHealth(primary="b:1", is_up=False),
    )
    seen = {name: value for name, value in samples(metrics).items() if "_store_" in name}
    assert seen == {
        "saratoga_store_errors_total": 0,
        "saratoga_store_up[a:1]": 1,
        "saratoga_store_up[b:1]": 0,
        "saratoga_store_memory_bytes[a:1]": 5,
        "saratoga_store_memory_limit_bytes[a:1]": 9,
        "saratoga_store_replicas[a:1]": 1,
        "saratoga_store_appending[a:1]": 1,
        "saratoga_store_file_bytes[a:1]": 7,
    }


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


def test_a_server_stands_on_the_socket_that_it_is_given() -> None:
    with socket.create_server(("127.0.0.1", 0)) as door:
        server = server_on(door, Metrics(), "east-1")
        assert server.socket is door
        assert server.server_port == door.getsockname()[1]
