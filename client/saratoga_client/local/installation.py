"""The commands that install this program on a friend's machine, or its server on this one.

They name the public repository of this installation, from the metadata of PEP 610 or from the
clone's origin. The package has no published name, so no command installs it by name.
"""

import re
import shlex
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote, urlsplit

from msgspec import DecodeError, json

PACKAGE: Final = "saratoga"

_ORIGIN: Final = re.compile(r'^\[remote "origin"\]\n(?:\s+.*\n)*?\s+url\s*=\s*(\S+)', re.MULTILINE)
_PUBLIC: Final = re.compile(r"https://[\w.-]+(?::\d+)?/[\w./~-]+")
"""Pattern of repository URLs that need no user name or password."""


def install_line() -> str:
    """Return the shell command that installs this program on a friend's machine.

    Empty if this installation comes from no public repository.
    """
    repository = repository_of(_direct_url())
    return f"pip install git+{repository}" if repository else ""


def server_install_line() -> str:
    """Return the shell command that adds the server to this installation."""
    direct = _direct_url()
    if repository := repository_of(direct):
        return f"pip install '{PACKAGE}[server] @ git+{repository}'"
    folder = _folder_of(direct)
    if folder is not None and folder.is_dir():
        return f"pip install {shlex.quote(f'{folder}[server]')}"
    return "pip install '.[server]', in a clone of Saratoga"


def repository_of(direct: Any) -> str:
    """Return the URL of the public repository in PEP 610 metadata; empty for none."""
    url = _url_of(direct)
    if _PUBLIC.fullmatch(url) and "vcs_info" in direct:
        return url
    folder = _folder_of(direct)
    origin = "" if folder is None else origin_of(folder)
    return origin if _PUBLIC.fullmatch(origin) else ""


def _direct_url() -> Any:
    """Return this installation's PEP 610 metadata; an empty object without any."""
    try:
        return json.decode(distribution(PACKAGE).read_text("direct_url.json") or "{}")
    except (PackageNotFoundError, OSError, DecodeError):
        return {}


def _url_of(direct: Any) -> str:
    url = direct.get("url") if isinstance(direct, dict) else None
    return url if isinstance(url, str) else ""


def _folder_of(direct: Any) -> Path | None:
    """Return the folder from which this program was installed; `None` for another source."""
    url = _url_of(direct)
    return Path(unquote(urlsplit(url).path)) if url.startswith("file://") else None


def origin_of(clone: Path) -> str:
    """Return the URL of a clone's origin; empty without a clone or an origin."""
    try:
        text = (clone / ".git" / "config").read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return ""
    found = _ORIGIN.search(text)
    return found[1] if found else ""
