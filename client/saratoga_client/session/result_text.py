"""Sentences on a race and its match: places, the personal best, ended boards, results, voided races. Pure."""

from collections.abc import Iterable, Iterator
from math import ceil
from typing import Final, NamedTuple

from saratoga_client.local.printed_command import printed_command
from saratoga_client.problems import Exit, Problem
from saratoga_client.session.own_board import OwnBoard
from saratoga_client.session.state import SessionState, race_clock
from saratoga_client.session.table_view import Row, rows
from saratoga_client.wording import (
    capitalised,
    counted,
    dollars,
    finish,
    listed,
    minutes_and_seconds,
    ordinal,
    shown_name,
)
from saratoga_protocol import events
from saratoga_protocol.events import Match, MatchRow, Outcome, Seat, Table
from saratoga_protocol.matches import champions, is_over, totals
from saratoga_rules.records.digest_words import digest_words
from saratoga_rules.records.record import CLOSED, RACER_GONE, RACER_LEFT, VOID_REASONS, RaceRecord
from saratoga_rules.records.standing import LAST_BOARD_MILLIS


def race_of_match(table: Table, match: Match | None) -> str:
    """Return the place of the table's race in its match, such as `race 2 of 3`; empty without a match."""
    races = table.settings.races
    if races == 1:
        return ""
    finished = [] if match is None else match.finished
    if table.race in finished:
        return f"race {len(finished)} of {races}"
    # the news that a match is over may come a moment before its end
    return f"race {len(finished) % races + 1} of {races}"


class Totals(NamedTuple):
    """A player's races, races won and casino dollars."""

    races: int
    wins: int
    net: int


def totals_of(table: Table, match: Match | None, seat: Seat) -> Totals:
    """Return the totals of a seat: in its match, which begins at zero, or without a match at the table."""
    if table.settings.races == 1:
        return Totals(seat.races, seat.wins, seat.net)
    for each in [] if match is None else totals(match):
        if each.row.player == seat.player:
            return Totals(len(each.row.results), each.wins, each.net)
    return Totals(0, 0, 0)


def champion_words(match: Match, you: str) -> str:
    """Return who won the match; empty before its end."""
    first = champions(match)
    # the player comes first in a list
    first.sort(key=lambda row: row.player != you)
    if not first:
        return ""
    names = listed(["You" if row.player == you else _name(row) for row in first])
    is_one = len(first) == 1
    verb = "share the match" if not is_one else f"{'are' if names == 'You' else 'is'} the champion"
    return f"{names} {verb}: {dollars(totals(match)[0].net)} over {counted(match.races, 'race')}."


def match_heading(match: Match) -> str:
    """Return a heading for the table of a match, such as `match after race 2 of 3`."""
    races = counted(match.races, "race")
    done = len(match.finished)
    return f"match of {races}" if is_over(match) else f"match after race {done} of {match.races}"


def _name(row: MatchRow) -> str:
    return shown_name(row.name, row.bot)


def match_lines(match: Match, you: str) -> Iterator[str]:
    """Return the table of a match in words: a heading, a line for each player, and the champion at its end."""
    yield f"match: {match_heading(match)}"
    for row, place, net, wins in totals(match):
        results = {result.race: result for result in row.results}
        races = [
            f"race {number} {ordinal(each.place)} {dollars(each.net)}"
            if (each := results.get(race)) is not None
            else f"race {number} missed"
            for number, race in enumerate(match.finished, 1)
        ]
        won = counted(wins, "win")
        yield f"match {place}. {_name(row)}: {dollars(net)}, {won}, {', '.join(races)}"
    if champion := champion_words(match, you):
        yield f"match: {champion}"


ENDINGS: Final = {
    "won": "You have won! All {banked} cards are banked, net {net}.",
    "cash-out": "Cashed out: {banked} banked, net {net}.",
    "stuck": "Stuck: whatever you play, nothing more can be banked. Your board is over: {banked} banked, net {net}.",
    "out-of-time": "Time is up: {banked} banked, net {net}. All of it counts.",
    "left": "You left the race: {banked} banked, net {net}. All of it counts.",
    "ended-by-host": "{host} has ended the race: {banked} banked, net {net}. All of it counts.",
    "ended-by-vote": "You all ended the race: {banked} banked, net {net}. All of it counts.",
    "idle": (
        "Your board ended after 3 minutes without a key. Your seat is kept. {banked} banked, net {net};"
        " the next race comes after this one."
    ),
}
"""The message at the end of the player's board, by the board's state."""


def who(row: Row, you: str) -> str:
    """Return a racer's name in a sentence; the player is `you`."""
    return "you" if row.player == you else shown_name(row.name, row.bot)


