"""Run nginx and Valkey with the files in `deploy/`, and a store of three machines under Sentinels.

Paths, ports and addresses are replaced by a test's own; all other settings stay as they are.

Each machine of a watched store has an address, a store and a Sentinel. All that crosses between two
machines, or between one and this process (127.0.0.1), passes a relay, which knows both by their
addresses, and which tests cut.
"""

import asyncio
import os
import re
import subprocess
import threading
from collections import Counter
from collections.abc import AsyncIterator, Collection, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from urllib.request import urlopen

import pytest
import pytest_asyncio
from prometheus_client.parser import text_string_to_metric_families

from kit.faulty_link import FaultyLink, LinkConnection
from kit.server_process import ServerProcess, nodes_on, program
from kit.stores import StoreServer, free_port, scratch_folder, wait_until
from saratoga_server.embedded_store.process import find_binary

DEPLOY = Path(__file__).parents[2] / "deploy"


def replaced(text: str, *pairs: tuple[str, str]) -> str:
    """Replace every pattern in the text; raise an error if a pattern does not occur."""
    for pattern, new in pairs:
        text, times = re.subn(pattern, new, text, flags=re.MULTILINE)
        assert times, f"{pattern} is not in the file any more"
    return text


def write_certificate(folder: Path, names: str = "DNS:localhost,IP:127.0.0.1") -> Path:
    """Write a key and a certificate for these names into a folder, where nginx reads them."""
    subprocess.run(
        [
            *(program("openssl"), "req", "-x509", "-newkey", "ec", "-nodes", "-days", "2"),
            *("-pkeyopt", "ec_paramgen_curve:prime256v1", "-subj", "/CN=localhost"),
            *("-addext", f"subjectAltName={names}"),
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


@contextmanager
def open_valkey(level: str, binary: str, *more: str) -> Iterator[StoreServer]:
    """Run a store with `deploy/valkey`'s settings for a durability level, and the lines `more`."""
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


NAME = "saratoga"
DOWN_AFTER = 1000
"""Milliseconds of silence after which a Sentinel takes a process for down."""
PORT, SENTINEL_PORT = 6379, 26379


class Network:
    """Relays to the real listeners, in a thread of their own; what is cut lets nothing pass."""

    def __init__(self) -> None:
        self.cut: set[frozenset[str]] = set()
        self._loop = asyncio.new_event_loop()
        self._servers: list[asyncio.Server] = []
        self._links: list[FaultyLink] = []
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()

    def relay(self, host: str, port: int, behind: str) -> None:
        """Pass connections to `host` on to the address `behind`, at the same port."""
        link = FaultyLink(partial(asyncio.open_connection, behind, port), self._drop_what_is_cut)
        self._links.append(link)

        async def listen() -> None:
            self._servers.append(await asyncio.start_server(link.accept, host, port))

        asyncio.run_coroutine_threadsafe(listen(), self._loop).result()

    def _drop_what_is_cut(self, link: FaultyLink, connection: LinkConnection) -> None:
        def pass_on(data: bytes) -> bytes:
            return b"" if connection.ends in self.cut else data

        connection.to_server = connection.to_client = pass_on

    def partition(self, *parts: Collection[str]) -> None:
        """Cut machines of different parts off from each other; a machine in no part hears all."""
        self.cut = {
            frozenset((one, other))
            for part in parts
            for one in part
            for foreign in parts
            if foreign is not part
            for other in foreign
        }

    def heal(self) -> None:
        """Let everything pass again; connections that were cut are gone."""
        cut, self.cut = self.cut, set()

        def reset() -> None:
            for link in self._links:
                for connection in link.connections:
                    if connection.ends in cut:
                        connection.cut()

        self._loop.call_soon_threadsafe(reset)

    def close(self) -> None:
        async def stop() -> None:
            # a connection that asyncio is accepting while its server is closed is never closed;
            # the processes are dead, so no further one comes
            for _ in range(10):
                await asyncio.sleep(0)
            for server in self._servers:
                server.close()
            for link in self._links:
                await link.close()
            # asyncio closes a socket one turn of the loop after its transport
            await asyncio.sleep(0)

        asyncio.run_coroutine_threadsafe(stop(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


@dataclass
class WatchedStore:
    """A primary (at first the first store), its replicas, and their Sentinels."""

    hosts: list[str]
    stores: list[StoreServer]
    sentinels: list[StoreServer]
    sentinel_hosts: list[str]
    network: Network = field(repr=False)

    @property
    def url(self) -> str:
        hosts = ",".join(f"{host}:{SENTINEL_PORT}" for host in self.sentinel_hosts)
        return f"sentinel://{hosts}/{NAME}"

    def primary(self) -> int:
        """Return the place of the store that most Sentinels take for the primary now."""
        named = [
            each.ask_all("SENTINEL", "GET-MASTER-ADDR-BY-NAME", NAME) for each in self.sentinels
        ]
        places = [
            place
            for place, host in enumerate(self.hosts)
            if 2 * sum(f"\r\n{host}\r\n".encode() in each for each in named) > len(named)
        ]
        return places[0] if places else -1

    def elected(self, *, other_than: int) -> int:
        """Wait until most Sentinels name another primary; return its place."""
        wait_until(lambda: self.primary() not in (-1, other_than), "no other is elected", 0.05)
        return self.primary()

    def close(self) -> None:
        for each in (*self.sentinels, *self.stores):
            each.kill()
        self.network.close()


@contextmanager
def watched_store(
    binary: str,
    *,
    machines: int = 3,
    sentinels_on: Collection[int] | None = None,
    last: dict[str, str] | None = None,
    down_after: int = DOWN_AFTER,
) -> Iterator[WatchedStore]:
    """Run a store on so many machines, with the settings in `deploy/valkey`.

    `sentinels_on`: the Sentinels' machines, those of the store by default. `last`: settings of the
    last replica.
    """
    places = range(machines)
    watching = tuple(places if sentinels_on is None else sentinels_on)
    network = Network()
    hosts = [_host(place) for place in places]
    watchers = [_host(place) for place in watching]
    with scratch_folder() as scratch:
        stores: list[StoreServer] = []
        sentinels: list[StoreServer] = []
        opened = WatchedStore(hosts, stores, sentinels, watchers, network)
        try:
            for place, host in enumerate(hosts):
                folder = Path(scratch, f"store-{place}")
                folder.mkdir()
                network.relay(host, PORT, _behind(host))
                store = StoreServer(binary, folder, _settings(host))
                if place:
                    store.settings["replicaof"] = f"{hosts[0]} {PORT}"
                store.file = folder / "valkey.conf"
                store.file.write_text((DEPLOY / "valkey" / "valkey-replicated.conf").read_text())
                if place == machines - 1:
                    store.settings |= last or {}
                store.start()
                stores.append(store)
            for store in stores[1:]:
                store.wait_for("INFO", "replication", says=b"master_link_status:up")
            stores[0].wait_for(
                "INFO", "replication", says=b"min_slaves_good_slaves:%d" % (machines - 1)
            )
            for place, host in zip(watching, watchers, strict=True):
                folder = Path(scratch, f"sentinel-{place}")
                folder.mkdir()
                network.relay(host, SENTINEL_PORT, _behind(host))
                sentinel = StoreServer(binary, folder)
                others = {_id(other): _host(other) for other in watching if other != place}
                known = [
                    *(f"sentinel known-replica {NAME} {each} {PORT}" for each in hosts[1:]),
                    *(
                        f"sentinel known-sentinel {NAME} {each} {SENTINEL_PORT} {own}"
                        for own, each in others.items()
                    ),
                ]
                text = replaced(
                    (DEPLOY / "valkey" / "sentinel.conf").read_text(),
                    (r"^(bind|port|sentinel auth-pass) .*", ""),
                    (r" 10.0.0.5 6379 2$", f" {hosts[0]} {PORT} 2"),
                    (r"(down-after-milliseconds \w+) \d+", rf"\1 {down_after}"),
                )
                own = (
                    *(f"bind {_behind(host)}", f"bind-source-addr {host}", f"port {SENTINEL_PORT}"),
                    *(f"unixsocket {sentinel.socket}", f"dir {folder}", f"logfile {folder}/log"),
                    *(f"sentinel myid {_id(place)}", f"sentinel announce-ip {host}"),
                    *(f"sentinel announce-port {SENTINEL_PORT}", *known),
                )
                (folder / "conf").write_text("\n".join((text, *own, "")))
                sentinel.start_on(folder / "conf", "--sentinel")
                sentinels.append(sentinel)
            for sentinel in sentinels:
                sentinel.wait_for("SENTINEL", "CKQUORUM", NAME, says=b"OK %d" % len(sentinels))
            yield opened
        finally:
            opened.close()


def _settings(host: str) -> dict[str, str]:
    return {
        "port": str(PORT),
        "bind": _behind(host),
        "bind-source-addr": host,
        "replica-announce-ip": host,
        "replica-announce-port": str(PORT),
        "protected-mode": "no",
        "repl-timeout": "5",
    }


def _host(place: int) -> str:
    """Return the address of a machine, one that no other process of the tests uses."""
    one, other = divmod(os.getpid(), 250)
    return f"127.{1 + one % 120}.{other}.{place + 2}"


def _behind(host: str) -> str:
    """Return the address at which a machine's processes really listen."""
    first, second, *rest = host.split(".")
    return ".".join((first, str(int(second) + 128), *rest))


def _id(place: int) -> str:
    return f"{place + 1:040x}"
