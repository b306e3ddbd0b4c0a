"""The smallest program on Textual: `python tests/kit/bare_app.py`.

The measure of how soon a program in a terminal can be there, and what the kit's terminals are tried
with. `q` ends it. With `--parting` it is run as Saratoga's own screens are.
"""

import sys
from typing import ClassVar

from textual.app import App, ComposeResult
from textual.widgets import Static

SHOWN = "nothing but this"


class BareApp(App[int]):
    """One line of text."""

    BINDINGS: ClassVar = [("q", "quit", "Quit")]

    def compose(self) -> ComposeResult:
        yield Static(SHOWN)


if __name__ == "__main__":
    if "--parting" in sys.argv:
        from saratoga_client.tui import parting

        sys.exit(parting.run(BareApp()))
    BareApp().run()
