"""The client address by which a connection is limited.

Limits count an IPv6 client by its /64, because one household has at least 2^64 addresses (RFC
6177). Each trusted proxy appends the address that it was called from to `X-Forwarded-For`. Entries
further left may be the client's invention and are ignored. `Forwarded` (RFC 7239) is not read.
"""

from collections.abc import Sequence
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import Final

FORWARDED_FOR: Final = "X-Forwarded-For"

IPV6_PREFIX: Final = 64
"""The leading bits of an IPv6 address that limits use."""

HOUSEHOLD_PREFIX: Final = 56
"""The leading bits of an IPv6 address that a whole household shares."""

NO_ADDRESS: Final = ""
"""The address of a connection that has none, such as one over a Unix socket."""


def network_of(address: str, ipv6_prefix: int = IPV6_PREFIX) -> str:
    """Return the key for limits: an IPv4 address, an IPv6 network, or `NO_ADDRESS`."""
    found = _parsed(address)
    if found is None:
        return NO_ADDRESS
    if isinstance(found, IPv4Address):
        return str(found)
    return str(ip_network((found, ipv6_prefix), strict=False))


def is_loopback(address: str) -> bool:
    """Return whether only this machine can connect from that address; true for `NO_ADDRESS`."""
    found = _parsed(address)
    return address == NO_ADDRESS if found is None else found.is_loopback


def client_address(peer: str, forwarded: Sequence[str], proxies: int) -> str:
    """Return the client's address: entry `proxies` from the right of all headers.

    If that entry is missing or is no address, return the peer's own address: either the connection
    bypassed the proxies, or the proxy names no clients and counts as one client itself.
    """
    if proxies == 0:
        return peer
    entries = ",".join(forwarded).rsplit(",", proxies)
    if len(entries) < proxies:
        return peer
    named = entries[-proxies].strip()
    return peer if _parsed(named) is None else named


def _parsed(address: str) -> IPv4Address | IPv6Address | None:
    """Parse an address, ignoring a zone and a port; IPv4 mapped into IPv6 is returned as IPv4."""
    text = address.strip()
    if text.startswith("["):
        text = text[1:].partition("]")[0]
    elif text.count(":") == 1:
        text = text.partition(":")[0]
    try:
        found = ip_address(text.partition("%")[0])
    except ValueError:
        return None
    if isinstance(found, IPv6Address) and found.ipv4_mapped is not None:
        return found.ipv4_mapped
    return found
