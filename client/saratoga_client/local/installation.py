"""How a friend's machine is made ready: as this one was, where that can be done elsewhere too.

What was installed from a repository says so in its metadata (PEP 610), and a clone knows where it
was cloned from. Without such a place there is the name of the package.
"""

import re
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote, urlsplit

from msgspec import DecodeError, json

PACKAGE: Final = "saratoga"
BY_NAME: Final = f"pip install {PACKAGE}"

_ORIGIN: Final = re.compile(r'^\[remote "origin"\]\n(?:\s+.*\n)*?\s+url\s*=\s*(\S+)', re.MULTILINE)
_PUBLIC: Final = re.compile(r"https://[\w.-]+(?::\d+)?/[\w./~-]+")
"""Addresses that others can reach, without a name and a password in them."""


def install_line() -> str:
    """The line that friends type to have this program."""
    try:
        told = distribution(PACKAGE).read_text("direct_url.json") or "{}"
        return line_for(json.decode(told))
    except (PackageNotFoundError, OSError, DecodeError):
        return BY_NAME


def line_for(direct: Any) -> str:
    """The same, for what PEP 610 says about this installation."""
    url = direct.get("url") if isinstance(direct, dict) else None
    if not isinstance(url, str):
        return BY_NAME
    if "vcs_info" in direct and _PUBLIC.fullmatch(url):
        return from_repository(url)
    if url.startswith("file://"):
        origin = origin_of(Path(unquote(urlsplit(url).path)))
        if _PUBLIC.fullmatch(origin):
            return from_repository(origin)
    return BY_NAME


def from_repository(url: str) -> str:
    """What installs from a repository; quoted where a shell might take it apart."""
    return f"pip install git+{url}"


def origin_of(clone: Path) -> str:
    """Where a clone comes from; empty where there is no clone, or it does not say."""
    try:
        text = (clone / ".git" / "config").read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return ""
    found = _ORIGIN.search(text)
    return found[1] if found else ""
