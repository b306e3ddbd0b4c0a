"""The screen of a table's link for browsers, shown over the table: as text and as a QR code."""

from collections.abc import Iterable
from typing import ClassVar, Final

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text
from textual.widget import Widget

from saratoga_client.board_view.qr_code import qr_lines
from saratoga_client.board_view.roles import Role
from saratoga_client.local.origins import is_this_machine
from saratoga_client.tui.base_screen import BaseScreen, Guide
from saratoga_client.tui.rich_view import Ink, RichView, ScrollPage
from saratoga_client.tui.screens.gathering import opened_by

CLOSING: Final = ("o", "escape", "q", "enter")


class InvitationScreen(BaseScreen):
    """A link that friends open in a browser, or scan with a phone."""

    ALWAYS: ClassVar[Guide] = (("o", "back"),)
    TICK = 0

    def __init__(self, code: str, link: str) -> None:
        super().__init__()
        self._code = code
        self._link = link

    def body(self) -> Iterable[Widget]:
        with ScrollPage():
            yield RichView(self._draw, id="invitation")

    def _draw(self, ink: Ink) -> RenderableType:
        heading = ink.line((opened_by(self._link), Role.TEXT), (self._link, Role.TITLE))
        if is_this_machine(self._link):
            return Group(heading, ink.text(" in a browser. A phone cannot open this address."))
        style = ink.style(Role.CARD_BLACK)
        is_on_dark = style.bgcolor is None
        lines = qr_lines(self._link, ascii_only=self.program.appearance.ascii, on_dark=is_on_dark)
        return Group(
            heading,
            ink.text(" in a browser, or scan this with a phone:"),
            "",
            Padding(Text("\n".join(lines), style, no_wrap=True), (0, 0, 0, 1), expand=False),
        )

    def facts(self) -> list[str]:
        return [self._code, "invitation"]

    def guide(self) -> Guide:
        return self.scroll_guide()

    def press(self, key: str) -> None:
        if key in CLOSING:
            self.dismiss()
        else:
            super().press({"j": "down", "k": "up"}.get(key, key))
