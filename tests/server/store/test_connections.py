"""Connections to a store: addresses, replies whole and in order, losses, commits in batches, and news to every node."""

import asyncio
import ssl
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import hiredis
import msgpack
import pytest

from kit.deployment import write_certificate
from kit.faulty_link import open_link, to_socket
from kit.gateways import FakeTransport
from kit.stores import WITHIN, StoreServer, calm, recording
from kit.tables import ANNA, BERT, move, running_race
from saratoga_server.ports import CommitStatus, StoreUnavailable
from saratoga_server.store.addresses import fault_in
from saratoga_server.store.client import is_confirmed, is_transient, open_client
from saratoga_server.store.commits import Commits
from saratoga_server.store.keys import NEWS
from saratoga_server.store.link import Link, dial
from saratoga_server.store.news import Announce
from saratoga_server.store.opening import Store, open_store
from saratoga_server.store.sentinels import Sentinels

# Addresses of stores, as an operator configures them


GOOD = [
    "redis://store",
    "redis://store:6379/",
    "redis://store:6379/2",
    "redis://10.0.0.1:1?db=3",
    "redis://[::1]:6379",
    "redis://[fe80::1%25eth0]:6379/0/",
    "rediss://me:a%2Fb%40c@store_1.example.org:65535/2",
    "rediss://store?ssl_ca_certs=/etc/ca.pem&ssl_cert_reqs=none&ssl_check_hostname=false",
    "redis://:pass@word,with:many&signs@store",
    "unix:///run/redis.sock",
    "unix:///run/my%20store/50%25?db=1&password=hush",
    "unix://me:hush@/run/redis.sock",
    "unix:///run/a,b/store",
    "rediss://me:hush,hush@store?password=a,b",
    "sentinel://10.0.0.1,10.0.0.2:26380,store-3.example.org/saratoga",
    "sentinel://me:a,b%2F@[::1]:1,store/my-store?db=2&sentinel_password=hush",
]


@pytest.mark.parametrize("url", GOOD)
def test_an_address_that_redis_py_understands_as_it_is_meant_can_be_used(url: str) -> None:
    assert fault_in(url) is None


@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("", "begin with"),
        (",", "begin with"),
        ("store:6379", "begin with"),
        ("http://store", "begin with"),
        ("REDIS://store", "begin with"),
        ("redis:store", "begin with"),
        ("rediss:/store", "begin with"),
        ("redis:///", "host name"),
        ("redis://", "host name"),
        ("redis://:6379", "host name"),
        ("redis://me:hush@/2", "host name"),
        ("redis://one,", "host name"),
        ("redis://one,redis://two:7000", "Cluster is not supported"),
        ("redis://one, redis://two", "host name"),
        (",redis://one", "begin with"),
        ("sentinel://one,two", "primary's name"),
        ("sentinel://one,/saratoga", "primary's name"),
        ("sentinel://one:x,two/saratoga", "primary's name"),
        ("sentinel://one/saratoga?ssl_cert_reqs=none", "options of a sentinel"),
        ("redis://my store", "host name"),
        ("redis://store:99999", "A port"),
        ("redis://store:0", "A port"),
        ("redis://store:-1", "A port"),
        ("redis://store:abc", "A port"),
        ("redis://[::1", "A port"),
        ("redis://:a/b@store", "percent-encoded"),
        ("redis://:a#b@store", "percent-encoded"),
        ("redis://:a[b@store", "percent-encoded"),
        ("redis://store/two", "number of a database"),
        ("redis://store/0/1", "number of a database"),
        ("redis://store?db=two", "must be a number"),
        ("redis://store?databse=1", "The options of a redis:// address are db"),
        ("redis://store?ssl_cert_reqs=none", "The options of a redis:// address are db"),
        ("rediss://store?ssl_cert_reqs=no", "ssl_cert_reqs must be one of"),
        ("unix://", "A path must follow"),
        ("unix:///", "A path must follow"),
        ("unix://run/redis.sock", "A path must follow"),
        ("unix:/run/redis.sock", "begin with"),
    ],
)
def test_an_address_that_would_lead_elsewhere_is_refused_with_a_reason(url: str, says: str) -> None:
    fault = fault_in(url)
    assert fault is not None
    assert says in fault
    assert "hush" not in fault


