"""Whose connection it is, whatever the headers say."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from saratoga_server.rate_limits.addresses import client_address, household, is_loopback


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
def test_an_address_is_counted_by_its_household(address: str, counted_as: str) -> None:
    assert household(address) == counted_as


@pytest.mark.parametrize("address", ["127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1", ""])
def test_this_machine_calls_from_the_loopback_address(address: str) -> None:
    assert is_loopback(address)


@pytest.mark.parametrize("address", ["10.0.0.1", "0.0.0.0", "2001:db8::1", "localhost"])
def test_nobody_else_does(address: str) -> None:
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
        # fewer than the proxies would have written: it came past them
        (["198.51.100.1"], 2, PROXY),
        ([], 1, PROXY),
        ([""], 1, PROXY),
        (["198.51.100.1, unknown"], 1, PROXY),
        (["198.51.100.1, "], 1, PROXY),
        (["198.51.100.1;proto=http"], 1, PROXY),
        (["[2001:db8::7]:1234"], 1, "[2001:db8::7]:1234"),
    ],
)
def test_only_what_the_hosts_own_proxies_wrote_is_believed(
    headers: list[str], proxies: int, client: str
) -> None:
    assert client_address(PROXY, headers, proxies) == client


@given(st.lists(st.text(max_size=20), max_size=3), st.integers(1, 3))
def test_whoever_writes_to_the_left_changes_nothing(spoofed: list[str], proxies: int) -> None:
    real = ["198.51.100.1", "10.0.0.7", "10.0.0.8"][:proxies]
    found = client_address(PROXY, [*spoofed, ", ".join(real)], proxies)
    assert found == "198.51.100.1"


@given(st.text(), st.integers(0, 4))
def test_no_header_makes_trouble(header: str, proxies: int) -> None:
    household(client_address(PROXY, [header], proxies))
    household(header)
    is_loopback(header)
