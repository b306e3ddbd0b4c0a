"""The screen after a race: the results, and keys for the review and the next race."""

import asyncio
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Final, TypeAlias

from rich.console import Group, RenderableType
from textual.widget import Widget

from saratoga_client.board_view.roles import Role, money_role
from saratoga_client.board_view.symbols import LETTERS, Symbols
from saratoga_client.problems import Problem
from saratoga_client.review.boards import (
    OpenBoard,
    first_difference,
    longest_pauses,
    open_boards,
)
from saratoga_client.review.chart import chart
from saratoga_client.review.share_text import race_text
from saratoga_client.session.match_text import (
    champion_words,
    match_heading,
    result_cells,
    with_match,
)
from saratoga_client.session.result_text import own_place, totals, why_unranked
from saratoga_client.session.state import SessionState, Verification
from saratoga_client.session.table_view import Row, rows
from saratoga_client.text import fitted_name
from saratoga_client.tui.base_screen import Key, Keys
from saratoga_client.tui.rich_view import Ink, RichView, ScrollPage
from saratoga_client.tui.screens.gathering import alarms_part, voided_part
from saratoga_client.tui.table_screen import TableScreen
from saratoga_client.wording import (
    NO_LEVELS,
    dollars,
    game_title,
    minutes_and_seconds,
    shown_name,
    state_words,
)
from saratoga_protocol.commands import NextRace, React
from saratoga_protocol.matches import totals as match_totals
from saratoga_rules.money import even_at
from saratoga_rules.records.record import RaceRecord
from saratoga_rules.records.replay import ReplayError, game_of

MATCH_NAME: Final = 16
"""Width of a name in cells, with the mark of a bot."""
RACE: Final = 9
"""Width of the place and the money of one race in cells."""
OTHERS: Final = 18
"""Width of the other columns and of the gaps."""


def match_part(
    state: SessionState, symbols: Symbols, ink: Ink, width: int
) -> Iterator[RenderableType]:
    """Return the table of the match after one of its races; nothing without a match.

    A narrow screen has room for the total of each player only.
    """
    match = state.match
    if match is None:
        return
    races = len(match.finished) if OTHERS + MATCH_NAME + RACE * len(match.finished) <= width else 0
    money = range(3 + races, 5 + races)
    grid = ink.grid(1, 3, MATCH_NAME + 1, *(RACE,) * races, 7, 5, right=money)
    heads = ["", "", "", *(f"{f'RACE {number}':>{RACE - 1}}" for number in range(1, races + 1))]
    grid.add_row(*(ink.text(head, Role.LABEL) for head in (*heads, "NET", "WON")))
    for row, place, net, wins in match_totals(match):
        is_you = row.player == state.player
        role = Role.YOU if is_you else Role.LEADER if place == 1 else Role.TEXT
        level = state.table_view.levels.get(row.player, "")
        cells = result_cells(match, row)[:races]
        grid.add_row(
            ink.text(symbols.mark if is_you else "", Role.YOU),
            ink.text(f"{place:>2}", role),
            ink.text(fitted_name(row.name, row.bot, level, MATCH_NAME, symbols.dots), role),
            *(ink.text(f"{cell:>{RACE - 1}}", Role.DIM) for cell in cells),
            ink.text(dollars(net), money_role(net)),
            ink.text(f"{wins}/{len(row.results)}", Role.COUNT),
        )
    yield ink.text(f" {match_heading(match).upper()}", Role.LABEL)
    yield grid
    if champion := champion_words(match, state.player, state.table_view.levels):
        yield ink.indented(champion, Role.LEADER)
    yield ""


_LETTERS: Final = str.maketrans(
    {"\u2663": "c", "\u2660": "s", "\u2665": "h", "\u2666": "d", "\u2661": "h", "\u2662": "d"}
)


def in_ascii(text: str) -> str:
    r"""Return a text with letters in place of the symbols of suits.

    >>> in_ascii("10\u2665 from column 2 banked")
    '10h from column 2 banked'
    """
    return text.translate(_LETTERS)


LONG: Final = 5_000
"""Minimum length, in milliseconds, of a pause that the page mentions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Findings:
    """The findings of one race for one player."""

    race: str
    boards: tuple[OpenBoard, ...]
    player: str
    even: int
    """The least number of banked cards that is no loss."""
    divergence: tuple[str, ...] = ()
    """Lines with the player's first move that differs from the winner's, and the winner's move."""
    pause: str = ""
    """A sentence on the player's longest pause; empty if all pauses were shorter than `LONG`."""
    share: str = ""
    """The text about the race that the player can copy for friends."""

    def chart(self, width: int, height: int) -> tuple[str, ...]:
        """Return the lines of the chart of all racers' banked cards over time."""
        return chart(
            [(each.place, each.climb) for each in self.boards], self.even, width, height
        ).rows


