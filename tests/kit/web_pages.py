"""The page as a server answers it: its files, and requests for it."""

from typing import Final

from websockets.datastructures import Headers

from saratoga_server.transport.web_files import KINDS, WebFile, WebFiles, web_file

OWN: Final = Headers([("Host", "localhost:7470")])
"""The headers of a browser that asks by a name of the server."""

SCRIPT: Final = web_file(b"export const nothing = 0;\n" * 20, KINDS[".js"])
SMALL: Final = web_file(b"{}", KINDS[".css"])

WEB_FILES: Final = WebFiles(
    version="0123456789abcdef0123",
    index=web_file(b"<!doctype html><title>Saratoga</title>", KINDS[".html"]),
    files={"main.js": SCRIPT, "page.css": SMALL},
)


def asking(**more: str) -> Headers:
    """Return a browser's headers; `accept_encoding` stands for `Accept-Encoding`."""
    return Headers(
        [*OWN.raw_items(), *((name.replace("_", "-"), value) for name, value in more.items())]
    )


def tag_of(file: WebFile, *, compressed: bool = False) -> str:
    """Return the entity tag of a file."""
    return f'"{file.tag}-gzip"' if compressed else f'"{file.tag}"'
