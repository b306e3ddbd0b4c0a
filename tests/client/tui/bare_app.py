"""The smallest program under the client's terminal guard, for `test_app.py`.

Keys: `q` quits, `f` raises an error, `h` makes the program hang when it quits, `b` makes it loop
for ever, `l` raises an error after SIGTERM.
"""

import asyncio
import logging
import signal
import sys

from textual.app import ComposeResult
from textual.widgets import Static

from saratoga_client.tui import terminal_guard


class BareApp(terminal_guard.TerminalApp):
    """An app that shows one line of text."""

    hangs = False

    def compose(self) -> ComposeResult:
        yield Static("this is the only line")

    def key_q(self) -> None:
        self.exit()

    def key_f(self) -> None:
        raise ValueError("raised by the key f")

    def key_h(self) -> None:
        self.hangs = True
        self.query_one(Static).update("will never end")

    def key_l(self) -> None:
        signal.raise_signal(signal.SIGTERM)
        raise ValueError("raised after the signal")

    def key_b(self) -> None:
        self.query_one(Static).update("will never read a key")
        self.call_after_refresh(self._be_busy)

    def _be_busy(self) -> None:
        while True:
            pass

    async def on_unmount(self) -> None:
        if self.hangs:
            await asyncio.Event().wait()


if __name__ == "__main__":
    logging.basicConfig()
    sys.exit(asyncio.run(terminal_guard.run(BareApp())))
