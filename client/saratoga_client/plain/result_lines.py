"""Lines for standings, results and totals. Pure."""

from collections.abc import Iterator

from saratoga_client.session.result_text import digest_words_of, own_result, totals
from saratoga_client.session.state import SessionState
from saratoga_client.session.table_view import Row, rows
from saratoga_client.wording import counted, dollars, shown_name
from saratoga_protocol import events


def standing_line(row: Row) -> str:
    """Return a racer's standing, such as `2. Otto [bot]: 14 banked, +$20, racing, $15 behind`."""
    gap = f", ${row.gap} behind" if row.gap else ""
    tie = f" ({row.tie})" if row.tie else ""
    return (
        f"{row.place}. {shown_name(row.name, row.bot)}: {row.banked} banked, "
        f"{dollars(row.net)}, {row.state}{gap}{tie}"
    )


def standings_lines(state: SessionState) -> Iterator[str]:
    """Return the standings of the race, the first place first."""
    found = rows(state.table_view)
    if not found:
        yield "standings: none yet"
    for row in found:
        yield f"standing {standing_line(row)}"


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
        yield "note: of two players with the same money, the one who reached it first is ahead"
    if words := digest_words_of(outcome):
        yield f"words: {words}; friends who were shown the same race have the same four words"
    if state.is_new_best:
        yield from best_lines(state, outcome)
    yield from verification_lines(state, outcome)


def best_lines(state: SessionState, outcome: events.Outcome) -> Iterator[str]:
    """Return a line if the race was the player's personal best."""
    if state.best is not None and state.best.race == outcome.race:
        yield f"best: {state.best.banked} banked is your best at {outcome.game} on this machine"


def verification_lines(state: SessionState, outcome: events.Outcome) -> Iterator[str]:
    """Return the line with the verdict on the race's record, once the record is checked."""
    found = state.verifications.get(outcome.race)
    if found is not None:
        yield f"{'verified' if found.ok else 'alarm'}: {found.sentence}"


def totals_lines(state: SessionState) -> Iterator[str]:
    """Return the lines of the totals of the table's races, the most money first."""
    seats = totals(state)
    if not seats:
        yield "totals: no one at this table has raced yet"
    for seat in seats:
        yield (
            f"total {shown_name(seat.name, seat.bot)}: {counted(seat.races, 'race')}, "
            f"{counted(seat.wins, 'win')}, {dollars(seat.net)}"
        )
