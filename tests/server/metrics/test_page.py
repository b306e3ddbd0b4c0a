"""The page over HTTP: there at once, and gone when it is closed."""

import subprocess
import sys
from collections.abc import Iterator
from urllib.request import urlopen

import pytest

from saratoga_server.metrics.counters import Metrics
from saratoga_server.metrics.page import MetricsPage, serve_metrics


@pytest.fixture
def page() -> Iterator[tuple[Metrics, MetricsPage]]:
    metrics = Metrics()
    page = serve_metrics(metrics, 0)
    yield metrics, page
    page.close()


def test_the_page_is_read_over_http_on_the_loopback_address(
    page: tuple[Metrics, MetricsPage],
) -> None:
    metrics, served = page
    metrics.moves_acknowledged = 7
    with urlopen(f"http://127.0.0.1:{served.port}/metrics", timeout=10) as answer:
        assert b"saratoga_moves_acknowledged_total 7.0" in answer.read()


def test_a_port_that_is_taken_is_an_error(page: tuple[Metrics, MetricsPage]) -> None:
    _, served = page
    with pytest.raises(OSError, match="in use"):
        serve_metrics(Metrics(), served.port)


def test_the_page_can_be_closed_and_its_port_used_again() -> None:
    first = serve_metrics(Metrics(), 0)
    first.close()
    second = serve_metrics(Metrics(), first.port)
    second.close()
    assert second.port == first.port


def test_the_page_answers_again_and_again(page: tuple[Metrics, MetricsPage]) -> None:
    _, served = page
    for _ in range(3):
        with urlopen(f"http://127.0.0.1:{served.port}/metrics", timeout=10) as answer:
            assert answer.status == 200


def test_what_answers_a_scrape_is_not_loaded_before_one_comes() -> None:
    program = (
        "import sys\n"
        "from saratoga_server.metrics.counters import Metrics\n"
        "from saratoga_server.metrics.page import serve_metrics\n"
        "page = serve_metrics(Metrics(), 0)\n"
        "print('prometheus_client' in sys.modules)\n"
        "page.close()\n"
    )
    told = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert told.stdout == "False\n"
