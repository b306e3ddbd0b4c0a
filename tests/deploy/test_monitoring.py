"""The dashboard, the alerts and the scrape settings, checked with a real Prometheus and a real server."""

import asyncio
import json
import re
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any
from urllib.parse import urlencode
from urllib.request import urlopen

import pytest

from kit.deployment import DEPLOY, open_valkey, replaced
from kit.racing_bots import LINE_UP, players_at_a_table
from kit.server_process import nodes_on, program
from kit.stores import free_port, scratch_folder, wait_until
from saratoga_client.net.errors import CommandRefused
from saratoga_protocol.commands import GetRecord
from saratoga_server.embedded_store.process import find_binary
from test_repository import anchors

SCRAPE_EVERY = "500ms"


class Prometheus:
    """A running Prometheus process, queried over HTTP."""

    def __init__(self, port: int) -> None:
        self.port = port

    def ask(self, path: str, **parameters: str) -> Any:
        """Query the HTTP API at that path; return the data of the response."""
        url = f"http://127.0.0.1:{self.port}/api/v1/{path}?{urlencode(parameters)}"
        with urlopen(url, timeout=10) as answer:
            response = json.loads(answer.read())
        assert response["status"] == "success", (parameters, response)
        return response["data"]

    def value(self, expression: str) -> list[dict[str, Any]]:
        """Evaluate a PromQL expression; return the resulting series."""
        found: list[dict[str, Any]] = self.ask("query", query=expression)["result"]
        return found

    def wait_for(self, expression: str) -> None:
        """Wait until a PromQL expression has at least one series."""
        wait_until(lambda: self.value(expression), f"{expression} never came to anything", 0.05)


@contextmanager
def open_prometheus(targets: Mapping[str, Sequence[int]]) -> Iterator[Prometheus]:
    """Run Prometheus to scrape the given ports of each kind of target, `node` and `machine`."""
    with scratch_folder() as folder:
        port = free_port()
        settings = replaced(
            (DEPLOY / "prometheus" / "prometheus.yml").read_text(),
            (r"scrape_interval: \S+", f"scrape_interval: {SCRAPE_EVERY}"),
            (r"scrape_timeout: \S+", f"scrape_timeout: {SCRAPE_EVERY}"),
            (r"evaluation_interval: \S+", f"evaluation_interval: {SCRAPE_EVERY}"),
        )
        (folder / "prometheus.yml").write_text(settings)
        (folder / "alerts.yml").write_text((DEPLOY / "prometheus" / "alerts.yml").read_text())
        groups = [
            {"targets": [f"127.0.0.1:{port}" for port in ports], "labels": {"kind": kind}}
            for kind, ports in targets.items()
        ]
        (folder / "targets.yml").write_text(json.dumps(groups))
        process = subprocess.Popen(
            [
                program("prometheus"),
                f"--config.file={folder}/prometheus.yml",
                f"--storage.tsdb.path={folder}/data",
                f"--web.listen-address=127.0.0.1:{port}",
                "--log.level=error",
            ]
        )
        try:
            wait_until(lambda: _is_ready(port), "Prometheus does not come up", 0.02)
            yield Prometheus(port)
        finally:
            process.terminate()
            process.wait()


def _is_ready(port: int) -> bool:
    try:
        with urlopen(f"http://127.0.0.1:{port}/-/ready", timeout=5):
            return True
    except OSError:
        return False


@contextmanager
def open_exporter(name: str, *flags: str) -> Iterator[int]:
    """Run an exporter; yield its port."""
    port = free_port()
    address = f"--web.listen-address=127.0.0.1:{port}"
    process = subprocess.Popen([program(name), address, *flags], stderr=subprocess.DEVNULL)
    try:
        yield port
    finally:
        process.terminate()
        process.wait()


MACHINE = ("disable-defaults", "filesystem", "meminfo", "loadavg")
"""The collectors of the node exporter in compose.yaml."""

