"""Whose connection it is: the address that limits are counted by.

A house of IPv6 has 2^64 addresses at least, so there one is counted by its /64 (RFC 6177). What a
proxy says of the client is believed only from the proxies that the host has named the number of:
each adds the address it was called from at the right end of `X-Forwarded-For`, and what stands
further to the left may be the client's own invention. `Forwarded` (RFC 7239) is not read.
"""

from collections.abc import Sequence
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import Final

HEADER: Final = "X-Forwarded-For"

IPV6_BLOCK: Final = 64
"""Bits of an IPv6 address that name a household."""

NOBODY: Final = ""
"""The address of what has none, such as a Unix socket."""


def household(address: str) -> str:
    """What limits are counted by: an IPv4 address, or the /64 of an IPv6 address."""
    found = _parsed(address)
    if found is None:
        return NOBODY
    if isinstance(found, IPv4Address):
        return str(found)
    return str(ip_network((found, IPV6_BLOCK), strict=False))


def is_loopback(address: str) -> bool:
    """Whether nobody but this machine can call from there; a Unix socket has no address at all."""
    found = _parsed(address)
    return address == NOBODY if found is None else found.is_loopback


def client_address(peer: str, forwarded: Sequence[str], proxies: int) -> str:
    """The client's address: the `proxies`-th from the right of what the headers say together.

    Where that is missing or is no address, the peer's own: it is somebody who came past the
    proxies, or a proxy that says nothing, and is counted as one.
    """
    if proxies == 0:
        return peer
    entries = ",".join(forwarded).rsplit(",", proxies)
    if len(entries) < proxies:
        return peer
    named = entries[-proxies].strip()
    return peer if _parsed(named) is None else named


def _parsed(address: str) -> IPv4Address | IPv6Address | None:
    """The address, without its zone and port if it has them; IPv4 within IPv6 is IPv4."""
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
