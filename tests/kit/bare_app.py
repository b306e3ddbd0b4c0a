"""The smallest program on Textual: `python tests/kit/bare_app.py`.

The measure of how soon a program in a terminal can be there, and what the kit's terminals are tried
with. With `--parting` it is run as Saratoga's own screens are. `q` ends it, `f` is a fault, `l` writes into
the log; after `h` it hangs when it should end, and after `b` it is busy for ever.
"""

import asyncio
import logging
import sys
from typing import ClassVar, Final

from textual.app import ComposeResult
from textual.widgets import Static

from saratoga_client.tui import terminal_guard

SHOWN: Final = "nothing but this"
HANGS: Final = "will never end"
LOGGED: Final = "a logger has something to say"
GOES_ON: Final = "goes on as before"
BUSY: Final = "will never listen"


class BareApp(terminal_guard.TerminalApp):
    """One line of text."""

    BINDINGS: ClassVar = [
        ("q", "quit", "Quit"),
        ("f", "fail", "Fail"),
        ("l", "log", "Log"),
        ("h", "hang", "Hang"),
        ("b", "be_busy", "Be busy"),
    ]
    hangs = False

    def compose(self) -> ComposeResult:
        yield Static(SHOWN)

    def action_fail(self) -> None:
        raise ValueError("as it was asked to")

    def action_log(self) -> None:
        logging.getLogger("saratoga").warning(LOGGED)
        self.query_one(Static).update(GOES_ON)

    def action_hang(self) -> None:
        self.hangs = True
        self.query_one(Static).update(HANGS)

    def action_be_busy(self) -> None:
        self.query_one(Static).update(BUSY)
        self.call_after_refresh(self._be_busy)

    def _be_busy(self) -> None:
        while True:
            pass

    async def on_unmount(self) -> None:
        if self.hangs:
            await asyncio.Event().wait()


if __name__ == "__main__":
    if "--parting" in sys.argv:
        logging.basicConfig()
        sys.exit(asyncio.run(terminal_guard.run(BareApp())))
    BareApp().run()
