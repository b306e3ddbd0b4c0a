"""How often the standings are said: who listens hears how things stand, not every step there. Pure."""

from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from saratoga_client.plain.table_changes import standing_line
from saratoga_client.session.feed import FeedLine, Tone
from saratoga_client.session.result_text import gap
from saratoga_client.session.state import SessionState
from saratoga_client.session.table_view import Row, rows
from saratoga_client.wording import ordinal, shown_name

EVERY: Final = 5_000
"""Milliseconds between two lines on who leads and who passed whom: a line takes as long to hear."""

EVERY_VERBOSE: Final = 2_000
"""The same where every standing is to be said: each that changed once, as it is then."""

PACED: Final = frozenset({Tone.LEAD, Tone.PASS})
"""News that the next look at the race may already have made old."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What has been said of a race, and when."""

    race: str = ""
    rows: tuple[Row, ...] = ()
    feed: tuple[FeedLine, ...] = ()
    at: int = 0


class Telling(NamedTuple):
    """What is to be said now."""

    told: Told
    lines: tuple[str, ...] = ()
    wait: int | None = None
    """Milliseconds after which to look again, where something is held back."""


def telling(told: Told, state: SessionState, now: int, *, is_verbose: bool = False) -> Telling:
    """What is new in the standings, in few lines, if it is time for them."""
    race, standings = state.table.race, tuple(rows(state.table_view))
    is_on = state.phase == "running" and state.table_view.outcome is None
    if not is_on or told.race != race:
        return Telling(Told(race=race, rows=standings, feed=state.feed_lines))
    news = [line for line in new_lines(told.feed, state.feed_lines) if line.tone in PACED]
    moved = [row for row in standings if row not in told.rows] if is_verbose else []
    if not news and not moved:
        return Telling(replace(told, feed=state.feed_lines, rows=standings))
    wait = told.at + (EVERY_VERBOSE if is_verbose else EVERY) - now
    if wait > 0:
        return Telling(told, wait=wait)
    line_typed = Told(race=race, rows=standings, feed=state.feed_lines, at=now)
    if is_verbose:
        return Telling(line_typed, tuple(f"standing {standing_line(row)}" for row in moved))
    return Telling(line_typed, (f"news: {news[0].text if len(news) == 1 else summary(state)}",))


def summary(state: SessionState) -> str:
    """How the race stands in a few words, where more has happened than anybody can follow."""
    standings = rows(state.table_view)
    own = next((row for row in standings if row.player == state.player), None)
    if own is not None:
        return f"you are {ordinal(own.place)} of {len(standings)}, {gap(state)}"
    first = [row for row in standings if row.place == 1]
    names = " and ".join(shown_name(row.name, row.bot) for row in first[:2])
    more = f" and {len(first) - 2} more" if len(first) > 2 else ""
    return f"{names}{more} {'leads' if len(first) == 1 else 'lead'} with {first[0].banked}"


def new_lines(before: tuple[FeedLine, ...], after: tuple[FeedLine, ...]) -> tuple[FeedLine, ...]:
    """The lines at the end of `after` that were not in `before`; old ones may have fallen out."""
    if not before:
        return after
    for at in range(len(after) - 1, -1, -1):
        if after[at] is before[-1]:
            return after[at + 1 :]
    return after
