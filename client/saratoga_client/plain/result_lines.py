"""Lines for standings, results and totals. Pure."""

from collections.abc import Iterator
from typing import Final

from saratoga_client.review.boards import live_climb
from saratoga_client.session.result_text import (
    digest_words_of,
    match_lines,
    own_result,
    table_totals,
)
from saratoga_client.session.state import SessionState, Verification, race_clock
from saratoga_client.session.table_view import Row, rows
from saratoga_client.wording import (
    counted,
    dollars,
    minutes_and_seconds,
    rivals,
    shown_name,
    state_words,
)
from saratoga_protocol import events
from saratoga_protocol.events import LeaderboardRow

CLIMB_EVERY: Final = (30_000, 60_000, 120_000, 300_000)
"""Milliseconds between two counts of a climb line."""

MOST_TIMES: Final = 10
"""Maximum number of counts of a climb line, except in very long races."""


def standing_line(row: Row) -> str:
    """Return a racer's standing, such as `2. Otto°: 14 banked, +$20, racing, $15 behind`."""
    gap = f", ${row.gap} behind" if row.gap else ""
    tie = f" ({row.tie})" if row.tie else ""
    return (
        f"{row.place}. {shown_name(row.name, row.bot)}: {row.banked} banked, "
        f"{dollars(row.net)}, {state_words(row.state)}{gap}{tie}"
    )


def standings_lines(state: SessionState) -> Iterator[str]:
    """Return the standings of the race, the first place first."""
    found = rows(state.table_view)
    if not found:
        yield "standings: none yet"
    for row in found:
        yield f"standing {standing_line(row)}"


def climb_lines(state: SessionState, now: int) -> Iterator[str]:
    """Return a line for each racer with the cards banked at regular times of the race, and now."""
    elapsed = race_clock(state, now).elapsed
    if state.phase != "running":
        yield "climb: no race is running"
        return
    every = next((each for each in CLIMB_EVERY if elapsed < MOST_TIMES * each), CLIMB_EVERY[-1])
    for row in rows(state.table_view):
        climb = live_climb(state, row, elapsed)
        counts = [
            f"{climb.banked_at(at)} at {minutes_and_seconds(at)}" for at in range(0, elapsed, every)
        ]
        name = shown_name(row.name, row.bot)
        yield f"climb {row.place}. {name}: {', '.join((*counts, f'{row.banked} now'))}"


def result_lines(state: SessionState) -> Iterator[str]:
    """Return the result of the finished race, with the tie-break rule if it was needed."""
    outcome = state.table_view.outcome
    if outcome is None:
        yield "no: No race is over yet. Type standings to see how this one stands."
        return
    ranked = "ranked" if outcome.ranked else "unranked"
    yield f"race {outcome.race}: over, {outcome.game}, {ranked}"
    found = rows(state.table_view)
    for row in found:
        yield f"result {standing_line(row)}"
    if state.player in {row.player for row in found}:
        yield f"you: {own_result(state)}"
    if any(row.tie for row in found):
        yield "note: of two players with the same money, the one who last rose to it earlier is ahead"
    if words := digest_words_of(outcome):
        yield f"words: {words}; friends who were shown the same race have the same four words"
    if state.is_new_best:
        yield from best_lines(state, outcome)
    if (verification := state.verifications.get(outcome.race)) is not None:
        yield verification_line(verification)


def best_lines(state: SessionState, outcome: events.Outcome) -> Iterator[str]:
    """Return a line if the race was the player's personal best."""
    if state.best is not None and state.best.race == outcome.race:
        yield f"best: {state.best.banked} banked is your best at {outcome.game} on this machine"


def verification_line(found: Verification) -> str:
    """Return the line with the verdict on a race's record."""
    kind = "verified" if found.ok else "alarm" if found.is_alarm else "unverified"
    return f"{kind}: {found.sentence}"


def totals_lines(state: SessionState) -> Iterator[str]:
    """Return the table of the match; without a match, the totals of the table's races, the most money first."""
    if state.match is not None:
        yield from match_lines(state.match, state.player)
        return
    if state.table.settings.races > 1:
        yield "totals: no race of this match is over yet"
        return
    seats = table_totals(state)
    if not seats:
        yield "totals: no one at this table has raced yet"
    for seat in seats:
        yield (
            f"total {shown_name(seat.name, seat.bot)}: {counted(seat.races, 'race')}, "
            f"{counted(seat.wins, 'win')}, {dollars(seat.net)}"
        )


def leaderboard_lines(page: events.Leaderboard) -> Iterator[str]:
    """Return a heading and a line for every row of a leaderboard page."""
    who = "bots, " if page.bots else ""
    yield f"{page.game}, {page.ranking}, {who}{page.key}: {page.total} in all"
    for row in page.rows:
        yield _line(page, row)
    if page.me is not None and page.me not in page.rows:
        yield "you: " + _line(page, page.me)


def _line(page: events.Leaderboard, row: LeaderboardRow) -> str:
    name = shown_name(row.name, page.bots)
    if page.ranking == "rating":
        return f"{row.rank}. {name}: {row.value}, give or take {row.doubt}, after {counted(row.races, 'race')}"
    if page.ranking == "bankroll":
        races = counted(row.races, "race")
        return f"{row.rank}. {name}: {dollars(row.value)} in {races}, against {rivals(row.rivals)}"
    # 0: no move raised the deal's count
    after = f" in {minutes_and_seconds(row.elapsed, tenths=True)}" if row.elapsed else ""
    return (
        f"{row.rank}. {name}: {row.value} banked{after}, {dollars(row.net)}, {row.race}, "
        f"against {rivals(row.rivals)}"
    )
