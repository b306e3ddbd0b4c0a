"""A server that does not rewrite its store's files after a crash, and has a short countdown.

Run it by `python -m kit.files_not_rewritten`, with the server's own options.
"""

from typing import Final

from kit import quick_countdown
from saratoga_server.embedded_store import append_files

MODULE: Final = "kit.files_not_rewritten"
"""The module to run for such a server."""


async def do_not_rewrite(url: str) -> None:
    """Leave the files as they are."""


def main() -> None:
    vars(append_files).update(rewrite=do_not_rewrite)
    quick_countdown.main()


if __name__ == "__main__":
    main()
