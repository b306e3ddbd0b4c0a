"""The names by which browsers may reach this server, and the web pages that may connect.

A page of another site must not play with a browser's token, and a name that was rebound to this
server's address must not make another site's page one of ours. So a browser's `Origin` must be the
`Host` that it asked for, and that must be an address or a name of this server. Other programs send
no origin. The link to a table, which the page shows as a QR code, has one of these names.
"""

import io
import socket
from collections.abc import Iterable
from functools import cache, lru_cache
from ipaddress import ip_address
from typing import Final, NamedTuple
from urllib.parse import urlsplit

from msgspec import Struct
from websockets.datastructures import Headers

_PORTS: Final = {"http": 80, "https": 443, "ws": 80, "wss": 443}
"""The ports that browsers leave out."""

_SECURE: Final = frozenset({"https", "wss"})


class _Place(NamedTuple):
    """A server as a browser names it."""

    host: str
    port: int


class Hosts(Struct, frozen=True, kw_only=True):
    """The rules for `Host` and `Origin`."""

    public_url: str | None = None
    """The address that players connect to, if it is configured."""
    origins: tuple[str, ...] = ()
    """Further origins that may connect."""
    is_tls: bool = False
    """True if the server itself terminates TLS."""

    def serves(self, headers: Headers) -> bool:
        """Return whether the request asks for this server by one of its names."""
        place = _requested(headers)
        return place is not None and self._is_own(place.host)

    def admits(self, headers: Headers) -> bool:
        """Return whether the client may connect: it is no browser, or shows a page that may."""
        origins = headers.get_all("Origin")
        if not origins:
            return True
        if len(origins) != 1:
            return False
        if origins[0] in self.origins:
            return True
        place = _requested(headers)
        if place is None or not self._is_own(place.host):
            return False
        scheme, _, rest = origins[0].partition("://")
        if scheme not in ("http", "https") or (scheme == "http" and self._is_secure(place.host)):
            return False
        return _place(rest, scheme) == _place(headers["Host"], scheme)

    def _is_own(self, host: str) -> bool:
        return _is_address(host) or host in own_names() or host in self._configured()

    def _configured(self) -> Iterable[str]:
        urls = [*self.origins, *([self.public_url] if self.public_url else [])]
        return [urlsplit(url).hostname or "" for url in urls]

    def _is_secure(self, host: str) -> bool:
        """Return whether only pages over TLS may connect by this name."""
        public = urlsplit(self.public_url or "")
        return self.is_tls or (public.scheme in _SECURE and public.hostname == host)


@cache
def own_names() -> frozenset[str]:
    """Return the names of this machine, in lower case; the last one is that of multicast DNS."""
    name = socket.gethostname().lower()
    first = name.partition(".")[0]
    return frozenset({"localhost", name, first, f"{first}.local"}) - {""}


def _requested(headers: Headers) -> _Place | None:
    hosts = headers.get_all("Host")
    return _place(hosts[0], "http") if len(hosts) == 1 else None


def _place(netloc: str, scheme: str) -> _Place | None:
    """Return host and port, or `None` if the text is something else."""
    try:
        parts = urlsplit(f"//{netloc}")
        port = parts.port or _PORTS[scheme]
    except ValueError:
        return None
    if not parts.hostname or parts.netloc != netloc or "@" in netloc:
        return None
    return _Place(parts.hostname, port)


def _is_address(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True


SVG: Final = "image/svg+xml"
MOST_KEPT: Final = 256

_PAGE_SCHEMES: Final = {"ws": "http", "wss": "https", "http": "http", "https": "https"}


def link_to(code: str, hosts: Hosts, headers: Headers) -> str:
    """Return the address at which browsers show a table: the public URL, or this browser's.

    The request's `Host` must be one that `hosts` serves.
    """
    if hosts.public_url is not None:
        public = urlsplit(hosts.public_url)
        base = f"{_PAGE_SCHEMES[public.scheme]}://{public.netloc}{public.path.rstrip('/')}"
    else:
        own = f"{'https' if hosts.is_tls else 'http'}://{headers['Host']}"
        # a proxy may speak TLS
        base = next(
            (each for each in hosts.origins if urlsplit(each).netloc == headers["Host"]), own
        )
    return f"{base}/{code}"


@lru_cache(MOST_KEPT)
def qr_svg(link: str) -> bytes:
    """Return the QR code of a link as an SVG image without styles. It takes some milliseconds."""
    import segno  # not at the start, which it would make longer

    image = io.BytesIO()
    code = segno.make_qr(link, error="m")
    code.save(
        image, kind="svg", border=4, light="#fff", xmldecl=False, svgclass=None, lineclass=None
    )
    return image.getvalue()
