"""A store of three machines under Sentinels, with a network between them that tests cut.

Each machine has an address (127.0.0.2 and so on), a store and a Sentinel. All that crosses between two
machines, or between one and this process (127.0.0.1), passes a relay, which knows both by their addresses.
"""

import asyncio
import tempfile
import threading
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from kit.deployment import DEPLOY, replaced
from kit.stores import SCRATCH, StoreServer, free_port

NAME = "saratoga"
DOWN_AFTER = 1000
"""Milliseconds of silence after which a Sentinel takes a process for down."""
HERE = "127.0.0.1"


class Network:
    """Relays to the real listeners, in a thread of their own; `cut` lets nothing pass."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._open: set[tuple[frozenset[str], asyncio.Task[None]]] = set()
        self._cut: set[frozenset[str]] = set()
        self._servers: list[asyncio.Server] = []
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()

    def relay(self, host: str, port: int, behind: str) -> None:
        """Pass connections to `host` on to the address `behind`, at the same port."""

        async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            ends = frozenset((host, writer.get_extra_info("peername")[0]))
            task = asyncio.current_task()
            assert task is not None
            self._open.add((ends, task))
            try:
                with suppress(OSError, asyncio.CancelledError):
                    await self._pass(
                        ends, reader, writer, await asyncio.open_connection(behind, port)
                    )
            finally:
                self._open.discard((ends, task))
                writer.transport.abort()

        async def listen() -> None:
            self._servers.append(await asyncio.start_server(accept, host, port))

        asyncio.run_coroutine_threadsafe(listen(), self._loop).result()

    async def _pass(
        self,
        ends: frozenset[str],
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        onwards: tuple[asyncio.StreamReader, asyncio.StreamWriter],
    ) -> None:
        async def pump(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
            while data := await source.read(1 << 16):
                if ends in self._cut:
                    await asyncio.Event().wait()  # until `heal` resets the connection
                target.write(data)
                await target.drain()

        pumps = [
            asyncio.create_task(pump(reader, onwards[1])),
            asyncio.create_task(pump(onwards[0], writer)),
        ]
        try:
            await asyncio.wait(pumps, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for each in pumps:
                each.cancel()
            onwards[1].transport.abort()

    def partition(self, *parts: Collection[str]) -> None:
        """Cut machines of different parts off from each other; a machine in no part hears all."""
        self._cut = {
            frozenset((one, other))
            for part in parts
            for one in part
            for foreign in parts
            if foreign is not part
            for other in foreign
        }

    def heal(self) -> None:
        """Let everything pass again; connections that were cut are gone."""
        cut, self._cut = self._cut, set()

        def reset() -> None:
            for ends, task in tuple(self._open):
                if ends in cut:
                    task.cancel()

        self._loop.call_soon_threadsafe(reset)

    def close(self) -> None:
        async def stop() -> None:
            for server in self._servers:
                server.close()
            passing = asyncio.all_tasks() - {asyncio.current_task()}
            for task in passing:
                task.cancel()
            await asyncio.gather(*passing, return_exceptions=True)

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
    sentinel_port: int
    network: Network = field(repr=False)

    @property
    def url(self) -> str:
        hosts = ",".join(f"{host}:{self.sentinel_port}" for host in self.sentinel_hosts)
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
    quorum: int = 2,
    last: dict[str, str] | None = None,
    deployed: bool = False,
    down_after: int = DOWN_AFTER,
) -> Iterator[WatchedStore]:
    """Run a store on so many machines.

    `sentinels_on`: the Sentinels' machines, those of the store by default. `last`: settings of the last replica.
    `deployed`: with the settings in `deploy/valkey`.
    """
    port, sentinel_port = free_port(), free_port()
    places = range(machines)
    watching = tuple(places if sentinels_on is None else sentinels_on)
    network = Network()
    hosts = [_host(place) for place in places]
    watchers = [_host(place) for place in watching]
    with tempfile.TemporaryDirectory(
        prefix="saratoga-", dir=SCRATCH, ignore_cleanup_errors=True
    ) as scratch:
        stores: list[StoreServer] = []
        sentinels: list[StoreServer] = []
        opened = WatchedStore(hosts, stores, sentinels, watchers, sentinel_port, network)
        try:
            for place, host in enumerate(hosts):
                folder = Path(scratch, f"store-{place}")
                folder.mkdir()
                network.relay(host, port, _behind(host))
                store = StoreServer(binary, folder, _settings(host, port))
                if place:
                    store.settings["replicaof"] = f"{hosts[0]} {port}"
                if deployed:
                    store.file = folder / "valkey.conf"
                    store.file.write_text(
                        (DEPLOY / "valkey" / "valkey-replicated.conf").read_text()
                    )
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
                network.relay(host, sentinel_port, _behind(host))
                sentinel = StoreServer(binary, folder)
                others = {_id(other): _host(other) for other in watching if other != place}
                known = [
                    *(f"sentinel known-replica {NAME} {each} {port}" for each in hosts[1:]),
                    *(
                        f"sentinel known-sentinel {NAME} {each} {sentinel_port} {own}"
                        for own, each in others.items()
                    ),
                ]
                text = replaced(
                    (DEPLOY / "valkey" / "sentinel.conf").read_text(),
                    (r"^(bind|port|sentinel auth-pass) .*", ""),
                    (r" 10.0.0.5 6379 2$", f" {hosts[0]} {port} {quorum}"),
                    (r"(down-after-milliseconds \w+) \d+", rf"\1 {down_after}"),
                )
                own = (
                    *(f"bind {_behind(host)}", f"bind-source-addr {host}", f"port {sentinel_port}"),
                    *(f"unixsocket {sentinel.socket}", f"dir {folder}", f"logfile {folder}/log"),
                    *(f"sentinel myid {_id(place)}", f"sentinel announce-ip {host}"),
                    *(f"sentinel announce-port {sentinel_port}", *known),
                )
                (folder / "conf").write_text("\n".join((text, *own, "")))
                sentinel.start_on(folder / "conf", "--sentinel")
                sentinels.append(sentinel)
            for sentinel in sentinels:
                sentinel.wait_for("SENTINEL", "CKQUORUM", NAME, says=b"OK %d" % len(sentinels))
            yield opened
        finally:
            opened.close()


def _settings(host: str, port: int) -> dict[str, str]:
    return {
        "port": str(port),
        "bind": _behind(host),
        "bind-source-addr": host,
        "replica-announce-ip": host,
        "replica-announce-port": str(port),
        "protected-mode": "no",
        "min-replicas-to-write": "1",
        "min-replicas-max-lag": "3",
        "repl-timeout": "5",
    }


def _host(place: int) -> str:
    return f"127.0.0.{place + 2}"


def _behind(host: str) -> str:
    """Return the address at which a machine's processes really listen."""
    return host.replace("127.0.0.", "127.0.1.")


def _id(place: int) -> str:
    return f"{place + 1:040x}"
