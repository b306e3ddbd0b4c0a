"""Client addresses: the key of the limits, and the trusted entry of X-Forwarded-For."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from saratoga_server.rate_limits.addresses import client_address, is_loopback, network_of


@pytest.mark.parametrize(
    ("address", "counted_as"),
    [
        ("203.0.113.7", "203.0.113.7"),
        ("203.0.113.7:4711", "203.0.113.7"),
        (" 203.0.113.7 ", "203.0.113.7"),
        ("::ffff:203.0.113.7", "203.0.113.7"),
        ("[::ffff:203.0.113.7]:4711", "203.0.113.7"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("[2001:db8:1:2:ffff::]:443", "2001:db8:1:2::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("", ""),
        ("unknown", ""),
        ("_hidden", ""),
        ("203.0.113", ""),
        ("203.0.113.7, 198.51.100.1", ""),
    ],
)
def test_an_ipv4_address_counts_alone_and_an_ipv6_address_by_its_64(
    address: str, counted_as: str
) -> None:
    assert network_of(address) == counted_as


@pytest.mark.parametrize("address", ["127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1", ""])
def test_loopback_addresses_and_none_are_loopback(address: str) -> None:
    assert is_loopback(address)


@pytest.mark.parametrize("address", ["10.0.0.1", "0.0.0.0", "2001:db8::1", "localhost"])
def test_other_addresses_are_not_loopback(address: str) -> None:
    assert not is_loopback(address)


SPOOFED = "127.0.0.1, 10.0.0.1"
PROXY = "10.0.0.9"


@pytest.mark.parametrize(
    ("headers", "proxies", "client"),
    [
        ([SPOOFED], 0, PROXY),
        (["198.51.100.1"], 1, "198.51.100.1"),
        ([f"{SPOOFED}, 198.51.100.1"], 1, "198.51.100.1"),
        ([SPOOFED, "198.51.100.1"], 1, "198.51.100.1"),
        (["198.51.100.1, 10.0.0.8"], 2, "198.51.100.1"),
        ([f"{SPOOFED},198.51.100.1,10.0.0.8"], 2, "198.51.100.1"),
        # fewer entries than the proxies add: the connection bypassed the proxies
        (["198.51.100.1"], 2, PROXY),
        ([], 1, PROXY),
        ([""], 1, PROXY),
        (["198.51.100.1, unknown"], 1, PROXY),
        (["198.51.100.1, "], 1, PROXY),
        (["198.51.100.1;proto=http"], 1, PROXY),
        (["[2001:db8::7]:1234"], 1, "[2001:db8::7]:1234"),
    ],
)
def test_only_entries_that_trusted_proxies_wrote_are_believed(
    headers: list[str], proxies: int, client: str
) -> None:
    assert client_address(PROXY, headers, proxies) == client


@given(st.lists(st.text(max_size=20), max_size=3), st.integers(1, 3))
def test_entries_further_left_change_nothing(spoofed: list[str], proxies: int) -> None:
    real = ["198.51.100.1", "10.0.0.7", "10.0.0.8"][:proxies]
    found = client_address(PROXY, [*spoofed, ", ".join(real)], proxies)
    assert found == "198.51.100.1"


@given(st.text(), st.integers(0, 4))
def test_no_header_raises(header: str, proxies: int) -> None:
    network_of(client_address(PROXY, [header], proxies))
    network_of(header)
    is_loopback(header)