def findings_of(
    record: RaceRecord, player: str, levels: Mapping[str, str] = NO_LEVELS, server: str = ""
) -> Findings | None:
    """Return the findings for a player; `None` if the record has no boards or cannot be replayed.

    `levels` has the levels of bots by player id, as far as they are known. `server` is the address
    by which friends reach the server, for the text that they get.
    """
    try:
        boards = open_boards(record, levels)
    except ReplayError:
        return None
    if not boards:
        return None
    game = game_of(record)
    own = next((board for board in boards if board.player == player), None)
    return Findings(
        race=record.race_id,
        boards=boards,
        player=player,
        even=even_at(game),
        divergence=() if own is None else tuple(_difference(own, boards[0])),
        pause="" if own is None else _pause(own),
        share=race_text(record, boards, player, server),
    )


def _difference(own: OpenBoard, winner: OpenBoard) -> Iterator[str]:
    step = first_difference(own, winner)
    if step is None:
        return
    for name, board in (("you", own), (winner.shown_name, winner)):
        words = board.entry_words(step)
        at = minutes_and_seconds(board.time_of(step))
        yield f"{name}: {step + 1}. {words} ({at})" if words else f"{name}: the board ended there"


def _pause(own: OpenBoard) -> str:
    longest = next(iter(longest_pauses(own, 1)), None)
    if longest is None or longest.lasted < LONG:
        return ""
    seconds = longest.lasted // 1000
    return f"Your longest pause: {seconds} s, from {minutes_and_seconds(longest.since)} on."


def lettered(text: str, ascii_only: bool) -> str:
    """Return a text, with letters for suit symbols if `ascii_only`."""
    return in_ascii(text) if ascii_only else text


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
    symbols: Symbols,
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


