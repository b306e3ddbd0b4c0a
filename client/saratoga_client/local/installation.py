"""The command that installs this program on a friend's machine.

The command names the repository of this installation, from the metadata of PEP 610 or from the
clone's origin. If the repository is not public, the command uses the package's name.
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
"""Pattern of repository URLs that need no user name or password."""


def install_line() -> str:
    """Return the shell command that installs this program on a friend's machine."""
    try:
        metadata = distribution(PACKAGE).read_text("direct_url.json") or "{}"
        return line_for(json.decode(metadata))
    except (PackageNotFoundError, OSError, DecodeError):
        return BY_NAME


def line_for(direct: Any) -> str:
    """Return the command for this installation's PEP 610 metadata."""
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
    """Return the command that installs from a repository."""
    return f"pip install git+{url}"


def origin_of(clone: Path) -> str:
    """Return the URL of a clone's origin; empty without a clone or an origin."""
    try:
        text = (clone / ".git" / "config").read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return ""
    found = _ORIGIN.search(text)
    return found[1] if found else ""
