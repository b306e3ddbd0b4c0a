"""The screen after a race: who has won, the match, the places, the chart, and keys for the review and the next race."""

import asyncio
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Final, TypeAlias

from rich.console import Group, RenderableType
from textual.widget import Widget

from saratoga_client.board_view.canvas import Canvas
from saratoga_client.board_view.roles import Role, Symbols, money_role, racer_roles
from saratoga_client.problems import Problem
from saratoga_client.review.boards import (
    OpenBoard,
    first_difference,
    longest_pauses,
    open_boards,
    par_sentence,
)
from saratoga_client.review.share_text import race_text
from saratoga_client.session.open_race import link
from saratoga_client.session.result_text import headline, own_result, race_of_match, why_unranked
from saratoga_client.session.state import SessionState, Verification
from saratoga_client.session.table_view import rows
from saratoga_client.text import fitted, wrapped
from saratoga_client.tui.base_screen import Key, Keys
from saratoga_client.tui.chart import Line, draw_chart
from saratoga_client.tui.screens.gathering import alarms_part, voided_part
from saratoga_client.tui.table_screen import TableScreen
from saratoga_client.tui.widgets import Ink, RichView, ScrollPage
from saratoga_client.wording import (
    dollars,
    game_title,
    minutes_and_seconds,
    money_meter,
    shown_name,
    state_words,
)
from saratoga_protocol.commands import NextRace, React
from saratoga_protocol.matches import is_over
from saratoga_protocol.matches import totals as match_totals
from saratoga_rules.records.record import RaceRecord
from saratoga_rules.records.replay import ReplayError
from saratoga_rules.records.standing import LEAST_RANKED

NAME: Final = 21
"""Width of a name with the sign of a bot in cells."""

LONG: Final = 5_000
"""Minimum length, in milliseconds, of a pause that the page mentions."""

LEAST_CHART: Final = 7
MOST_CHART: Final = 16
WIDEST_CHART: Final = 100

Note: TypeAlias = tuple[str, Role]


@dataclass(frozen=True, slots=True, kw_only=True)
class Findings:
    """What the record of a race shows to one player."""

    record: RaceRecord
    boards: tuple[OpenBoard, ...]
    player: str
    notes: tuple[str, ...]
    """Sentences on the player's first move that differs from the winner's, and on the longest pause, and on par."""
    par: tuple[OpenBoard, ...] = ()
    """The board of par, once the server has sent it."""


def findings_of(record: RaceRecord, player: str) -> Findings | None:
    """Return the findings for a player; `None` if the record has no boards or cannot be replayed."""
    try:
        boards = open_boards(record)
    except ReplayError:
        return None
    if not boards:
        return None
    own = next((board for board in boards if board.player == player), None)
    return Findings(
        record=record,
        boards=boards,
        player=player,
        notes=() if own is None else (*_difference(own, boards[0]), *_pause(own)),
    )


def _difference(own: OpenBoard, winner: OpenBoard) -> Iterator[str]:
    step = first_difference(own, winner)
    if step is None:
        return
    said = []
    for name, board in (("you", own), (winner.shown_name, winner)):
        words, at = board.entry_words(step), minutes_and_seconds(board.time_of(step))
        said.append(f"{name}: {words} ({at})" if words else f"{name}: the board ended there")
    yield f"Boards parted at move {step + 1}: {'; '.join(said)}."


def _pause(own: OpenBoard) -> Iterator[str]:
    for pause in longest_pauses(own, 1):
        if pause.lasted >= LONG:
            since = minutes_and_seconds(pause.since)
            yield f"Your longest pause: {pause.lasted // 1000} s, from {since}."


