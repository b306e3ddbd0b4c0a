"""Lines for the events at a table: the difference between two session states, and the writer of these lines."""

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Final

from saratoga_client.plain.board import (
    board_line,
    money_words,
    moved_line,
    position_lines,
    rule_line,
)
from saratoga_client.plain.card_names import LineStyle
from saratoga_client.plain.result_lines import (
    best_lines,
    result_lines,
    standing_line,
    standings_lines,
    totals_lines,
    verification_line,
)
from saratoga_client.plain.session import LineOutput
from saratoga_client.session.own_board import OwnBoard
from saratoga_client.session.result_text import gap, match_lines, race_of_match, voided_words
from saratoga_client.session.state import Kind, News, SessionState, newest, race_clock
from saratoga_client.session.table_view import Row, is_call, rows
from saratoga_client.wording import (
    counted,
    minutes_and_seconds,
    ordinal,
    settings_words,
    shown_name,
    state_words,
)
from saratoga_protocol import events

ENDINGS: Final = {
    "won": "; every card is banked",
    "stuck": "; no more cards can be banked",
    "idle": "; you typed no line for 3 minutes; your seat is kept, and the next race comes after this one",
}
"""An explanation of a board's end by its state, for states that need one."""

GATHERING: Final = "gathering"

HOST_DOES: Final = {
    GATHERING: ": type start when everyone is ready",
    "over": ": type next to prepare the next race",
}
"""What a new host can type, by the table's phase, in phases that wait for the host."""


def opening_lines(state: SessionState, style: LineStyle, now: int) -> Iterator[str]:
    """Return the lines for a player or watcher who has just come to the table."""
    yield from table_lines(state)
    yield from (f"alarm: {alarm}" for alarm in state.alarms)
    if state.own is not None:
        yield from _board_lines(state.own, style)
    elif state.phase == "running" and state.is_left_out:
        yield "note: this race started without you; you can be ready for the next one"
    if state.phase == "running" and state.own is None:
        yield from standings_lines(state)
    if state.table_view.outcome is not None:
        yield from result_lines(state)
    if state.match is not None:
        yield from match_lines(state.match, state.player)
    if state.phase in ("call", "countdown"):
        yield _countdown(state, now)
    if state.phase == GATHERING and state.seat is not None:
        start = ", and start when the others are ready" if state.is_host else ""
        yield f"note: type ready to take part in the next race{start}; help lists all commands"


TABLE_KINDS: Final[Mapping[Kind, str]] = MappingProxyType(
    {
        Kind.LOST: "link",
        Kind.RESTORED: "link",
        Kind.HOUSE: "house",
        Kind.VOIDED: "voided",
        Kind.NOTICE: "notice",
        Kind.ALARM: "alarm",
        Kind.REPORT: "note",
        Kind.JOINED: "seat",
        Kind.SEAT: "seat",
        Kind.HOST: "host",
        Kind.SETTINGS: "settings",
        Kind.SAID: "say",
    }
)
"""The news of the table, each with the kind of its line; these lines come before those of the race."""

RACE_KINDS: Final = (Kind.WON, Kind.ENDING, Kind.LAST_MINUTE)
"""The news of the race with a line of their own at once; `ChangeWriter` has others."""


def change_lines(
    before: SessionState, after: SessionState, style: LineStyle, now: int
) -> Iterator[str]:
    """Return a line for each change of the connection, the table, the race, the board, the result."""
    fresh = newest(before.news, after.news)
    for news in fresh:
        if news.kind in TABLE_KINDS:
            yield from _table_news(news, fresh, after)
    yield from _phase(before, after, now)
    for news in fresh:
        if news.kind is Kind.IDLE:
            stay = "stay host" if after.is_between_races else "go on"
            yield f"warning: {news.text}; type any line to {stay}"
    yield from _own(before.own, after.own, style)
    kinds = (*RACE_KINDS, Kind.MILESTONE) if style.is_verbose else RACE_KINDS
    for news in fresh if after.table_view.outcome is None else ():
        # the player's own board has its own lines
        if news.kind in kinds and news.about != after.player:
            yield f"news: {news.text}"
    yield from _over(before, after)
    yield from _verifications(before, after)
    yield from _match(before, after)
    yield from _totals(before, after)
    if after.seat_lost and not before.seat_lost:
        yield f"gone: {after.seat_lost}"