def _places(state: SessionState, symbols: Symbols, ink: Ink) -> RenderableType:
    reached = _reached(state)
    grid = ink.grid(1, 3, NAME + 1, 6, 7, 2, 7, 2, None, right={3, 4, 6})
    heads = ("", "", "RACER", "BANKED", "NET", "", "REACHED", "", "")
    grid.add_row(*(ink.text(head, Role.LABEL) for head in heads))
    for row in rows(state.table_view):
        is_you = row.player == state.player
        role = Role.YOU if is_you else Role.LEADER if row.place == 1 else Role.TEXT
        grid.add_row(
            ink.text(symbols.mark if is_you else "", Role.YOU),
            ink.text(f"{row.place:>2}", role),
            ink.text(fitted_name(row.name, row.bot, row.level, NAME, symbols.dots), role),
            ink.text(f"{row.banked}", Role.COUNT),
            ink.text(dollars(row.net), money_role(row.net)),
            "",
            ink.text(reached.get(row.player, "")),
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
    verified = state.verifications.get(outcome.race)
    if verified is not None and not verified.ok:
        yield verified.sentence, Role.ALARM if verified.is_alarm else Role.WARNING


def _found(findings: Findings | None, symbols: Symbols) -> Iterator[Note]:
    if findings is None:
        return
    is_ascii = symbols.filled == LETTERS.filled
    if findings.divergence:
        yield "Where your boards parted:", Role.LABEL
        for line in findings.divergence:
            yield f"  {lettered(line, is_ascii)}", Role.TEXT
    if findings.pause:
        yield findings.pause, Role.TEXT


def _totals(state: SessionState, symbols: Symbols, ink: Ink) -> Iterator[RenderableType]:
    """Return the totals of the table's races, by casino dollars in descending order."""
    seats = totals(state)
    if len(seats) < 2 or max(seat.races for seat in seats) < 2:
        return
    grid = ink.grid(1, 3, NAME + 1, 6, 7, right={3, 4})
    for seat in seats:
        role = Role.YOU if seat.player == state.player else Role.TEXT
        grid.add_row(
            "",
            "",
            ink.text(fitted_name(seat.name, seat.bot, seat.level, NAME, symbols.dots), role),
            ink.text(f"{seat.wins}/{seat.races}", Role.COUNT),
            ink.text(dollars(seat.net), money_role(seat.net)),
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


class ResultsScreen(TableScreen):
    """The screen of the results of a finished race."""

    _findings: Findings | None = None
    _read_with: tuple[str, Verification | None] = "", None
    """The race whose record was requested last, and what was known of its verification then."""

    HEADING = "KEYS AFTER A RACE"

    def body(self) -> Iterable[Widget]:
        with ScrollPage():
            yield RichView(self._draw)

    def _draw(self, ink: Ink) -> RenderableType:
        return results_page(self.state, self._findings, self.symbols, ink, *self.size)

    def begin(self) -> None:
        self._begin_reading(self.state)

    def _begin_reading(self, state: SessionState) -> None:
        """Read the record once the result is there, and again once it is verified."""
        outcome = state.table_view.outcome
        if outcome is None or self._findings is not None:
            return
        known = outcome.race, state.verifications.get(outcome.race)
        if known != self._read_with:
            self._read_with = known
            name = "read the record"
            self.run_worker(self._read(outcome.race), name=name, group=name, exclusive=True)

    def changed(self, state: SessionState) -> None:
        self._begin_reading(state)
        super().changed(state)

    @property
    def resting(self) -> str:
        state = self.state
        own = next((row for row in rows(state.table_view) if row.player == state.player), None)
        place = f"{finished}. " if (finished := own_place(state)) else ""
        if state.is_host:
            return f"{place}Press enter for the next race."
        seats = state.table.seats
        host = next((seat.name for seat in seats if seat.player == state.table.host), "the host")
        if own is not None and own.state == "ended-by-host":
            place = f"{host} has ended your race. {place}"
        if state.host_until == state.table.race:
            return f"You were away for three minutes, so {host} is host now. {place}".rstrip()
        return f"{place}{host} opens the next race; enter puts you in."

    def facts(self) -> list[str]:
        table = self.state.table
        return [game_title(table.settings.game).upper(), table.race, "the race is over"]

    def status(self) -> list[tuple[str, Role]]:
        outcome = self.state.table_view.outcome
        verified = None if outcome is None else self.state.verifications.get(outcome.race)
        is_fair = verified is not None and verified.ok
        fair = [(f"{self.symbols.ready} fair deal", Role.MONEY_UP)] if is_fair else []
        return [*fair, *super().status()]

    def keys(self) -> Keys:
        late = "The record of this race has not arrived yet."
        read = partial(Key, when=self._findings is not None, why=late)
        again = "take part in the next race; the host opens the table for it"
        return (
            Key("enter n r", "again", again, self._race_again, when=self.state.seat is not None),
            read("v", "boards", "see all boards of the race", self._review),
            read("y", "share", "copy the result for friends", self._copy_result),
            # pressed to end the race, which has just ended by itself
            Key("x", "", "", partial(self.say, f"The race is over. {self.resting}")),
            *((self.say_key(),) if self.state.seat is not None else ()),
            self.fair_key(),
            *super().keys(),
        )

    async def _read(self, race: str) -> None:
        """Get the record of the race, from this machine or the server, and show its findings."""
        try:
            record = await self.controls.seat.record(race)
        except Problem as problem:
            self.say(f"The server sent no record of this race: {problem}", Role.WARNING)
            return
        self._findings = await asyncio.to_thread(
            findings_of,
            record,
            self.state.player,
            self.state.table_view.levels,
            self.controls.inviter.server,
        )
        self.redraw()

    def _shared(self) -> Findings:
        """Return the findings whose text for friends has lines on the match of the race."""
        assert self._findings is not None
        levels = self.state.table_view.levels
        share = with_match(self._findings.share, self.state.match, levels)
        return replace(self._findings, share=share)

    def _race_again(self) -> None:
        """Open the table for the next race, as host, or ask for it; and get ready as soon as it is open."""
        is_first = not self.controls.wants_next
        self.controls.wants_next = True
        if self.state.is_host:
            self.controls.do(self.controls.seat.send(NextRace))
            self.say("Opening the table for the next race.")
        elif is_first:
            self.controls.do(self.controls.seat.send(React, reaction="again"))
            self.say("You are in for the next race.")

    def _review(self) -> None:
        from saratoga_client.tui.screens.review import ReviewScreen

        found = self._shared()
        self.cover(ReviewScreen(found.race, found.boards, found.player, found.share))

    def _copy_result(self) -> None:
        self.app.copy_to_clipboard(self._shared().share)
        self.say("The result is on your clipboard, if your terminal supports OSC 52.")
