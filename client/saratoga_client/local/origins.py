"""The origin of a server's address; each origin has a separate token.

Pure. Addresses that differ only in spelling have the same origin. An origin includes the scheme,
because a token that was sent without TLS may have been intercepted and must not be valid with TLS.
An origin excludes the path, because one program serves all paths of a port. All addresses of local
networks have one origin, because a host's machine has another address in the next evening.
"""

from ipaddress import IPv6Address, ip_address
from typing import Final
from urllib.parse import urlsplit

from saratoga_client.problems import Exit, Problem

THIS_MACHINE: Final = "localhost"
"""The host in the origin of every loopback address; the port distinguishes local servers."""

LOCAL_NETWORK: Final = "lan"
"""The host in the origin of every private or link-local address."""

DEFAULT_SERVER: Final = "ws://127.0.0.1:7470"
"""The address of the server if none is named."""

WEBSOCKET_SCHEMES: Final = {"ws": "ws", "wss": "wss", "http": "ws", "https": "wss"}
"""The scheme of a server's address for each scheme of a URL that may name a server."""

_DEFAULT_PORTS: Final = {"ws": 80, "wss": 443}


def origin_of(server: str) -> str:
    """Return the origin of an address; raises `ValueError`.

    >>> origin_of("wss://Cards.Example.ORG./table"), origin_of("ws://192.168.1.7:7470")
    ('wss://cards.example.org:443', 'ws://lan:7470')
    """
    address = normal_address(server)
    parts = urlsplit(address)
    try:
        is_local = ip_address(parts.hostname or "").is_private
    except ValueError:
        is_local = False
    return f"{parts.scheme}://{LOCAL_NETWORK}:{parts.port}" if is_local else address


def normal_address(server: str) -> str:
    """Return the normal form of an address, without its path; raises `ValueError`.

    >>> normal_address("ws://[::1]:7470")
    'ws://localhost:7470'
    """
    parts = urlsplit(server.strip())
    if parts.scheme not in _DEFAULT_PORTS or not parts.hostname or parts.port == 0:
        raise ValueError(f"{server!r} is not the address of a server")
    port = _DEFAULT_PORTS[parts.scheme] if parts.port is None else parts.port
    return f"{parts.scheme}://{_host(parts.hostname)}:{port}"


def check_address(server: str) -> str:
    """Return the normal form of a server's address; raises `Problem` if it is none."""
    try:
        return normal_address(server)
    except ValueError:
        raise Problem(
            f"{server!r} is not the address of a server.",
            "An address looks like ws://127.0.0.1:7470 or wss://cards.example.org.",
            Exit.USAGE,
        ) from None


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
    """Return a host name in ASCII, as DNS needs it; a name that cannot be encoded stays unchanged."""
    try:
        return name.encode("idna").decode()
    except UnicodeError:
        return name


def is_this_machine(url: str) -> bool:
    """Return whether only this machine can reach that address."""
    return urlsplit(url).hostname in ("localhost", "127.0.0.1", "::1")
