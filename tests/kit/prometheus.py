"""A Prometheus process with the settings in `deploy/prometheus`, and queries to it."""

import json
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import urlencode
from urllib.request import urlopen

from kit.deployment import DEPLOY, replaced
from kit.programs import program
from kit.stores import READY_WITHIN, SCRATCH, free_port

SCRAPE_EVERY = "500ms"


class Prometheus:
    """A running Prometheus process, queried over HTTP."""

    def __init__(self, port: int) -> None:
        self.port = port

    def ask(self, path: str, **parameters: str) -> Any:
        """Query the HTTP API at that path; return the data of the response."""
        url = f"http://127.0.0.1:{self.port}/api/v1/{path}?{urlencode(parameters)}"
        try:
            with urlopen(url, timeout=10) as answer:
                response = json.loads(answer.read())
        except HTTPError as fault:
            with fault:
                response = json.loads(fault.read())
        assert response["status"] == "success", (parameters, response)
        return response["data"]

    def value(self, expression: str) -> list[dict[str, Any]]:
        """Evaluate a PromQL expression; return the resulting series."""
        found: list[dict[str, Any]] = self.ask("query", query=expression)["result"]
        return found

    def wait_for(self, expression: str) -> None:
        """Wait until a PromQL expression has at least one series."""
        deadline = time.monotonic() + READY_WITHIN
        while not self.value(expression):
            assert time.monotonic() < deadline, f"{expression} never came to anything"
            time.sleep(0.05)


@contextmanager
def open_prometheus(targets: Mapping[str, Sequence[int]]) -> Iterator[Prometheus]:
    """Run Prometheus to scrape the given ports of each kind of target, `node` and `machine`."""
    with TemporaryDirectory(prefix="saratoga-", dir=SCRATCH) as scratch:
        folder, port = Path(scratch), free_port()
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
            _wait_until_ready(port, process)
            yield Prometheus(port)
        finally:
            process.terminate()
            process.wait()


def _wait_until_ready(port: int, process: "subprocess.Popen[bytes]") -> None:
    deadline = time.monotonic() + READY_WITHIN
    while True:
        assert process.poll() is None, "Prometheus has ended"
        assert time.monotonic() < deadline, "Prometheus does not come up"
        try:
            with urlopen(f"http://127.0.0.1:{port}/-/ready", timeout=5):
                return
        except (HTTPError, URLError, OSError):
            time.sleep(0.02)


@contextmanager
def open_node_exporter() -> Iterator[int]:
    """Run the node exporter with the flags of compose.yaml; yield its port."""
    port = free_port()
    process = subprocess.Popen(
        [
            program("prometheus-node-exporter"),
            f"--web.listen-address=127.0.0.1:{port}",
            *("--collector.disable-defaults", "--collector.filesystem"),
            *("--collector.meminfo", "--collector.loadavg", "--log.level=error"),
        ]
    )
    try:
        yield port
    finally:
        process.terminate()
        process.wait()
