"""Connections to a store: addresses, dialling, replies whole and in order, and losses."""

import asyncio
import ssl
import subprocess
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import hiredis
import pytest

from kit.fake_transport import FakeTransport
from kit.programs import program
from kit.stores import StoreServer
from saratoga_server.ports import StoreUnavailable
from saratoga_server.store.addresses import fault_in
from saratoga_server.store.client import open_client
from saratoga_server.store.link import Link, dial
from saratoga_server.store.opening import open_store

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
    path = tmp_path / "certificate.pem"
    subprocess.run(
        [
            *(program("openssl"), "req", "-x509", "-newkey", "ec", "-nodes", "-days", "2"),
            *("-pkeyopt", "ec_paramgen_curve:prime256v1", "-subj", "/CN=localhost"),
            *("-addext", "subjectAltName=DNS:localhost"),
            *("-keyout", tmp_path / "key.pem", "-out", path),
        ],
        check=True,
        capture_output=True,
    )
    return path


@pytest.fixture
async def tls_port(locked: StoreServer, certificate: Path) -> AsyncIterator[int]:
    """A port that forwards TLS connections to the store."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, certificate.with_name("key.pem"))

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
async def test_a_certificate_is_verified_unless_the_address_says_otherwise(tls_port: int) -> None:
    with pytest.raises(StoreUnavailable, match="CERTIFICATE_VERIFY_FAILED"):
        await dial(f"rediss://localhost:{tls_port}")
    assert await asked(f"rediss://localhost:{tls_port}?ssl_cert_reqs=none", "PING") == b"PONG"


@pytest.mark.needs("openssl")
async def test_the_name_in_the_certificate_is_checked_unless_the_address_says_otherwise(
    tls_port: int, certificate: Path
) -> None:
    url = f"rediss://127.0.0.1:{tls_port}?ssl_ca_certs={certificate}"
    with pytest.raises(StoreUnavailable, match="CERTIFICATE_VERIFY_FAILED"):
        await dial(url)
    assert await asked(f"{url}&ssl_check_hostname=false", "PING") == b"PONG"


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
