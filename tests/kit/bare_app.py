"""The smallest program on Textual: `python tests/kit/bare_app.py`.

With `--guarded` it runs under the client's terminal guard. Keys: `q` quits, `f` raises an error,
`h` makes the program hang when it quits, `b` makes it loop for ever, `l` raises an error after
SIGTERM.
"""

import asyncio
import logging
import signal
import sys
from typing import ClassVar, Final

from textual.app import ComposeResult
from textual.widgets import Static

from saratoga_client.tui import terminal_guard

SHOWN: Final = "this is the only line"
HANGS: Final = "will never end"
BUSY: Final = "will never read a key"


class BareApp(terminal_guard.TerminalApp):
    """An app that shows one line of text."""

    BINDINGS: ClassVar = [
        ("q", "quit", "Quit"),
        ("f", "fail", "Fail"),
        ("h", "hang", "Hang"),
        ("b", "be_busy", "Be busy"),
        ("l", "fail_late", "Fail late"),
    ]
    hangs = False

    def compose(self) -> ComposeResult:
        yield Static(SHOWN)

    def action_fail(self) -> None:
        raise ValueError("raised by the key f")

    def action_hang(self) -> None:
        self.hangs = True
        self.query_one(Static).update(HANGS)

    def action_fail_late(self) -> None:
        signal.raise_signal(signal.SIGTERM)
        raise ValueError("raised after the signal")

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
    if "--guarded" in sys.argv:
        logging.basicConfig()
        sys.exit(asyncio.run(terminal_guard.run(BareApp())))
    BareApp().run()
