"""An evening's events as lines: what changed between two evenings, and nothing else. Pure."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from saratoga_client.net.link_state import LinkState
from saratoga_client.plain.card_names import LETTERS, CardNames
from saratoga_client.plain.move_lines import moved_line
from saratoga_client.plain.position import board_line, money_words, position_lines
from saratoga_client.plain.standings_rate import new_lines
from saratoga_client.plain.table_changes import LEFT, READY, seat_news, standing_line
from saratoga_client.session.feed import Tone
from saratoga_client.session.own_board import OwnBoard
from saratoga_client.session.result_text import own_result, totals
from saratoga_client.session.state import SessionState, race_clock
from saratoga_client.session.table_view import rows
from saratoga_client.wording import cap_words, counted, dollars, minutes_and_seconds, shown_name
from saratoga_protocol import events

ENDINGS: Final = {
    "won": "every card is banked",
    "stuck": "nothing more could be banked, whatever you play",
    "cashed out": "you took the money",
    "out of time": "the time is up",
    "left": "you left the race",
}
"""Why one's board has ended, said to the player."""

GATHERING: Final = "gathering"


@dataclass(frozen=True, slots=True)
class LineStyle:
    """How an evening is said."""

    card_names: CardNames = LETTERS
    is_verbose: bool = False


def opening_lines(state: SessionState, style: LineStyle, now: int) -> Iterator[str]:
    """The lines for whoever has just sat down, or come back."""
    yield from table_lines(state)
    if state.own is not None:
        yield from _board_shown(state.own, style)
    elif state.phase == "running" and state.seat is not None:
        yield "note: this race is on without you; you can be ready for the next one"
    if state.phase == "countdown":
        yield _countdown(state, now)
    if state.phase == GATHERING and state.seat is not None:
        start = " and start when the others are" if state.is_host else ""
        yield f"note: say ready when you want to race{start}; help says what else can be said"


def change_lines(
    before: SessionState, after: SessionState, style: LineStyle, now: int
) -> Iterator[str]:
    """A line for everything that is new, in the order in which a listener wants it."""
    yield from _link(before, after)
    yield from _connection(before, after)
    yield from _seats(before, after)
    yield from _host(before, after)
    yield from _settings(before, after)
    yield from _phase(before, after, now)
    yield from _own(before.own, after.own, style)
    yield from _news(before, after, style)
    yield from _over(before, after)
    yield from _totals(before, after)
    if after.seat_lost and not before.seat_lost:
        yield f"gone: {after.seat_lost}"


# The table


def table_lines(state: SessionState) -> Iterator[str]:
    """The table, and who sits there."""
    table = state.table
    yield f"table {table.code}: {settings_words(table.settings)}"
    for number, seat in enumerate(table.seats, start=1):
        yield f"seat {number} {shown_name(seat.name, seat.bot)}: {_seat_words(state, seat)}"
    yield f"race {table.race}: {table.phase}"


def settings_words(settings: events.TableSettings) -> str:
    """What the host chose."""
    public = "public" if settings.public else "private"
    return (
        f"{settings.game}, {cap_words(settings.cap)}, {counted(settings.seats, 'seat')}, {public}"
    )


def _seat_words(state: SessionState, seat: events.Seat) -> str:
    facts = [
        ("you", seat.player == state.player),
        ("host", seat.player == state.table.host),
        ("ready", seat.ready),
        ("not ready", not seat.ready and state.phase == GATHERING),
        ("racing", seat.player in state.table.racers and state.phase == "running"),
        ("connection lost", not seat.connected),
    ]
    return ", ".join(word for word, is_so in facts if is_so) or "here"


def totals_lines(state: SessionState) -> Iterator[str]:
    """What everybody at the table made of the evening so far, the richest first."""
    seats = totals(state)
    if not seats:
        yield "totals: nobody here has raced yet"
    for seat in seats:
        yield (
            f"total {shown_name(seat.name, seat.bot)}: {counted(seat.races, 'race')}, "
            f"{counted(seat.wins, 'win')}, {dollars(seat.net)}"
        )


