"""The page of the metrics: open at once, or as soon as the worker before has left the port."""

import asyncio
from collections.abc import AsyncIterator
from urllib.request import urlopen

import pytest

from kit.stores import free_port
from saratoga_server.config import CannotStart, Settings
from saratoga_server.metrics.counters import Metrics
from saratoga_server.process.metrics_door import MetricsDoor


@pytest.fixture
async def port() -> int:
    return free_port()


def read(port: int) -> str:
    with urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10) as page:
        text: str = page.read().decode()
        return text


@pytest.fixture
async def first(port: int) -> AsyncIterator[MetricsDoor]:
    door = MetricsDoor(Metrics(), Settings(node="first", metrics_port=port))
    door.open()
    yield door
    await door.close()


async def test_it_is_open_until_it_is_closed(first: MetricsDoor, port: int) -> None:
    assert 'node="first"' in await asyncio.to_thread(read, port)
    await first.close()
    with pytest.raises(OSError, match="refused"):
        await asyncio.to_thread(read, port)


async def test_a_port_that_is_taken_is_said_in_a_sentence(first: MetricsDoor, port: int) -> None:
    second = MetricsDoor(Metrics(), Settings(node="second", metrics_port=port))
    with pytest.raises(CannotStart, match=f"metrics port {port} cannot be opened .*--metrics-port"):
        second.open()


async def test_a_successor_comes_to_the_port_when_it_is_left(
    first: MetricsDoor, port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("saratoga_server.process.metrics_door.TRY_EVERY", 0.01)
    second = MetricsDoor(Metrics(), Settings(node="second", metrics_port=port))
    trying = asyncio.create_task(second.keep_open())
    assert 'node="first"' in await asyncio.to_thread(read, port)
    await first.close()
    async with asyncio.timeout(10):
        await second.opened.wait()
    assert 'node="second"' in await asyncio.to_thread(read, port)
    trying.cancel()
    await second.close()


async def test_where_no_metrics_are_wanted_there_is_no_page() -> None:
    door = MetricsDoor(Metrics(), Settings(metrics_port=None))
    door.open()
    assert not door.opened.is_set()
    await door.close()
