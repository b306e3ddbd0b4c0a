"""The table of a match on the page of results: place, money of each race, total, races won."""

from collections.abc import Iterator
from typing import Final

from rich.console import RenderableType

from saratoga_client.board_view.roles import Role, money_role
from saratoga_client.session.match_text import champion_words, match_heading, result_cells
from saratoga_client.session.state import SessionState
from saratoga_client.text import fitted_name
from saratoga_client.tui.pages.symbols import PageSymbols
from saratoga_client.tui.rich_view import Ink
from saratoga_client.wording import dollars
from saratoga_protocol.matches import totals

NAME: Final = 16
"""Width of a name in cells, with the mark of a bot."""
RACE: Final = 9
"""Width of the place and the money of one race in cells."""
OTHERS: Final = 18
"""Width of the other columns and of the gaps."""


def match_part(
    state: SessionState, symbols: PageSymbols, ink: Ink, width: int
) -> Iterator[RenderableType]:
    """Return the table of the match after one of its races; nothing without a match.

    A narrow screen has room for the total of each player only.
    """
    match = state.match
    if match is None:
        return
    races = len(match.finished) if OTHERS + NAME + RACE * len(match.finished) <= width else 0
    grid = ink.grid(1, 3, NAME + 1, *(RACE,) * races, 7, 6)
    heads = ["", "", "", *(f"{f'RACE {number}':>{RACE - 1}}" for number in range(1, races + 1))]
    grid.add_row(*(ink.text(head, Role.LABEL) for head in (*heads, "    NET", "  WON")))
    for row, place, net, wins in totals(match):
        is_you = row.player == state.player
        role = Role.YOU if is_you else Role.LEADER if place == 1 else Role.TEXT
        level = state.table_view.levels.get(row.player, "")
        cells = result_cells(match, row)[:races]
        grid.add_row(
            ink.text(symbols.mark if is_you else "", Role.YOU),
            ink.text(f"{place:>2}", role),
            ink.text(fitted_name(row.name, row.bot, level, NAME, symbols.dots), role),
            *(ink.text(f"{cell:>{RACE - 1}}", Role.DIM) for cell in cells),
            ink.text(f"{dollars(net):>7}", money_role(net)),
            ink.text(f"{f'{wins}/{len(row.results)}':>5}", Role.COUNT),
        )
    yield ink.text(f" {match_heading(match).upper()}", Role.LABEL)
    yield grid
    if champion := champion_words(match, state.player, state.table_view.levels):
        yield ink.indented(champion, Role.LEADER)
    yield ""