def _seats(before: SessionState, after: SessionState) -> Iterator[str]:
    """Who came, went or said ready; not what an answer or a notice has just said."""
    for seat, deed in seat_news(before.table_view, after.table_view):
        is_answered = deed == READY and seat.player == after.player
        is_noticed = deed == LEFT and seat.name in _new_notice(before, after)
        if not is_answered and not is_noticed:
            yield f"seat: {shown_name(seat.name, seat.bot)} {deed}"


def _new_notice(before: SessionState, after: SessionState) -> str:
    return after.table.notice if after.table.notice != before.table.notice else ""


def _host(before: SessionState, after: SessionState) -> Iterator[str]:
    if before.table.host == after.table.host:
        return
    host = next((seat for seat in after.table.seats if seat.player == after.table.host), None)
    if after.is_host:
        yield "host: you are host now: say start when everybody is ready"
    elif host is not None and host.name not in _new_notice(before, after):
        yield f"host: {shown_name(host.name, host.bot)} is host now"


def _settings(before: SessionState, after: SessionState) -> Iterator[str]:
    if before.table.settings != after.table.settings:
        yield f"settings: {settings_words(after.table.settings)}"


def _connection(before: SessionState, after: SessionState) -> Iterator[str]:
    if after.announcement and after.announcement != before.announcement:
        yield f"house: {after.announcement}"
    if notice := _new_notice(before, after):
        yield f"notice: {notice}"
    for alarm in after.alarms[len(before.alarms) :]:
        yield f"alarm: {alarm}"


def _link(before: SessionState, after: SessionState) -> Iterator[str]:
    if before.link is after.link:
        return
    if after.link is LinkState.RECONNECTING:
        safe = " Your score is safe; the race's clock runs on." if _is_racing(after) else ""
        yield f"link: the connection is lost, trying again.{safe}"
    elif after.link is LinkState.CONNECTED:
        yield "link: connected again"


# A race


def _phase(before: SessionState, after: SessionState, now: int) -> Iterator[str]:
    was, now_is = (before.table.race, before.phase), (after.table.race, after.phase)
    if was == now_is:
        return
    match after.phase:
        case "countdown":
            yield _countdown(after, now)
        case "running":
            yield "countdown: 0"
            yield f"race {after.table.race}: running, {_cap_words(after, now)}"
        case "over":
            # the outcome says so
            return
        case phase:
            yield f"race {after.table.race}: {phase}"


def _countdown(state: SessionState, now: int) -> str:
    seconds = (race_clock(state, now).until_start + 500) // 1000
    racers = counted(len(state.table.racers), "racer")
    sits_out = state.seat is not None and state.player not in state.table.racers
    yours = "; you sit this one out" if sits_out else ""
    return f"countdown: {seconds} seconds, {racers}{yours}"


def _cap_words(state: SessionState, now: int) -> str:
    left = race_clock(state, now).left
    return "no cap" if left is None else f"{minutes_and_seconds(left + 500)} to go"


def clock_line(state: SessionState, now: int) -> str:
    """The time of the race."""
    time = race_clock(state, now)
    if state.phase == "countdown":
        return f"clock: the race starts in {(time.until_start + 500) // 1000} seconds"
    if state.phase != "running":
        return "clock: no race is running"
    left = "no cap" if time.left is None else f"{minutes_and_seconds(time.left)} left"
    return f"clock: {minutes_and_seconds(time.elapsed)} gone, {left}"


def standings_lines(state: SessionState) -> Iterator[str]:
    """Who stands where."""
    found = rows(state.table_view)
    if not found:
        yield "standings: none yet"
    for row in found:
        yield f"standing {standing_line(row)}"


def _news(before: SessionState, after: SessionState, style: LineStyle) -> Iterator[str]:
    """Whose race has ended, and with every standing who reached ten; `pacing` tells the rest."""
    if after.table_view.outcome is not None:
        return
    for line in new_lines(before.feed_lines, after.feed_lines):
        is_other = line.player not in ("", after.player)
        if line.tone is Tone.ENDING and (is_other or not line.player):
            yield f"news: {line.text}"
        if line.tone is Tone.MILESTONE and is_other and style.is_verbose:
            yield f"news: {line.text}"