def _table_news(news: News, fresh: Sequence[News], state: SessionState) -> Iterator[str]:
    kind, text = TABLE_KINDS[news.kind], news.text
    if news.kind is Kind.SAID:
        yield f"say {text}"
        return
    if news.kind is Kind.VOIDED:
        kind = f"voided {news.about}"
    if news.kind is Kind.HOST and news.about == state.player:
        text += HOST_DOES.get(state.phase, "")
    # the line on a voided race says the same as the server's notice
    voided = (each.about for each in fresh if each.kind is Kind.VOIDED)
    if news.kind is not Kind.NOTICE or not any(race in text for race in voided):
        yield f"{kind}: {text}"


# The table


def table_lines(state: SessionState) -> Iterator[str]:
    """Return the table's settings, its seats, and its race."""
    table = state.table
    locked = ", locked" if table.locked else ""
    yield f"table {table.code}: {settings_words(table.settings)}{locked}"
    for number, seat in enumerate(table.seats, start=1):
        yield f"seat {number} {shown_name(seat.name, seat.bot)}: {_seat_words(state, seat)}"
    yield f"race {table.race}: {table.phase}"
    yield from _race_of_match(state)
    if (voided := table.previous) is not None and voided.reason:
        yield f"voided {voided.race}: {voided_words(voided, table.seats, state.server)}"


def _seat_words(state: SessionState, seat: events.Seat) -> str:
    standing = _standing_of(state, seat)
    facts = [
        ("you", seat.player == state.player),
        (seat.level, bool(seat.level)),
        ("host", seat.player == state.table.host),
        ("ready", seat.ready and not standing),
        (f"voided {counted(seat.voids, 'countdown')}", seat.voids > 0),
        ("needs the host's permission to get ready", seat.blocked),
        ("not ready", not seat.ready and state.phase == GATHERING),
        (standing, bool(standing)),
        ("connection lost", not seat.connected),
    ]
    return ", ".join(word for word, is_so in facts if is_so) or "here"


def _standing_of(state: SessionState, seat: events.Seat) -> str:
    """Return a racer's state in the running race, such as `racing`; empty for others."""
    if state.phase != "running" or state.table.racer(seat.player) is None:
        return ""
    found = (row.state for row in rows(state.table_view) if row.player == seat.player)
    return next(found, "racing")


# A race


def _phase(before: SessionState, after: SessionState, now: int) -> Iterator[str]:
    if (before.table.race, before.phase) == (after.table.race, after.phase):
        return
    match after.phase:
        case "call" | "countdown":
            yield _countdown(after, now)
        case "running":
            yield "countdown: 0"
            yield f"race {after.table.race}: running, {_time_left(after, now)}"
            yield from _race_of_match(after)
        case "over":
            # The lines of the result follow.
            return
        case phase:
            yield f"race {after.table.race}: {phase}"
            yield from _race_of_match(after)


def _race_of_match(state: SessionState) -> Iterator[str]:
    if race := race_of_match(state.table, state.match):
        yield f"match: {race}"


def _countdown(state: SessionState, now: int) -> str:
    seconds = (race_clock(state, now).until_start + 500) // 1000
    if is_call(state.table):
        ready = sum(seat.ready for seat in state.table.seats)
        is_asked = state.seat is not None and not state.seat.ready
        last_call = "; type ready now to be in this race" if is_asked else ""
        return f"countdown: {counted(seconds, 'second')}, {ready} ready{last_call}"
    racers = counted(len(state.table.racers), "racer")
    is_without_you = state.seat is not None and state.table.racer(state.player) is None
    without_you = "; you are not in this race" if is_without_you else ""
    return f"countdown: {counted(seconds, 'second')}, {racers}{without_you}"


def _time_left(state: SessionState, now: int) -> str:
    left = race_clock(state, now).left
    return "no time limit" if left is None else f"{minutes_and_seconds(left + 500)} left"