# Store connections without redis-py: the URL sets login, database and TLS


async def asked(url: str, *words: str) -> Any:
    """Return the reply to one command on a new connection."""
    async with asyncio.timeout(10):
        link = await dial(url)
        try:
            return (await link.ask([words]))[0]
        finally:
            link.abort()
            await asyncio.sleep(0)


@pytest.fixture
def locked(store_server: StoreServer) -> Iterator[StoreServer]:
    """A store with a user whose name and password have characters that an address must encode."""
    rules = ("on", ">a/b@c", "~*", "&*", "+@all")
    assert store_server.ask("ACL", "SETUSER", "z@e", *rules) == b"+OK"
    yield store_server
    store_server.ask("ACL", "DELUSER", "z@e")


@pytest.mark.parametrize(
    "query", ["username=z%40e&password=a%2Fb%40c", "db=3&username=z%40e&password=a%2Fb%40c"]
)
async def test_user_password_and_database_are_those_of_the_address(
    locked: StoreServer, query: str
) -> None:
    url = f"{locked.url}?{query}"
    assert await asked(url, "ACL", "WHOAMI") == b"z@e"
    assert b" db=%d " % (3 if "db=3" in query else 0) in await asked(url, "CLIENT", "INFO")


async def test_a_refused_login_is_reported(locked: StoreServer) -> None:
    with pytest.raises(StoreUnavailable, match="WRONGPASS"):
        await dial(f"{locked.url}?username=z%40e&password=other")


async def test_an_address_without_a_store_is_reported(tmp_path: Path) -> None:
    for url in (f"unix://{tmp_path}/nothing", "redis://127.0.0.1:1"):
        with pytest.raises(StoreUnavailable):
            await dial(url)


@pytest.fixture
def certificate(tmp_path: Path) -> Path:
    """A self-signed certificate for localhost, with its key beside it."""
    return write_certificate(tmp_path, "DNS:localhost")


