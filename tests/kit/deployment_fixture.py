"""A fixture with a deployment as in `deploy/` (nginx with TLS, two nodes, one Valkey), and its metrics."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from urllib.request import urlopen

import pytest
import pytest_asyncio
from prometheus_client.parser import text_string_to_metric_families

from kit.deployment import Proxy, open_proxy, open_valkey
from kit.server_process import ServerProcess, nodes_on
from saratoga_server.embedded_store.process import find_binary

FLAGS = (
    *("--durability", "safe", "--metrics-port", "0"),
    *("--trusted-proxies", "1", "--log-level", "debug"),
)


@dataclass
class Deployment:
    proxy: Proxy
    nodes: list[ServerProcess]


@asynccontextmanager
async def deployed() -> AsyncIterator[Deployment]:
    with open_valkey("safe", str(find_binary())) as store:
        async with nodes_on(store.url, 2, *FLAGS) as nodes:
            with open_proxy(*(node.port for node in nodes)) as proxy:
                yield Deployment(proxy, nodes)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def deployment() -> AsyncIterator[Deployment]:
    """A deployment that all tests of a module share; clients trust its certificate."""
    with pytest.MonkeyPatch.context() as patch:
        async with deployed() as opened:
            patch.setenv("SSL_CERT_FILE", str(opened.proxy.certificate))
            yield opened


def scrape(node: ServerProcess) -> Counter[str]:
    """Return a node's metrics, by name and labels."""
    (port,) = [event["port"] for event in node.events() if event["event"] == "metrics_open"]
    with urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10) as answer:
        text = answer.read().decode()
    found: Counter[str] = Counter()
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            found[sample.name + "".join(f"[{value}]" for value in sample.labels.values())] = int(
                sample.value
            )
    return found


async def scraped(nodes: list[ServerProcess]) -> Counter[str]:
    """Return the sum of each metric over all nodes."""
    return sum([await asyncio.to_thread(scrape, node) for node in nodes], Counter[str]())
