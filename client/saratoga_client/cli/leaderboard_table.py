"""A leaderboard page as a table for terminals.

It needs rich, so import it only if there is a terminal to show it on.
"""

from rich.console import Console
from rich.table import Table
from rich.text import Text

from saratoga_client.cli.rich_text import cell, name_cell
from saratoga_client.wording import dollars, minutes_and_seconds, number_of_rivals
from saratoga_protocol import events
from saratoga_protocol.leaderboard_rows import LeaderboardRow


def print_page(page: events.Leaderboard, console: Console | None = None) -> None:
    """Print a page; the player's own row is bold, below the page if its rank is not on the page."""
    console = console or Console()
    who = "bots, " if page.bots else ""
    title = cell(f"{page.game}, {page.ranking}, {who}{page.key}", "bold")
    if not page.rows:
        console.print(Text.assemble(title, "\nNo results yet."))
        return
    table = Table(title=title, box=None, title_justify="left", header_style="dim")
    table.add_column("", justify="right")
    table.add_column("bot" if page.bots else "player", min_width=16)
    table.add_column("net" if page.ranking == "bankroll" else "banked", justify="right")
    table.add_column("races" if page.ranking == "bankroll" else "net", justify="right")
    table.add_column("people", justify="right")
    table.add_column("last race" if page.ranking == "bankroll" else "after", justify="right")
    if page.ranking == "best":
        table.add_column("race")
    mine = page.me.player if page.me is not None else ""
    for row in page.rows:
        table.add_row(*_cells(page, row), style="bold" if row.player == mine else "")
    if page.me is not None and page.me not in page.rows:
        table.add_row(*_cells(page, page.me), style="bold")
    console.print(table)
    if page.total > len(page.rows):
        console.print(Text(f"{len(page.rows)} of {page.total}", "dim"))


def _cells(page: events.Leaderboard, row: LeaderboardRow) -> list[Text | str]:
    name, race, people = (
        name_cell(row.name, page.bots),
        cell(row.race),
        number_of_rivals(row.rivals),
    )
    if page.ranking == "bankroll":
        return [f"{row.rank}.", name, _money(row.value), str(row.races), people, race]
    # 0: no move raised the deal's count
    after = minutes_and_seconds(row.elapsed, tenths=True) if row.elapsed else ""
    return [f"{row.rank}.", name, str(row.value), _money(row.net), people, after, race]


def _money(amount: int) -> Text:
    return Text(dollars(amount), "green" if amount > 0 else "red" if amount < 0 else "")