def ending(row: Row, you: str) -> str:
    """Return how a racer's board ended, such as `mei is stuck at 9`."""
    is_you = row.player == you
    ended = {
        "won": "broke the bank with",
        "cash-out": "cashed out with",
        "stuck": "are stuck at" if is_you else "is stuck at",
        "out-of-time": "ran out of time at",
        "left": "left at",
        "ended-by-host": f"{'were' if is_you else 'was'} ended by the host at",
        "ended-by-vote": "agreed to end at",
        "bots-stopped": "stopped at",
        "idle": f"{'were' if is_you else 'was'} idle for 3 minutes and ended at",
    }.get(row.state, f"{row.state} at")
    return f"{who(row, you)} {ended} {row.banked}"


def own_ending(state: SessionState, own: OwnBoard) -> str:
    """Return a sentence on the end of the player's board and the number of players still racing."""
    words = ENDINGS.get(own.state, "Your board is over: {banked} banked, net {net}.")
    host = name_of(state, state.table.host)
    ending = words.format(banked=own.banked, net=dollars(own.net), host=host)
    others = [
        row
        for row in rows(state.table_view)
        if row.state == "racing" and row.player != state.player
    ]
    if others and state.phase == "running":
        names = [row.name for row in others]
        racing = str(len(names)) if len(names) > 2 else " and ".join(names)
        ending += f" {racing} {'is' if len(names) == 1 else 'are'} still racing."
    return ending


def gap(state: SessionState) -> str:
    """Return the player's distance to the next rival, such as `6 behind ana`.

    Return an empty text outside a race.
    """
    own, others = _rows(state)
    if own is None:
        return ""
    if not others:
        return "alone in this race"
    # A rival with as many cards comes first: there the time decides.
    level = [row for row in others if row.banked == own.banked]
    if level:
        return f"level with {who(level[0], state.player)}"
    if own.place > 1:
        ahead = others[0]
        return f"{ahead.banked - own.banked} behind {who(ahead, state.player)}"
    return f"{own.banked - others[0].banked} ahead of {who(others[0], state.player)}"


def _rows(state: SessionState) -> tuple[Row | None, list[Row]]:
    """Return the player's row of the scoreboard, if there is one, and the others."""
    found = rows(state.table_view)
    own = next((row for row in found if row.player == state.player), None)
    return own, [row for row in found if row is not own]


def against_best(state: SessionState, at: int) -> str:
    """Compare a racing player with the personal best, `at` milliseconds into the race; empty without one."""
    if state.best is None or state.own is None or not state.own.is_racing:
        return ""
    ahead = state.own.banked - state.best.banked_by(at)
    return (
        f"{abs(ahead)} {'ahead of' if ahead > 0 else 'behind'} your best"
        if ahead
        else "level with your best"
    )


def last_board(state: SessionState, now: int) -> str:
    """Return whose board is the last one racing, and when another player, the host, may end it; empty if there is none.

    `now` is the server's time in milliseconds.
    """
    table = state.table
    if state.phase != "running" or not table.last_racer:
        return ""
    is_own = table.last_racer == state.player
    racing = "you are" if is_own else f"{name_of(state, table.last_racer)} is"
    if is_own and state.is_host:
        return "Only you are still racing."
    if table.last_racer == table.host:
        # only the host ends a race
        left = race_clock(state, now).left
        until = "" if left is None else f", {minutes_and_seconds(left)} left"
        return f"{name_of(state, table.host)} is still racing{until}."
    host = "you" if state.is_host else name_of(state, table.host)
    wait = seconds_to_end(state, now)
    return (
        f"Only {racing} still racing; {host} can end the race {f'in {wait} s' if wait else 'now'}."
    )


