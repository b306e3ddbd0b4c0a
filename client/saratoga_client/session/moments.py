"""The moments of a race that are worth a sentence: the lead, breaking even, a broken bank, the last minute.

Pure: `next_moment` goes from one state to the next. The feed has the lines of all changes, and waits
between two changes of the lead; a moment is the most important of the new lines.
"""

from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from saratoga_client.session.news import FeedLine, Tone, new_lines, with_line
from saratoga_client.session.state import SessionState, race_clock
from saratoga_client.wording import capitalised

LAST_MINUTE: Final = 60_000
"""The last minute of a race, in milliseconds."""

LATE: Final = 5_000
"""Milliseconds after which the beginning of the last minute is no news any more."""

QUIET: Final = 2_000
"""Milliseconds without moments after a lost connection: what happened meanwhile is not told as new."""

TONES: Final = (Tone.WON, Tone.EVEN, Tone.LEAD)
"""The tones of feed lines that are moments, the most important first."""

LAST_MINUTE_WORDS: Final = "The last minute."


class RaceNews(NamedTuple):
    """A sentence on a moment of the race."""

    text: str
    is_last_minute: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenMoments:
    """The moments of a race that are known already."""

    race: str = ""
    lines: tuple[FeedLine, ...] = ()
    is_last_minute: bool = False
    quiet_until: int = 0
    """The server's time until which moments are dropped."""


def next_moment(
    seen: SeenMoments, state: SessionState, now: int
) -> tuple[SeenMoments, RaceNews | None]:
    """Return the moments known at the server's time `now`, and the new one, if there is one.

    The first state of a race has none: what happened before it is not told as new.
    """
    left = race_clock(state, now).left
    is_last_minute = state.phase == "running" and left is not None and left <= LAST_MINUTE
    quiet_until = seen.quiet_until if state.is_connected else now + QUIET
    known = replace(
        seen,
        race=state.table.race,
        lines=state.feed_lines,
        is_last_minute=is_last_minute,
        quiet_until=quiet_until,
    )
    is_running = state.phase == "running" and state.table_view.outcome is None
    if seen.race != known.race or not is_running or now < quiet_until:
        return known, None
    lines = new_lines(seen.lines, state.feed_lines)
    texts = [line.text for tone in TONES for line in lines if line.tone is tone]
    if not seen.is_last_minute and _last_minute_begins(state, now):
        return known, RaceNews(LAST_MINUTE_WORDS, is_last_minute=True)
    if not texts:
        return known, None
    text = texts[0]
    # a player's name stays as it is
    return known, RaceNews(f"{capitalised(text) if text.startswith('you ') else text}.")


def with_last_minute(state: SessionState, now: int) -> SessionState:
    """Return the state with a line in the feed if the last minute has just begun, the same state otherwise."""
    if not _last_minute_begins(state, now) or any(
        line.tone is Tone.LAST_MINUTE for line in state.feed_lines
    ):
        return state
    line = LAST_MINUTE_WORDS.rstrip(".").lower()
    feed = with_line(state.feed, now - state.start_at, line, Tone.LAST_MINUTE)
    return replace(state, feed=feed)


def _last_minute_begins(state: SessionState, now: int) -> bool:
    left = race_clock(state, now).left
    is_minute = left is not None and LAST_MINUTE - LATE < left <= LAST_MINUTE
    return is_minute and state.phase == "running" and state.table_view.outcome is None


def until_last_minute(state: SessionState, now: int) -> int | None:
    """Return the milliseconds until the last minute begins; `None` if it has begun or there is none."""
    left = race_clock(state, now).left
    if state.phase != "running" or left is None or left <= LAST_MINUTE:
        return None
    return left - LAST_MINUTE
