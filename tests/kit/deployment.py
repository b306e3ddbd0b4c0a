"""Run nginx and Valkey with the files in `deploy/`.

Paths, ports and addresses are replaced by a test's own; all other settings stay as they are.
"""

import asyncio
import os
import re
import subprocess
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.request import urlopen

import pytest
import pytest_asyncio
from prometheus_client.parser import text_string_to_metric_families

from kit.programs import program
from kit.server_process import ServerProcess, nodes_on
from kit.stores import StoreServer, free_port, scratch_folder, wait_until
from saratoga_server.embedded_store.process import find_binary

DEPLOY = Path(__file__).parents[2] / "deploy"


def replaced(text: str, *pairs: tuple[str, str]) -> str:
    """Replace every pattern in the text; raise an error if a pattern does not occur."""
    for pattern, new in pairs:
        text, times = re.subn(pattern, new, text, flags=re.MULTILINE)
        assert times, f"{pattern} is not in the file any more"
    return text


def write_certificate(folder: Path) -> Path:
    """Write a key and a certificate for this machine into a folder, where nginx reads them."""
    subprocess.run(
        [
            *(program("openssl"), "req", "-x509", "-newkey", "ec", "-nodes", "-days", "2"),
            *("-pkeyopt", "ec_paramgen_curve:prime256v1", "-subj", "/CN=localhost"),
            *("-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"),
            *("-keyout", str(folder / "privkey.pem"), "-out", str(folder / "fullchain.pem")),
        ],
        check=True,
        capture_output=True,
    )
    return folder / "fullchain.pem"


class Proxy:
    """An nginx process in its own folder, in front of nodes on this machine."""

    def __init__(self, folder: Path, nodes: Sequence[int]) -> None:
        self.folder = folder
        self.port, self.plain_port = free_port(), free_port()
        self.certificate = write_certificate(folder)
        self._write_settings(nodes)
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"wss://127.0.0.1:{self.port}"

    @property
    def settings(self) -> Path:
        return self.folder / "nginx.conf"

    def _write_settings(self, nodes: Sequence[int]) -> None:
        nginx, folder = DEPLOY / "nginx", str(self.folder)
        main = replaced(
            (nginx / "nginx.conf").read_text(),
            ("/etc/nginx", folder),
            ("/run/nginx.pid", f"{folder}/pid"),
            ("/dev/stderr", f"{folder}/error.log"),
            ("/dev/stdout", f"{folder}/access.log"),
            ("/tmp/", f"{folder}/temp-"),
            ("^worker_processes auto", "worker_processes 1"),
        )
        site = replaced(
            (nginx / "saratoga.conf").read_text(),
            (r"^ *listen \[::\].*\n", ""),
            (r"listen 443 ", f"listen 127.0.0.1:{self.port} "),
            (r"listen 80 ", f"listen 127.0.0.1:{self.plain_port} "),
            ("/etc/saratoga/tls", folder),
            ("/var/cache/nginx/saratoga", f"{folder}/cache"),
        )
        upstream = replaced(
            (nginx / "nodes.conf").read_text(),
            (r"(    server 127\.0\.0\.1:\d+( .*)\n)+", "".join(
                rf"    server 127.0.0.1:{port}\2\n" for port in nodes)),
        )  # fmt: skip
        self.settings.write_text(main)
        (self.folder / "saratoga.conf").write_text(site)
        (self.folder / "saratoga-nodes.conf").write_text(upstream)

    def command(self, *more: str) -> list[str]:
        """Return the command that starts nginx; its workers run as the user of the test."""
        orders = ["user root;"] if os.getuid() == 0 else []
        where = ("-p", str(self.folder), "-c", str(self.settings), "-e", str(self.folder / "e"))
        return [program("nginx"), *where, "-g", " ".join([*orders, *more])]

    def start(self) -> None:
        self._process = subprocess.Popen(self.command("daemon off;"))
        wait_until((self.folder / "pid").exists, f"nginx does not come up: {self.folder}/error.log")

    def stop(self) -> None:
        if self._process is not None:
            self._process.terminate()
            self._process.wait()


@contextmanager
def open_proxy(*nodes: int) -> Iterator[Proxy]:
    """Run nginx with the settings of `deploy/nginx` in front of the nodes on these ports."""
    with scratch_folder() as folder:
        proxy = Proxy(folder, nodes)
        proxy.start()
        try:
            yield proxy
        finally:
            proxy.stop()


def settings_of(level: str) -> dict[str, str]:
    """Return the settings in `deploy/valkey` for a durability level, except those set by tests."""
    lines = (DEPLOY / "valkey" / f"valkey-{level}.conf").read_text().splitlines()
    words = (line.partition(" ") for line in lines if line and not line.startswith("#"))
    found = {name: value.strip('"') for name, _, value in words}
    return {name: value for name, value in found.items() if name not in ("bind", "port", "include")}


@contextmanager
def open_valkey(level: str, binary: str, *more: str) -> Iterator[StoreServer]:
    """Run a store with the settings in `deploy/valkey` for a durability level and the lines `more`."""
    with scratch_folder() as folder:
        text = (DEPLOY / "valkey" / f"valkey-{level}.conf").read_text()
        lines = [
            replaced(text, (r"^port \d+", "port 0")),
            f"dir {folder}",
            f"unixsocket {folder}/s",
            f"logfile {folder}/log",
            *more,
        ]
        (folder / "valkey.conf").write_text("\n".join(lines) + "\n")
        store = StoreServer(binary, folder)
        store.start_on(folder / "valkey.conf")
        try:
            yield store
        finally:
            store.kill()


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