def clock_line(state: SessionState, now: int) -> str:
    """Return the line with the race's elapsed time and time left; in the countdown, with its rest."""
    time = race_clock(state, now)
    if state.phase in ("call", "countdown"):
        seconds = (time.until_start + 500) // 1000
        return f"clock: the race starts in {counted(seconds, 'second')}"
    if state.phase != "running":
        return "clock: no race is running"
    left = "no time limit" if time.left is None else f"{minutes_and_seconds(time.left)} left"
    return f"clock: {minutes_and_seconds(time.elapsed)} passed, {left}"


def _over(before: SessionState, after: SessionState) -> Iterator[str]:
    outcome = after.table_view.outcome
    known = before.table_view.outcome
    if outcome is None:
        return
    if known is None or known.race != outcome.race:
        yield from result_lines(after)
        return
    if after.is_new_best and not before.is_new_best:
        yield from best_lines(after, outcome)


def _verifications(before: SessionState, after: SessionState) -> Iterator[str]:
    """Return the verdicts on records, which may come when the next race is open already."""
    for race, found in after.verifications.items():
        if before.verifications.get(race) != found:
            yield verification_line(found)


def _match(before: SessionState, after: SessionState) -> Iterator[str]:
    """Return the table of the match after the result of each of its races."""
    match, has_result = after.match, after.table_view.outcome is not None
    is_new = match != before.match and (has_result or after.phase != "over")
    has_just_ended = has_result and before.table_view.outcome is None
    if match is not None and (is_new or has_just_ended):
        yield from match_lines(match, after.player)


def _totals(before: SessionState, after: SessionState) -> Iterator[str]:
    """Return the lines of the totals after a result, from a table's second race on; a match has its own table."""
    if after.match is not None or after.table_view.outcome is None:
        return
    if all(seat.races < 2 for seat in after.table.seats):
        return
    old = {seat.player: (seat.races, seat.wins, seat.net) for seat in before.table.seats}
    has_changed = any(
        seat.player in old and old[seat.player] != (seat.races, seat.wins, seat.net)
        for seat in after.table.seats
    )
    if has_changed or before.table_view.outcome is None:
        yield from totals_lines(after)


# The player's own board


def _own(before: OwnBoard | None, after: OwnBoard | None, style: LineStyle) -> Iterator[str]:
    if after is None:
        return
    if before is None or before.race != after.race:
        yield from _board_lines(after, style)
        return
    yield from _moves(before, after, style)
    if after.taken_back and after.taken_back != before.taken_back:
        yield f"no: {after.taken_back}"
    if before.is_racing and not after.is_racing:
        yield _ended(after)


def _board_lines(own: OwnBoard, style: LineStyle) -> Iterator[str]:
    """Return the lines of the whole board, after a new deal or the player's return."""
    if own.count == 0 and own.is_racing:
        yield f"deal: {own.game.name}, {money_words(own.game, own.view)}"
    else:
        yield board_line(own.game, own.view, own.count if own.is_racing else None)
    yield from position_lines(own.game, own.view, style.card_names)
    yield rule_line(own.game, own.view)
    if not own.is_racing:
        yield _ended(own)


def _moves(before: OwnBoard, after: OwnBoard, style: LineStyle) -> Iterator[str]:
    made = after.count - before.count
    if not made or after.view == before.view:
        # The end of a board counts as an entry too.
        return
    has_ended_too = made == 2 and not after.is_racing
    if before.in_flight and (made == 1 or has_ended_too):
        move, number = before.in_flight[0].move, before.count + 1
        yield moved_line(after.game, before.view, after.view, move, number, style.card_names)
        return
    # several moves at once, or moves made on another device: show the whole board
    yield board_line(after.game, after.view, after.count)
    yield from position_lines(after.game, after.view, style.card_names)
    yield rule_line(after.game, after.view)


def _ended(own: OwnBoard) -> str:
    why = ENDINGS.get(own.state, "")
    return f"ended: {state_words(own.state)}, {money_words(own.game, own.view)}{why}"


EVERY: Final = 5_000
"""Minimum milliseconds between lines on the lead or a pass; hearing a line takes as long."""