def _over(before: SessionState, after: SessionState) -> Iterator[str]:
    outcome = after.table_view.outcome
    known = before.table_view.outcome
    if outcome is not None and (known is None or known.race != outcome.race):
        yield from result_lines(after)
        return
    if outcome is None:
        return
    if after.is_new_best and not before.is_new_best:
        yield from _best(after, outcome)
    if after.verifications != before.verifications:
        yield from _verification(after, outcome)


def _totals(before: SessionState, after: SessionState) -> Iterator[str]:
    """The evening so far, when it is more than one race, and after the result."""
    outcome = after.table_view.outcome
    if outcome is None or all(seat.races < 2 for seat in after.table.seats):
        return
    was = {seat.player: (seat.races, seat.wins, seat.net) for seat in before.table.seats}
    has_grown = any(
        was.get(seat.player, (seat.races, seat.wins, seat.net)) != (seat.races, seat.wins, seat.net)
        for seat in after.table.seats
    )
    if has_grown or before.table_view.outcome is None:
        yield from totals_lines(after)


def result_lines(state: SessionState) -> Iterator[str]:
    """How the race ended, the ties explained."""
    outcome = state.table_view.outcome
    if outcome is None:
        yield "no: No race is over yet. Say standings for how this one stands."
        return
    ranked = "ranked" if outcome.ranked else "unranked"
    yield f"race {outcome.race}: over, {outcome.game}, {ranked}"
    for row in rows(state.table_view):
        yield f"result {standing_line(row)}"
    if state.player in {row.player for row in rows(state.table_view)}:
        yield f"you: {own_result(state)}"
    if any(row.tie for row in rows(state.table_view)):
        yield "note: with the same money, whoever reached the count first is ahead"
    if state.is_new_best:
        yield from _best(state, outcome)
    yield from _verification(state, outcome)


def _best(state: SessionState, outcome: events.Outcome) -> Iterator[str]:
    if state.best is not None and state.best.race == outcome.race:
        yield f"best: {state.best.banked} banked is your best at {outcome.game} on this machine"


def _verification(state: SessionState, outcome: events.Outcome) -> Iterator[str]:
    found = state.verifications.get(outcome.race)
    if found is not None:
        yield f"{'verified' if found.ok else 'alarm'}: {found.sentence}"


# One's own board


def _is_racing(state: SessionState) -> bool:
    return state.own is not None and state.own.is_racing


def _own(before: OwnBoard | None, after: OwnBoard | None, style: LineStyle) -> Iterator[str]:
    if after is None:
        return
    if before is None or before.race != after.race:
        yield from _board_shown(after, style)
        return
    yield from _moves(before, after, style)
    if after.taken_back and after.taken_back != before.taken_back:
        yield f"no: {after.taken_back}"
    if before.is_racing and not after.is_racing:
        yield _ended(after)


def _board_shown(own: OwnBoard, style: LineStyle) -> Iterator[str]:
    """The deal, or the board as it was left."""
    if own.count == 0 and own.is_racing:
        yield f"deal: {own.game.name}, {money_words(own.game, own.view)}"
    else:
        yield board_line(own.game, own.view, own.count if own.is_racing else None)
    yield from position_lines(own.game, own.view, style.card_names)
    if not own.is_racing:
        yield _ended(own)


def _moves(before: OwnBoard, after: OwnBoard, style: LineStyle) -> Iterator[str]:
    made = after.count - before.count
    if not made or after.view == before.view:
        # an ending is an entry of the log too
        return
    has_ended_too = made == 2 and not after.is_racing
    if before.in_flight and (made == 1 or has_ended_too):
        move, number = before.in_flight[0].move, before.count + 1
        yield moved_line(after.game, before.view, after.view, move, number, style.card_names)
        return
    # several at once, or made elsewhere: where it stands is what matters
    yield board_line(after.game, after.view, after.count)
    yield from position_lines(after.game, after.view, style.card_names)


def _ended(own: OwnBoard) -> str:
    why = ENDINGS.get(own.state, own.state)
    return f"ended: {own.state}, {money_words(own.game, own.view)}; {why}; that counts"
