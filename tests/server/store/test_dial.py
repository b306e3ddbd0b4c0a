"""Store connections without redis-py: the URL sets login, database and TLS."""

import asyncio
import ssl
import subprocess
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest

from kit.programs import program
from kit.stores import StoreServer
from saratoga_server.ports import StoreUnavailable
from saratoga_server.store.dial import dial
from saratoga_server.store.resp_connection import RespConnection, encode_command


async def asked(url: str, *words: str) -> Any:
    """Return the reply to one command on a new connection."""
    reply: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
    async with asyncio.timeout(10):
        transport = await dial(url)
        connection = RespConnection(transport, reply.set_result, lambda: None)
        try:
            connection.send(encode_command(*words))
            return await reply
        finally:
            connection.abort()
            await asyncio.sleep(0)


@pytest.fixture
def locked(store_server: StoreServer) -> Iterator[StoreServer]:
    """A store with a user whose name and password have characters that an address must encode."""
    rules = ("on", ">a/b@c", "~*", "&*", "+@all")
    assert store_server.ask("ACL", "SETUSER", "z@e", *rules) == b"+OK"
    yield store_server
    store_server.ask("ACL", "DELUSER", "z@e")


async def test_a_connection_shows_whose_it_is(store_server: StoreServer) -> None:
    assert await asked(store_server.url, "CLIENT", "GETNAME") == b"saratoga"


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


async def test_a_store_that_hangs_up_is_reported(tmp_path: Path) -> None:
    async def hang_up(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.close()

    async with await asyncio.start_unix_server(hang_up, tmp_path / "s"):
        with pytest.raises(StoreUnavailable):
            await dial(f"unix://{tmp_path}/s")


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
