"""Which house an address leads to, so far as a player's tokens are concerned.

Pure. Two addresses are the same house if they differ in spelling only. Whether a connection is
encrypted counts: a token that went over an open line may have been read there, and must not open the
house behind TLS. Paths do not count: whoever answers at a port answers for all its paths.
"""

from ipaddress import IPv6Address, ip_address
from typing import Final
from urllib.parse import urlsplit

THIS_MACHINE: Final = "localhost"
"""One word for every way to say that; houses here, or behind tunnels, differ by their ports alone."""

_DEFAULT_PORTS: Final = {"ws": 80, "wss": 443}


def origin_of(server: str) -> str:
    """The house at that address, written in the one way there is; `ValueError` if it is none.

    >>> origin_of("wss://Cards.Example.ORG./evening")
    'wss://cards.example.org:443'
    >>> origin_of("ws://[::1]:7470")
    'ws://localhost:7470'
    """
    parts = urlsplit(server.strip())
    if parts.scheme not in _DEFAULT_PORTS or not parts.hostname or parts.port == 0:
        raise ValueError(f"{server!r} is not the address of a house")
    port = _DEFAULT_PORTS[parts.scheme] if parts.port is None else parts.port
    return f"{parts.scheme}://{_host(parts.hostname)}:{port}"


def _host(written: str) -> str:
    name = written.lower().rstrip(".")
    if not name:
        raise ValueError("a name of dots alone")
    try:
        address = ip_address(name)
    except ValueError:
        return THIS_MACHINE if name == THIS_MACHINE else _in_ascii(name)
    if isinstance(address, IPv6Address) and address.ipv4_mapped is not None:
        address = address.ipv4_mapped
    if address.is_loopback:
        return THIS_MACHINE
    return f"[{address}]" if isinstance(address, IPv6Address) else str(address)


def _in_ascii(name: str) -> str:
    """As the name is looked up; one that cannot be stays as it was written."""
    try:
        return name.encode("idna").decode()
    except UnicodeError:
        return name


def is_this_machine(url: str) -> bool:
    """Whether nobody but this machine can reach that address."""
    return urlsplit(url).hostname in ("localhost", "127.0.0.1", "::1")