def seconds_to_end(state: SessionState, now: int) -> int:
    """Return the seconds until the host may end the last board."""
    # the server adds a moment for clocks that differ
    return max(0, min(LAST_BOARD_MILLIS // 1000, ceil((state.table.end_from - now) / 1000)))


def name_of(state: SessionState, player: str) -> str:
    """Return the name of a player at the table or in its race."""
    seat = next((seat for seat in state.table.seats if seat.player == player), None)
    if seat is not None:
        return shown_name(seat.name, seat.bot)
    row = next((row for row in rows(state.table_view) if row.player == player), None)
    return "the host" if row is None else shown_name(row.name, row.bot)


def own_result(state: SessionState) -> str:
    """Return the player's result, such as `You finished 2nd of 3, 4 cards behind ana, 2 ahead of raj.`; empty without one."""
    own, others = _rows(state)
    if state.table_view.outcome is None or own is None:
        return ""
    if not others:
        return f"{capitalised(ending(own, state.player))}: {dollars(own.net)}."
    sharing = [shown_name(row.name, row.bot) for row in others if row.place == own.place]
    words = [finish("You", own.place, len(others) + 1, sharing)]
    behind = next((row for row in reversed(others) if row.place < own.place), None)
    ahead = next((row for row in others if row.place > own.place), None)
    for row, word in ((behind, "behind"), (ahead, "ahead of")):
        if row is not None and (more := abs(row.banked - own.banked)):
            cards = counted(more) if len(words) == 1 else f"{more}"
            words.append(f"{cards} {word} {shown_name(row.name, row.bot)}")
    return f"{', '.join(words)}."


def headline(state: SessionState) -> str:
    """Return who has won the race, or the match that it has ended: `Ben wins by $20.`; empty before the result."""
    found = rows(state.table_view)
    if state.table_view.outcome is None or not found:
        return ""
    if state.match is not None and (champion := champion_words(state.match, state.player)):
        return champion
    names = [who(row, state.player) for row in found if row.place == 1]
    banked = counted(found[0].banked)
    if len(found) == 1:
        says = f"banked {banked}: {dollars(found[0].net)}"
    elif len(names) > 1:
        says = f"share first place with {banked}"
    else:
        more = found[0].net - found[1].net
        verb = "win" if names == ["you"] else "wins"
        says = f"{verb} by ${more}" if more else f"{verb}, first to {banked}"
    text = f"{listed(names)} {says}."
    return capitalised(text) if names[0] == "you" else text


def why_unranked(state: SessionState) -> str:
    """Return why a finished race of several people does not count for their leaderboards."""
    if not state.table.settings.cap:
        return "a race without a time limit does not count for the leaderboards"
    return "on this server only races at public tables count for the leaderboards"


def digest_words_of(outcome: Outcome) -> str:
    """Return the four words of the announced digest; empty if the server sent no digest."""
    try:
        return digest_words(outcome.digest)
    except ValueError:
        return ""


def table_totals(state: SessionState) -> tuple[Seat, ...]:
    """Return the seats of the table's racers, sorted by casino dollars and then by races won."""
    raced = [seat for seat in state.table.seats if seat.races]
    return tuple(sorted(raced, key=lambda seat: (-seat.net, -seat.wins, seat.name)))


def void_reason(voided: events.Ended, seats: Iterable[events.Seat]) -> str:
    """Return why a race was voided; if a racer left whose seat is known, with the name."""
    for seat in seats:
        if voided.reason in (RACER_LEFT, RACER_GONE) and seat.player in voided.blamed:
            what = "left" if voided.reason == RACER_LEFT else "was removed"
            return f"{shown_name(seat.name, seat.bot)} {what} in the countdown"
    return VOID_REASONS.get(voided.reason, voided.reason)


def voided_words(voided: events.Ended, seats: Iterable[events.Seat], server: str = "") -> str:
    """Return why a race was voided, what that means, and how to check it.

    `server` is the address to name in the command, if any.
    """
    reason = void_reason(voided, seats)
    check = check_line(voided.race, server)
    if voided.reason == CLOSED:
        return f"voided by the server: {reason}. It counts for nothing. {check}"
    return (
        f"the countdown was voided: {reason}. The deal was discarded, and its seed is open. {check}"
    )


def check_line(race: str, server: str = "") -> str:
    """Return the sentence with the command that checks a race."""
    return f"To check it: {printed_command('verify', race, server=server)}"


def newly_voided(before: events.Table, after: events.Table) -> events.Ended | None:
    """Return the race voided since an earlier version of the table, if any."""
    ended = after.previous
    is_new = ended is not None and ended.reason and ended != before.previous
    return ended if is_new else None


def voided_problem(void: RaceRecord, wanted: str = "", server: str = "") -> Problem:
    """Return the message that a voided race has no boards to look at.

    `wanted` is the id of the race that was asked for, if any. `server` is the address to name in
    the command, if any.
    """
    if wanted and void.race_id != wanted:
        return wrong_race(wanted, void.race_id)
    why = VOID_REASONS.get(void.voided, void.voided)
    return Problem(
        f"Race {void.race_id} was voided by the server ({why}), so it has no result "
        "and no boards to replay.",
        f"See what was opened of it: {printed_command('verify', void.race_id, server=server)}",
        Exit.REFUSED,
    )


def wrong_race(wanted: str, got: str) -> Problem:
    """Return the message that the server sent the record of another race than `wanted`."""
    return Problem(
        f"Race {wanted} was asked for, but the record is of race {got}.",
        "Report this to the operator of the server.",
        Exit.NOT_VERIFIED,
    )