def results_page(
    state: SessionState,
    findings: Findings | None,
    symbols: Symbols,
    ink: Ink,
    width: int,
    height: int,
) -> RenderableType:
    """Return the page for a screen of a size; `findings` is `None` before the record arrives."""
    notes = [*_ties(state), *_best(state), *_checked(state)]
    match, found = state.match, rows(state.table_view)
    used = 8 + len(found) + len(notes) + (0 if match is None else len(match.rows) + 3)
    return Group(
        ink.indented(headline(state).upper(), Role.TITLE, 3),
        ink.indented(own_result(state), Role.TEXT, 3),
        "",
        *alarms_part(state, ink),
        *match_part(state, symbols, ink, width),
        _places(state, symbols, ink, width),
        *(ink.indented(text, role) for text, role in notes),
        *([] if findings is None else _chart(findings, symbols, ink, width, height - used)),
        *voided_part(state, ink),
    )


def match_part(
    state: SessionState, symbols: Symbols, ink: Ink, width: int
) -> Iterator[RenderableType]:
    """Return the table of the match after one of its races; nothing without a match.

    A narrow screen has room for the total of each player only.
    """
    match = state.match
    if match is None:
        return
    races = match.finished if NAME + 18 + 7 * len(match.finished) <= width else []
    widths = (1, 3, NAME + 1, *(7 for _ in races), 7, 6)
    grid = ink.grid(*widths, right=range(3, len(widths)))
    numbers = range(1, len(races) + 1)
    heads = (f"MATCH OF {match.races} RACES", *(f"RACE {n}" for n in numbers), "NET", "WON")
    grid.add_row("", "", *(ink.text(head, Role.LABEL) for head in heads))
    standing = match_totals(match)
    roles = racer_roles([each.row.player for each in standing], state.player)
    for row, place, net, wins in standing:
        role, is_you = roles[row.player], row.player == state.player
        money = {result.race: result.net for result in row.results}
        grid.add_row(
            ink.text(symbols.mark if is_you else "", role),
            ink.text(f"{place:>2}", role),
            ink.text(fitted(_called(row.player, row.name, row.bot, state), NAME), role),
            *(ink.text(dollars(money[race]) if race in money else "", Role.DIM) for race in races),
            ink.text(dollars(net), money_role(net)),
            ink.text(f"{wins}/{len(row.results)}", Role.COUNT),
        )
    yield grid
    yield ""


def _places(state: SessionState, symbols: Symbols, ink: Ink, width: int) -> RenderableType:
    """Return the table of the race; what does not fit into the width is left out."""
    found, outcome = rows(state.table_view), state.table_view.outcome
    results = {} if outcome is None else {each.player: each for each in outcome.results}
    seats = {seat.player: seat for seat in state.table.seats}
    has_totals = state.match is None and any(seat.races > 1 for seat in seats.values())
    columns = {"AT": 7} if width >= 61 else {}
    columns |= {"WON": 6, "TOTAL": 7} if has_totals and width >= 74 else {}
    widths = (1, 3, NAME + 1, 6, 7, *columns.values(), 2, None)
    grid = ink.grid(*widths, right=range(3, 5 + len(columns)))
    heads = ("", "", "RACER", "BANKED", "NET", *columns, "", "ENDED")
    grid.add_row(*(ink.text(head, Role.LABEL) for head in heads))
    roles = racer_roles([row.player for row in found], state.player)
    for row in found:
        role, seat = roles[row.player], seats.get(row.player)
        result = results.get(row.player)
        reached = None if result is None else result.reached
        more = {
            "AT": ink.text("" if reached is None else minutes_and_seconds(reached)),
            "WON": ink.text(f"{seat.wins}/{seat.races}" if seat else "", Role.COUNT),
            "TOTAL": ink.text(dollars(seat.net), money_role(seat.net)) if seat else "",
        }
        grid.add_row(
            ink.text(symbols.mark if row.player == state.player else "", role),
            ink.text(f"{row.place:>2}", role),
            ink.text(fitted(_called(row.player, row.name, row.bot, state), NAME), role),
            ink.text(f"{row.banked}", Role.COUNT),
            ink.text(dollars(row.net), money_role(row.net)),
            *(more[head] for head in columns),
            "",
            ink.text(state_words(row.state), Role.DIM),
        )
    return grid


def _called(player: str, name: str, bot: bool, state: SessionState) -> str:
    return "YOU" if player == state.player else shown_name(name, bot)