@pytest.fixture
async def tls_port(locked: StoreServer, certificate: Path) -> AsyncIterator[int]:
    """A port that forwards TLS connections to the store."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, certificate.with_name("privkey.pem"))

    async def carry(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(1 << 16):
            writer.write(data)
        writer.close()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        behind, before = await asyncio.open_unix_connection(locked.socket)
        await asyncio.gather(carry(reader, before), carry(behind, writer), return_exceptions=True)

    async with await asyncio.start_server(serve, "localhost", 0, ssl=context) as server:
        port: int = server.sockets[0].getsockname()[1]
        yield port


@pytest.mark.needs("openssl")
async def test_tls_user_and_password_hold_over_tcp(tls_port: int, certificate: Path) -> None:
    url = f"rediss://z%40e:a%2Fb%40c@localhost:{tls_port}/2?ssl_ca_certs={certificate}"
    assert await asked(url, "ACL", "WHOAMI") == b"z@e"
    assert b" db=2 " in await asked(url, "CLIENT", "INFO")


@pytest.mark.needs("openssl")
async def test_a_certificate_and_its_name_are_verified_unless_the_address_says_otherwise(
    tls_port: int, certificate: Path
) -> None:
    for url, unless in (
        (f"rediss://localhost:{tls_port}?", "ssl_cert_reqs=none"),
        (f"rediss://127.0.0.1:{tls_port}?ssl_ca_certs={certificate}&", "ssl_check_hostname=false"),
    ):
        with pytest.raises(StoreUnavailable, match="CERTIFICATE_VERIFY_FAILED"):
            await dial(url)
        assert await asked(url + unless, "PING") == b"PONG"


# redis-py clients: replies as bytes, and an immediate error when the store is gone


async def test_a_task_that_sends_commands_can_be_cancelled_at_any_moment(
    store_server: StoreServer,
) -> None:
    client = open_client(store_server.url)

    async def ask_on_and_on() -> None:
        while True:
            assert await client.echo("again") == b"again"

    try:
        for turns in range(60):
            asking = asyncio.create_task(ask_on_and_on())
            for _ in range(turns):
                await asyncio.sleep(0)
            asking.cancel()
            await asyncio.wait([asking], timeout=10)
            assert asking.cancelled(), f"not after {turns} turns of the loop"
            assert await client.ping()
    finally:
        await client.aclose()


# The Sentinels of a store are asked often while it is away, and whoever asks may be cancelled


async def test_a_question_to_the_sentinels_can_be_cancelled_at_any_moment() -> None:
    connections: list[asyncio.Task[Any]] = []

    async def sentinel(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connections.extend(filter(None, [asyncio.current_task()]))
        facts = "ip", "store", "port", "7", "config-epoch", "1", "flags", "master"
        with suppress(ConnectionError):
            while await reader.read(1 << 10):
                writer.write(b"+OK\r\n*8\r\n" + "".join(f"+{each}\r\n" for each in facts).encode())
        writer.close()

    async with await asyncio.start_server(sentinel, "127.0.0.1", 0) as server:
        host, port = server.sockets[0].getsockname()
        sentinels = Sentinels(f"sentinel://{host}:{port},{host}:{port}/saratoga")
        for turns in range(100):
            asking = asyncio.create_task(sentinels.primary())
            for _ in range(turns):
                await asyncio.sleep(0)
            if not asking.cancel():
                break
            with pytest.raises(asyncio.CancelledError):
                await asking
            async with asyncio.timeout(WITHIN):
                await asyncio.gather(*connections)
        assert await asking == ("store", 7)


# Calls to a store: dropped Functions are loaded again, and a call fails within a bounded time


async def test_a_command_waits_for_a_store_that_restarts(mortal_store: StoreServer) -> None:
    async with open_store(mortal_store.url) as store:
        await store.client.command("SET", "key", "kept")
        mortal_store.kill()
        asked = asyncio.create_task(store.client.command("GET", "key"))
        await asyncio.sleep(0)
        mortal_store.start()
        assert await asked == b"kept"


# A connection to the store: replies in order, in chunks of any size


async def test_replies_arrive_whole_however_they_are_cut() -> None:
    link = Link()
    replies: list[Any] = []
    link.connection_made(FakeTransport())
    link.request(b"", 3, replies.extend)
    for byte in b":1\r\n*2\r\n$1\r\na\r\n$-1\r\n-ERR no\r\n":
        assert not replies
        link.data_received(bytes([byte]))
    *whole, error = replies
    assert whole == [1, [b"a", None]]
    assert isinstance(error, hiredis.ReplyError)
    link.request(b"", 2, replies.extend)
    link.data_received(b":2\r\n:3\r\n")
    assert replies[3:] == [2, 3]
    link.abort()


# Commits to one primary: those of one turn of the event loop share a request


async def test_commits_of_one_turn_share_a_request(store_server: StoreServer) -> None:
    batches: list[int] = []
    async with open_store(store_server.url, on_batch=batches.append) as store:
        assert isinstance(store.commits, Commits)
        await running_race(store)
        one, two = (
            store.commits.commit(move("draw", 0)),
            store.commits.commit(move("draw", 0, player=BERT)),
        )
        assert [(await each).status for each in (one, two)] == [CommitStatus.DONE] * 2
        assert batches == [2]
        third = store.commits.commit(move("draw", 1, player=ANNA))
        assert (await third).length == 2
        assert batches == [2, 1]


# Batches of commits as requests: one Function call, then the replica's confirmation


@pytest.mark.parametrize(
    ("replicas", "replies", "confirmed"),
    [
        (0, (), True),
        (1, (b"OK", 1), True),
        (2, (True, 2), True),
        pytest.param(2, (b"OK", 1), False, id="too few in time"),
        pytest.param(1, (Exception("OOM no memory"), 1), False, id="the mark was not written"),
        pytest.param(1, (b"OK", Exception("ERR WAIT cannot be used")), False, id="none was asked"),
    ],
)
def test_a_write_is_confirmed_by_enough_replicas(
    replicas: int, replies: tuple[Any, ...], confirmed: bool
) -> None:
    assert is_confirmed(replies, replicas) == confirmed


# The store's errors: transient or permanent


LIBRARY = """#!lua name=tests
redis.register_function{function_name='write', callback=function(keys, args)
  return redis.call('SET', keys[1], 'value')
end}
"""


def test_what_a_store_that_became_a_replica_answers_to_a_function_is_transient(
    store_server: StoreServer,
) -> None:
    call = ("FCALL", "write", "1", "key")
    store_server.ask("FUNCTION", "LOAD", LIBRARY)
    assert store_server.ask(*call) == b"+OK"
    assert store_server.ask("REPLICAOF", "127.0.0.1", "1") == b"+OK"
    found = store_server.ask(*call).decode()
    store_server.ask("REPLICAOF", "NO", "ONE")
    assert found.startswith("-READONLY ")
    assert is_transient(found.removeprefix("-"))


@pytest.fixture
async def valkey(store_server: StoreServer) -> AsyncIterator[Store]:
    async with open_store(store_server.url) as opened:
        yield opened


@calm
async def test_every_node_that_listens_hears_an_event(store: Store) -> None:
    async with recording(store.events, "east") as east:
        assert store.events.is_listening
        assert await store.events.publish(Announce("Zoë says hello.")) == 1
        await east.receives(Announce("Zoë says hello."))
    async with asyncio.timeout(WITHIN):  # the store learns of a closed connection a little later
        while await store.events.publish(Announce("hello")):
            pass


async def test_neither_junk_nor_a_handler_that_fails_ends_the_subscription(valkey: Store) -> None:
    async with recording(valkey.events, "east") as east:
        for junk in (
            *(b"\xc1junk", b"", b"\x81\xa4kind\xa4brew", b"\x91" * 100_000),
            msgpack.packb({"kind": "brew", "tea": True}),
            msgpack.packb({"kind": "player", "player": 7}),
            msgpack.packb({"kind": "announce", "text": b"\xff"}),
        ):
            await valkey.client.command("PUBLISH", NEWS, junk)
        east.faults.append(ValueError("a mistake"))
        await valkey.events.publish(Announce("first"))
        await valkey.events.publish(Announce("second"))
        await east.receives(Announce("second"))
        assert (east.faults, east.subscriptions) == ([], 1)


@pytest.mark.parametrize("mortal_store", ["valkey"], indirect=True)
async def test_a_slow_or_failing_catch_up_does_not_end_the_subscription(
    mortal_store: StoreServer,
) -> None:
    async with open_store(mortal_store.url) as store, recording(store.events, "east") as east:
        east.catch_up = asyncio.Event()
        mortal_store.kill()
        mortal_store.start()
        await east.until(lambda: east.subscriptions == 2)
        for _ in range(2):
            assert store.events.is_listening
            heard = len(east.events)
            await store.events.publish(Announce(f"after {heard}"))
            await east.receives(Announce(f"after {heard}"))
            east.catch_up.set()
        assert east.subscriptions == 2


@pytest.mark.parametrize("store_server", ["valkey"], indirect=True)
async def test_half_open_connections_are_replaced(store_server: StoreServer) -> None:
    """A half-open connection reports no error, and nothing arrives."""
    async with (
        open_link(to_socket(store_server.socket), socket=store_server.folder / "link") as link,
        open_store(link.url) as near,
        open_store(store_server.url) as far,
        recording(near.events, "east") as east,
    ):
        link.go_half_open()
        await far.events.publish(Announce("unheard"))
        await east.until(lambda: east.subscriptions == 2)
        await far.events.publish(Announce("hello"))
        await east.receives(Announce("hello"))
    assert Announce("unheard") not in east.events