PROMETHEUS = DEPLOY / "prometheus"

SELECTOR = re.compile(r"\b((?:saratoga|process|node|redis)_\w+|up)\b(?:\{([^}]*)\})?")
"""Matches a metric in an expression, and its label matchers."""

LABEL = re.compile(r"(\w+)\s*[=!]~?\s*\"")


def expressions_of_the_dashboard() -> list[str]:
    dashboard = json.loads((DEPLOY / "grafana" / "dashboard.json").read_text())
    return [target["expr"] for panel in dashboard["panels"] for target in panel.get("targets", [])]


def selectors(expression: str) -> Iterator[str]:
    """Yield a selector for each metric of an expression; it matches if metric and labels exist."""
    for metric, asked in SELECTOR.findall(expression):
        labels = LABEL.findall(asked or "")
        yield metric + "{" + ",".join(f'{label}!=""' for label in labels) + "}"


def checked(*words: str) -> str:
    said = subprocess.run(
        [program("promtool"), *words], capture_output=True, text=True, check=False, cwd=PROMETHEUS
    )
    assert said.returncode == 0, said.stdout + said.stderr
    return said.stdout


@pytest.mark.needs("promtool")
def test_every_alert_fires_in_its_case() -> None:
    assert "SUCCESS" in checked("test", "rules", "alerts_test.yml")


@pytest.mark.needs("prometheus", "prometheus-node-exporter", "prometheus-redis-exporter")
async def test_every_metric_of_dashboard_and_alerts_exists() -> None:
    collectors = [f"--collector.{each}" for each in MACHINE]
    with (
        open_valkey("safe", str(find_binary())) as store,
        open_exporter("prometheus-node-exporter", *collectors) as machine,
        open_exporter("prometheus-redis-exporter", "-redis.addr", store.url) as figures,
    ):
        async with nodes_on(store.url, 1, "--metrics-port", "0", "--log-level", "info") as [node]:
            (metrics,) = [
                event["port"] for event in node.events() if event["event"] == "metrics_open"
            ]
            with open_prometheus(
                {"node": [metrics], "machine": [machine], "store": [figures]}
            ) as prometheus:
                await asyncio.to_thread(prometheus.wait_for, "saratoga_ready == 1")
                async with players_at_a_table(node.url, "canfield", "Player") as players:
                    with pytest.raises(CommandRefused):
                        await players[0].connection.request(
                            partial(GetRecord, race="mint-otter-42/1")
                        )
                    await asyncio.gather(*(each.race(1, 0, len(LINE_UP)) for each in players))
                    await asyncio.to_thread(check, prometheus)


def check(prometheus: Prometheus) -> None:
    prometheus.wait_for("rate(saratoga_races_over_total[1m]) > 0")
    nothing = [
        expression
        for expression in expressions_of_the_dashboard()
        if not prometheus.value(expression)
    ]
    assert nothing == []
    rules: list[dict[str, Any]] = [
        rule for group in prometheus.ask("rules")["groups"] for rule in group["rules"]
    ]
    assert len(rules) == (PROMETHEUS / "alerts.yml").read_text().count("- alert:")
    assert {rule["health"] for rule in rules} == {"ok"}
    unknown = [
        selector
        for rule in rules
        for selector in selectors(rule["query"])
        if not prometheus.ask("series", **{"match[]": selector})
    ]
    assert unknown == []
    firing = [rule["name"] for rule in rules if rule["state"] == "firing"]
    assert [name for name in firing if not name.startswith("Disk")] == []


def test_every_alert_links_to_an_existing_section() -> None:
    alerts = (PROMETHEUS / "alerts.yml").read_text()
    wanted = re.findall(r"runbook: RUNBOOK\.md#(\S+)", alerts)
    assert len(wanted) == alerts.count("- alert:")
    assert set(wanted) - anchors(DEPLOY / "RUNBOOK.md") == set()
