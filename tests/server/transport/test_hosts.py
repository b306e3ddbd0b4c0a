"""The names by which browsers may reach the server, and the web pages that may connect."""

import socket

import pytest
from websockets.datastructures import Headers

from saratoga_server.transport.hosts import Hosts, own_names

PUBLIC = Hosts(public_url="wss://patience.example.org", origins=("https://play.example",))


def asked(host: str | None, *origins: str) -> Headers:
    named = [] if host is None else [("Host", host)]
    return Headers([*named, *(("Origin", origin) for origin in origins)])


@pytest.mark.parametrize(
    "host",
    [
        *("127.0.0.1:7470", "192.168.1.5", "[::1]:7470", "[fe80::1]", "localhost:7470"),
        *("LocalHost", f"{socket.gethostname()}:7470", "patience.example.org", "play.example"),
    ],
)
def test_an_address_this_machine_and_configured_names_are_served(host: str) -> None:
    assert PUBLIC.serves(asked(host))


@pytest.mark.parametrize(
    "host",
    [
        *("evil.example", "evil.example:7470", "patience.example.org.evil.example", ""),
        *("localhost@evil.example", "evil.example/localhost", "[::1", "localhost:x", None),
    ],
)
def test_a_name_of_somebody_else_is_not_served(host: str | None) -> None:
    assert not PUBLIC.serves(asked(host))


def test_a_request_for_two_names_is_not_served() -> None:
    assert not PUBLIC.serves(Headers([("Host", "localhost"), ("Host", "localhost")]))


def test_the_name_of_this_machine_is_known_to_multicast_dns() -> None:
    first = socket.gethostname().lower().partition(".")[0]
    assert f"{first}.local" in own_names()


@pytest.mark.parametrize(
    ("host", "origin"),
    [
        ("192.168.1.5:7470", "http://192.168.1.5:7470"),
        ("[::1]:7470", "http://[::1]:7470"),
        ("localhost:7470", "http://localhost:7470"),
        ("192.168.1.5", "http://192.168.1.5"),
        ("192.168.1.5", "https://192.168.1.5:443"),
        ("patience.example.org", "https://patience.example.org"),
        ("evil.example", "https://play.example"),
    ],
)
def test_the_servers_own_page_and_configured_ones_may_connect(host: str, origin: str) -> None:
    assert PUBLIC.admits(asked(host, origin))


@pytest.mark.parametrize(
    ("host", "origin"),
    [
        ("192.168.1.5:7470", "http://evil.example"),
        ("192.168.1.5:7470", "http://192.168.1.5:8080"),
        ("192.168.1.5:7470", "http://192.168.1.5"),
        ("192.168.1.5:7470", "http://192.168.1.6:7470"),
        ("evil.example:7470", "http://evil.example:7470"),
        ("localhost", "null"),
        ("localhost", ""),
        ("localhost", "file://localhost"),
        ("localhost", "http://localhost/"),
        ("localhost", "http://localhost, http://localhost"),
        ("localhost", "http://x@localhost"),
        ("patience.example.org", "http://patience.example.org"),
        (None, "http://localhost"),
    ],
)
def test_other_pages_and_rebound_names_may_not_connect(host: str | None, origin: str) -> None:
    assert not PUBLIC.admits(asked(host, origin))


def test_two_origins_may_not_connect() -> None:
    assert not PUBLIC.admits(asked("localhost", "http://localhost", "http://localhost"))


def test_a_program_without_an_origin_may_connect_by_any_name() -> None:
    assert PUBLIC.admits(asked("whatever.example"))
    assert PUBLIC.admits(asked(None))


def test_only_pages_over_tls_may_connect_to_a_server_with_tls() -> None:
    hosts = Hosts(is_tls=True)
    assert hosts.admits(asked("192.168.1.5:7470", "https://192.168.1.5:7470"))
    assert not hosts.admits(asked("192.168.1.5:7470", "http://192.168.1.5:7470"))