EVERY_VERBOSE: Final = 2_000
"""Minimum milliseconds between verbose reports, which list every changed standing."""

PACED: Final = frozenset({Kind.EVEN, Kind.LEAD, Kind.PASS})
"""The news that the next change of the standings may make obsolete."""


def _summarised(news: Sequence[News], state: SessionState) -> list[str]:
    """Return the texts of paced news: one summary for several on the lead or a pass."""
    # breaking even happens once; a summary would drop it
    evens = [each.text for each in news if each.kind is Kind.EVEN]
    others = [each.text for each in news if each.kind is not Kind.EVEN]
    return evens + (others if len(others) < 2 else [summary(state)])


def summary(state: SessionState) -> str:
    """Return a short phrase on the standings, for several changes at once."""
    standings = rows(state.table_view)
    own = next((row for row in standings if row.player == state.player), None)
    if own is not None:
        return f"you are {ordinal(own.place)} of {len(standings)}, {gap(state)}"
    first = [row for row in standings if row.place == 1]
    names = " and ".join(shown_name(row.name, row.bot) for row in first[:2])
    more = f" and {len(first) - 2} more" if len(first) > 2 else ""
    return f"{names}{more} {'leads' if len(first) == 1 else 'lead'} with {first[0].banked}"


class ChangeWriter:
    """A writer of the difference between each state of a table and the previous state."""

    def __init__(self, output: LineOutput, now: Callable[[], int]) -> None:
        """Create the writer; `now` returns the server's time in milliseconds since 1970."""
        self._output = output
        self._now = now
        self._state: SessionState | None = None
        self._race = ""
        self._rows: tuple[Row, ...] = ()
        self._news: tuple[News, ...] = ()
        """The race, the standings and the news of the last report that was not delayed."""
        self._reported_at = 0
        """The time of the race's last written report, by the server's clock."""
        self._timer: asyncio.TimerHandle | None = None
        self._is_paused = False
        self._last_over: SessionState | None = None
        """The last state with the result of a race; `None` before the first result."""

    def show(self, state: SessionState) -> None:
        """Write the changes since the previous state; for the first state, the whole table."""
        before, self._state = self._state, state
        if state.table_view.outcome is not None:
            self._last_over = state
        if self._is_paused:
            return
        style, now = self._output.style, self._now()
        if before is None:
            self._output.write_all(opening_lines(state, style, now))
        else:
            self._output.write_all(change_lines(before, state, style, now))
        self._report_standings(state)

    def over(self, state: SessionState) -> SessionState:
        """Return the state with the result of the last race; the present `state` before the first result."""
        if self._last_over is None or state.table_view.outcome is not None:
            return state
        return replace(self._last_over, verifications=state.verifications)

    def pause(self) -> None:
        """Write nothing until `resume`; changes in between are never written."""
        self._is_paused = True
        self._cancel_timer()

    def resume(self) -> None:
        """Write changes again, from now on."""
        self._is_paused = False

    def _report_standings(self, state: SessionState) -> None:
        """Write the changed standings if they are due, or start a timer until they are due."""
        self._cancel_timer()
        race, standings = state.table.race, tuple(rows(state.table_view))
        if state.phase != "running" or state.table_view.outcome is not None or race != self._race:
            self._reported_at = 0
        else:
            is_verbose, now = self._output.style.is_verbose, self._now()
            news = [each for each in newest(self._news, state.news) if each.kind in PACED]
            moved = [row for row in standings if row not in self._rows] if is_verbose else []
            wait = self._reported_at + (EVERY_VERBOSE if is_verbose else EVERY) - now
            if (news or moved) and wait > 0:
                self._timer = asyncio.get_running_loop().call_later(
                    wait / 1000, self._report_standings, state
                )
                return
            if is_verbose:
                news = [each for each in news if each.kind is Kind.EVEN]
            self._output.write_all(f"news: {text}" for text in _summarised(news, state))
            self._output.write_all(f"standing {standing_line(row)}" for row in moved)
            self._reported_at = now if news or moved else self._reported_at
        self._race, self._rows, self._news = race, standings, state.news

    def _cancel_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
