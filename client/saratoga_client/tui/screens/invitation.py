"""The screen of a table's link for browsers, shown over the table: as text and as a QR code."""

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from saratoga_client.board_view.roles import Role
from saratoga_client.local.origins import is_this_machine
from saratoga_client.session.invitation import qr_lines
from saratoga_client.tui.base_screen import ReadingScreen
from saratoga_client.tui.widgets import Ink


class InvitationScreen(ReadingScreen):
    """A link that friends open in a browser, or scan with a phone."""

    CLOSING = "i"

    def __init__(self, code: str, link: str) -> None:
        super().__init__()
        self._code = code
        self._link = link

    def draw_page(self, ink: Ink) -> RenderableType:
        is_here = is_this_machine(self._link)
        by = " Only on this machine: " if is_here else " Friends open "
        heading = ink.line((by, Role.TEXT), (self._link, Role.TITLE))
        if is_here:
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
