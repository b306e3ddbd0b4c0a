"""The page after a race: the results with tie-breaks, the personal best, and the totals."""

from collections.abc import Iterator
from typing import Final, TypeAlias

from rich.console import Group, RenderableType

from saratoga_client.board_view.roles import Role, money_role
from saratoga_client.session.result_text import digest_words_of, totals, why_unranked
from saratoga_client.session.state import SessionState
from saratoga_client.session.table_view import Row, rows
from saratoga_client.text import fitted_name
from saratoga_client.tui.pages.findings import Findings, lettered
from saratoga_client.tui.pages.gathering import alarms_part, voided_part
from saratoga_client.tui.pages.match import match_part
from saratoga_client.tui.pages.symbols import LETTERS, PageSymbols
from saratoga_client.tui.rich_view import Ink
from saratoga_client.wording import dollars, minutes_and_seconds, shown_name, state_words

NAME: Final = 26
CHART: Final = 7
"""Lines of the chart; twice as many on a high screen."""
CHART_WIDTH: Final = 77
HIGH: Final = 40
"""Minimum number of lines of a high screen."""

Note: TypeAlias = tuple[str, Role]


def results_page(
    state: SessionState,
    findings: Findings | None,
    symbols: PageSymbols,
    ink: Ink,
    width: int,
    height: int,
) -> RenderableType:
    """Return the page for a screen of a size; `findings` is `None` before the record arrives."""
    notes = [*_ties(state), *_best(state), *_checked(state), *_found(findings, symbols)]
    return Group(
        "",
        _places(state, symbols, ink),
        "",
        *match_part(state, symbols, ink, width),
        *alarms_part(state, ink),
        *(ink.indented(text, role) for text, role in notes),
        *voided_part(state, ink),
        *(_totals(state, symbols, ink) if state.match is None else ()),
        *([] if findings is None else _chart(findings, ink, width, height)),
    )


def _places(state: SessionState, symbols: PageSymbols, ink: Ink) -> RenderableType:
    reached = _reached(state)
    grid = ink.grid(1, 3, NAME + 1, 6, 7, 2, 7, 2, None)
    heads = ("", "", "RACER", "BANKED", "    NET", "", "REACHED", "", "")
    grid.add_row(*(ink.text(head, Role.LABEL) for head in heads))
    for row in rows(state.table_view):
        is_you = row.player == state.player
        role = Role.YOU if is_you else Role.LEADER if row.place == 1 else Role.TEXT
        grid.add_row(
            ink.text(symbols.mark if is_you else "", Role.YOU),
            ink.text(f"{row.place:>2}", role),
            ink.text(fitted_name(row.name, row.bot, row.level, NAME, symbols.dots), role),
            ink.text(f"{row.banked:>6}", Role.COUNT),
            ink.text(f"{dollars(row.net):>7}", money_role(row.net)),
            "",
            ink.text(f"{reached.get(row.player, ''):>7}"),
            "",
            ink.text(state_words(row.state), Role.DIM),
        )
    return grid


def _reached(state: SessionState) -> dict[str, str]:
    """Return the time, such as `2:51`, at which each player reached the final count."""
    outcome = state.table_view.outcome
    if outcome is None:
        return {}
    return {
        each.player: "" if each.reached is None else minutes_and_seconds(each.reached)
        for each in outcome.results
    }


def _ties(state: SessionState) -> Iterator[Note]:
    for row in rows(state.table_view):
        if row.tie:
            yield f"{_name(row, state.player)}: {row.tie}", Role.TEXT


def _name(row: Row, player: str) -> str:
    return "you" if row.player == player else shown_name(row.name, row.bot, row.level)


def _best(state: SessionState) -> Iterator[Note]:
    best, outcome = state.best, state.table_view.outcome
    is_first = (
        not state.is_new_best
        and outcome is not None
        and best is not None
        and best.race == outcome.race
    )
    if best is None or is_first:
        return
    figures = f"{best.banked} banked, {dollars(best.net)}."
    if state.is_new_best:
        yield f"A new personal best: {figures}", Role.MONEY_UP
    else:
        yield f"Your personal best: {figures}", Role.TEXT


def _checked(state: SessionState) -> Iterator[Note]:
    outcome = state.table_view.outcome
    if outcome is None:
        return
    if not outcome.ranked:
        yield f"Unranked: {why_unranked(state)}.", Role.DIM
    if words := digest_words_of(outcome):
        yield f"Your friends should have the same four words: {words}", Role.DIM
    verified = state.verifications.get(outcome.race)
    if verified is not None:
        doubt = Role.ALARM if verified.is_alarm else Role.WARNING
        yield verified.sentence, Role.TEXT if verified.ok else doubt


def _found(findings: Findings | None, symbols: PageSymbols) -> Iterator[Note]:
    if findings is None:
        return
    is_ascii = symbols.filled == LETTERS.filled
    if findings.divergence:
        yield "Where your boards parted:", Role.LABEL
        for line in findings.divergence:
            yield f"  {lettered(line, is_ascii)}", Role.TEXT
    if findings.pause:
        yield findings.pause, Role.TEXT


def _totals(state: SessionState, symbols: PageSymbols, ink: Ink) -> Iterator[RenderableType]:
    """Return the totals of the table's races, by casino dollars in descending order."""
    seats = totals(state)
    if len(seats) < 2 or max(seat.races for seat in seats) < 2:
        return
    grid = ink.grid(1, 3, NAME + 1, 6, 7)
    for seat in seats:
        role = Role.YOU if seat.player == state.player else Role.TEXT
        grid.add_row(
            "",
            "",
            ink.text(fitted_name(seat.name, seat.bot, seat.level, NAME, symbols.dots), role),
            ink.text(f"{f'{seat.wins}/{seat.races}':>6}", Role.COUNT),
            ink.text(f"{dollars(seat.net):>7}", money_role(seat.net)),
        )
    yield ""
    yield ink.text(f" {'TOTALS AT THIS TABLE':<{NAME + 4}}   WON     NET", Role.LABEL)
    yield grid


def _chart(findings: Findings, ink: Ink, width: int, height: int) -> Iterator[RenderableType]:
    lines = CHART if height < HIGH else 2 * CHART
    yield ""
    yield ink.text(" CARDS BANKED OVER TIME, one line per place", Role.LABEL)
    for text in findings.chart(min(width - 3, CHART_WIDTH), lines):
        yield ink.text(f" {text}")
