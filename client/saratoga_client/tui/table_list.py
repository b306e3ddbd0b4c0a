"""The lobby's list of public tables."""

from collections.abc import Sequence

from textual import events
from textual.coordinate import Coordinate
from textual.message import Message
from textual.widgets import DataTable

from saratoga_client.tui.pages.lobby import COLUMNS, table_cells
from saratoga_client.tui.pages.symbols import PageSymbols
from saratoga_client.tui.rich_view import Ink, paint_ground, paint_scroll_bar, program_of
from saratoga_client.tui.theme import Paint
from saratoga_protocol.events import TableSummary


class TableList(DataTable[object], can_focus=False):
    """A list of public tables, one per row; the chosen table is marked and always visible."""

    DEFAULT_CSS = """
    TableList { height: 1fr; overflow-x: hidden; scrollbar-size-vertical: 1; }
    TableList#tables > .datatable--even-row { background: transparent; }
    """

    class RowClicked(Message):
        """The message that the player has clicked on a table."""

        def __init__(self, row: int) -> None:
            super().__init__()
            self.row = row

    def __init__(self, *, id: str) -> None:  # noqa: A002
        super().__init__(
            id=id, show_header=False, show_cursor=False, cursor_type="row", cell_padding=0
        )
        self._shown: tuple[object, ...] = ()
        self._chosen = ""

    def on_mount(self) -> None:
        for width in COLUMNS:
            self.add_column("", width=width + 1)
        self.dress(program_of(self).colours)

    def on_click(self, event: events.Click) -> None:
        row = event.y + self.scroll_offset.y
        if row < self.row_count:
            self.post_message(self.RowClicked(row))

    def dress(self, colours: Paint) -> None:
        """Change the colours."""
        paint_ground(self, colours)
        paint_scroll_bar(self, colours)
        self._shown = ()

    def show(self, tables: Sequence[TableSummary], chosen: str, symbols: PageSymbols) -> None:
        """Show these tables; `chosen` is the code of the marked one."""
        colours = program_of(self).colours
        ink = Ink(colours)
        shown = (tuple(tables), symbols, colours)
        if shown != self._shown:
            self._shown, self._chosen = shown, chosen
            self.clear()
            for table in tables:
                self.add_row(*table_cells(table, table.code == chosen, symbols, ink))
        former, self._chosen = self._chosen, chosen
        for row, table in enumerate(tables):
            if former != chosen and table.code in (former, chosen):
                cells = table_cells(table, table.code == chosen, symbols, ink)
                for column, cell in enumerate(cells):
                    self.update_cell_at(Coordinate(row, column), cell)
            if table.code == chosen:
                self.move_cursor(row=row, animate=False)
