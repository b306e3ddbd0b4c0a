"""The link to a table as a QR code, which the page shows as an image."""

import io
from functools import lru_cache
from typing import Final
from urllib.parse import urlsplit

import segno
from websockets.datastructures import Headers

from saratoga_server.transport.hosts import Hosts

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
    image = io.BytesIO()
    code = segno.make_qr(link, error="m")
    code.save(
        image, kind="svg", border=4, light="#fff", xmldecl=False, svgclass=None, lineclass=None
    )
    return image.getvalue()