def _ties(state: SessionState) -> Iterator[Note]:
    for row in rows(state.table_view):
        if row.tie:
            name = "you" if row.player == state.player else shown_name(row.name, row.bot)
            yield f"{name}: {row.tie}", Role.TEXT


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
    if not outcome.ranked and sum(not racer.bot for racer in state.table.racers) >= LEAST_RANKED:
        yield f"Unranked: {why_unranked(state)}.", Role.DIM
    verified = state.verifications.get(outcome.race)
    if verified is not None and not verified.ok:
        yield verified.sentence, Role.ALARM if verified.is_alarm else Role.WARNING


def _chart(
    findings: Findings, symbols: Symbols, ink: Ink, width: int, room: int
) -> Iterator[RenderableType]:
    """Return the chart of all racers' banked cards, and the notes on the player's board."""
    boards = findings.boards
    roles = racer_roles([board.player for board in boards], findings.player)
    below = sum(len(wrapped(note, width - 2)) for note in findings.notes)
    canvas = Canvas(min(width, WIDEST_CHART), max(LEAST_CHART, min(room - below, MOST_CHART)))
    lines = [
        Line(
            board.place,
            f"{'YOU' if board.player == findings.player else board.shown_name} {board.banked}",
            board.climb,
            roles[board.player],
        )
        for board in boards
    ]
    box = (1, 0, canvas.width - 2, canvas.height)
    draw_chart(canvas, box, lines, money_meter(boards[0].game, 0), symbols)
    yield ""
    yield ink.canvas(canvas)
    yield from (ink.indented(note) for note in findings.notes)


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
        if outcome is None or self._findings is not None or state.table.open:
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
        if state.is_host:
            what = "another match" if state.match and is_over(state.match) else "the next race"
            return f"Press enter for {what}."
        seats = state.table.seats
        host = next((seat.name for seat in seats if seat.player == state.table.host), "the host")
        if state.host_until == state.table.race:
            return f"You were away for three minutes, so {host} is host now."
        is_ended = own is not None and own.state == "ended-by-host"
        why = f"{host} has ended your race. " if is_ended else ""
        return f"{why}{host} opens the next race; enter puts you in."

    def facts(self) -> list[str]:
        table = self.state.table
        race = race_of_match(table, self.state.match)
        return [game_title(table.settings.game).upper(), race or table.race]

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
            Key("enter r", "again", again, self._race_again, when=self.state.seat is not None),
            read("v", "boards", "see all boards of the race", self._review),
            read(
                "y",
                "share",
                "copy the result for friends",
                lambda: self.copy("The result", self._share),
            ),
            read("c", "challenge", "challenge friends on this deal", self._challenge),
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
        found = self._findings = await asyncio.to_thread(findings_of, record, self.state.player)
        self.redraw()
        if found is None:
            return
        with suppress(Problem):  # nobody asked for it
            if par := await self.controls.seat.par(record):
                notes = (*found.notes, *filter(None, (par_sentence(par, found.boards),)))
                self._findings = replace(found, notes=notes, par=(par,))
                self.redraw()

    def _challenge(self) -> None:
        self.controls.do(self._open_challenge())

    async def _open_challenge(self) -> None:
        """Open a challenge on the deal of this race, and copy its link."""
        outcome = self.state.table_view.outcome
        assert outcome is not None
        opened = await self.controls.seat.challenge(outcome.race)
        server = self.controls.inviter.server or self.controls.seat.server
        address = link(opened, server)
        self.copy(f"Your challenge is open for seven days; its link {address}", address)

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

        found = self._findings
        assert found is not None
        self.cover(
            ReviewScreen(found.record.race_id, found.boards + found.par, found.player, self._share)
        )

    @property
    def _share(self) -> str:
        """The text about the race that the player can copy for friends."""
        found = self._findings
        assert found is not None
        server, match = self.controls.inviter.server, self.state.match
        return race_text(found.record, found.boards, found.player, server, match)
