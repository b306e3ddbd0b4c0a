"""What happens in a race, in lines: who leads, who passed whom, who stopped. Never a card.

Pure. Lines come from what changed since something was last *told*, not from single events: what is
left out because too much happened at once is made up for by the next look, and after a lost
connection one look tells where things stand.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from saratoga_client.sanitised import sanitised
from saratoga_client.session.table_view import Row, dollars, shown_name

MOST_LINES: Final = 60
"""Kept; the oldest fall out."""

MOST_AT_ONCE: Final = 4
"""Lines from one look; less important ones are left out."""

LEAD_EVERY: Final = 3_000
"""Milliseconds between two lines about the lead, which may change with every card."""

PASS_EVERY: Final = 5_000
"""Milliseconds between two lines about passing the same racer."""

MILESTONE: Final = 10
"""Cards; at ten a pack the money is even."""


class Tone(StrEnum):
    """What kind of news a line is."""

    LEAD = "lead"
    PASS = "pass"  # noqa: S105 - on the road
    MILESTONE = "milestone"
    ENDING = "ending"
    PEOPLE = "people"
    LINK = "link"


@dataclass(frozen=True, slots=True)
class FeedLine:
    """One line of news."""

    at: int
    """Milliseconds from the start of the race."""
    text: str
    """Fit for a terminal as it is."""
    tone: Tone
    player: str = ""
    """Whom it is about; empty: nobody, or oneself."""


def _nothing() -> Mapping[str, int]:
    return MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class Feed:
    """The lines of a race, and what they have told."""

    lines: tuple[FeedLine, ...] = ()
    leader: str = ""
    leader_at: int = -LEAD_EVERY
    sides: Mapping[str, int] = field(default_factory=_nothing)
    """By rival: -1 ahead of the player, 1 behind, as last told; nobody who is level."""
    sides_at: Mapping[str, int] = field(default_factory=_nothing)
    milestones: Mapping[str, int] = field(default_factory=_nothing)
    """The last one told."""
    ended: frozenset[str] = frozenset()
    away: frozenset[str] = frozenset()
    """Racers whose connection is lost, as last told."""
    host: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RaceMoment:
    """The race at one moment, as the feed wants to know it."""

    at: int
    you: str
    rows: tuple[Row, ...]
    away: frozenset[str] = frozenset()
    host: str = ""
    host_name: str = ""


def first_feed(look: RaceMoment) -> Feed:
    """A feed that takes what is there already as told, as for whoever comes late."""
    return Feed(
        leader=_leader(look),
        sides=MappingProxyType(_sides(look)),
        milestones=MappingProxyType({row.player: _milestone(row) for row in look.rows}),
        ended=frozenset(row.player for row in look.rows if row.state != "racing"),
        away=look.away,
        host=look.host,
    )


def next_feed(feed: Feed, look: RaceMoment) -> Feed:
    """The feed after a look at the race."""
    lines = [*_endings(feed, look), *_lead(feed, look), *_passes(feed, look)]
    lines += [*_milestones(feed, look), *_people(feed, look)]
    told = _told(feed, look)
    return replace(told, lines=(*feed.lines, *lines[:MOST_AT_ONCE])[-MOST_LINES:])


def with_line(feed: Feed, at: int, text: str, tone: Tone) -> Feed:
    """The feed with a line of our own."""
    return replace(feed, lines=(*feed.lines, FeedLine(at, text, tone))[-MOST_LINES:])


def who(row: Row, you: str) -> str:
    """A racer's name in a sentence."""
    return "you" if row.player == you else sanitised(shown_name(row.name, row.bot))


def ending(row: Row, you: str) -> str:
    """How a racer's board ended, such as `mei is stuck at 9, -$5`."""
    is_you = row.player == you
    deed = {
        "won": "won!",
        "cashed out": "cashed out with",
        "stuck": "are stuck at" if is_you else "is stuck at",
        "out of time": "ran out of time at",
        "left": "left at",
    }.get(row.state, f"{sanitised(row.state)} at")
    return f"{who(row, you)} {deed} {row.banked}, {dollars(row.net)}"


def _told(feed: Feed, look: RaceMoment) -> Feed:
    """What is told after this look; what had to wait stays untold."""
    leader, leader_at = feed.leader, feed.leader_at
    if any(_lead(feed, look)):
        leader, leader_at = _leader(look), look.at
    sides, sides_at = dict(feed.sides), dict(feed.sides_at)
    for player, side in _sides(look).items():
        if sides.get(player) == side:
            continue
        if player not in sides:
            sides[player] = side
        elif _may_tell_pass(feed, look, player):
            sides[player], sides_at[player] = side, look.at
    reached = {row.player: _milestone(row) for row in look.rows}
    return replace(
        feed,
        leader=leader,
        leader_at=leader_at,
        sides=MappingProxyType(sides),
        sides_at=MappingProxyType(sides_at),
        milestones=MappingProxyType(
            {player: max(ten, feed.milestones.get(player, 0)) for player, ten in reached.items()}
        ),
        ended=feed.ended | {row.player for row in look.rows if row.state != "racing"},
        away=look.away,
        host=look.host,
    )


def _endings(feed: Feed, look: RaceMoment) -> Iterator[FeedLine]:
    ended = [row for row in look.rows if row.state != "racing" and row.player not in feed.ended]
    late = [row for row in ended if row.state == "out of time"]
    if len(late) > 1:
        yield FeedLine(look.at, f"time is up for {len(late)} racers", Tone.ENDING)
        ended = [row for row in ended if row.state != "out of time"]
    for row in ended:
        yield FeedLine(look.at, ending(row, look.you), Tone.ENDING, row.player)


def _leader(look: RaceMoment) -> str:
    """Whoever leads alone; nobody while the first place is shared."""
    first = [row for row in look.rows if row.place == 1]
    return first[0].player if len(first) == 1 and len(look.rows) > 1 else ""


def _lead(feed: Feed, look: RaceMoment) -> Iterator[FeedLine]:
    leader = _leader(look)
    if not leader or leader == feed.leader or look.at - feed.leader_at < LEAD_EVERY:
        return
    row = next(row for row in look.rows if row.player == leader)
    takes = "take" if leader == look.you else "takes"
    yield FeedLine(
        look.at, f"{who(row, look.you)} {takes} the lead with {row.banked}", Tone.LEAD, leader
    )


def _sides(look: RaceMoment) -> dict[str, int]:
    """By rival: -1 where ahead of the player, 1 where behind."""
    own = next((row.place for row in look.rows if row.player == look.you), None)
    if own is None:
        return {}
    return {
        row.player: -1 if row.place < own else 1
        for row in look.rows
        if row.place != own and row.player != look.you
    }


def _may_tell_pass(feed: Feed, look: RaceMoment, player: str) -> bool:
    return look.at - feed.sides_at.get(player, -PASS_EVERY) >= PASS_EVERY


def _passes(feed: Feed, look: RaceMoment) -> Iterator[FeedLine]:
    sides = _sides(look)
    leads = {line.player for line in _lead(feed, look)}
    for row in look.rows:
        side = sides.get(row.player)
        if side is None or feed.sides.get(row.player, side) == side or row.player in leads:
            continue
        if not _may_tell_pass(feed, look, row.player):
            continue
        name = who(row, look.you)
        text = f"you passed {name}" if side > 0 else f"{name} passed you"
        if not (side > 0 and look.you in leads):
            yield FeedLine(look.at, text, Tone.PASS, row.player)


def _milestone(row: Row) -> int:
    return row.banked // MILESTONE * MILESTONE


def _milestones(feed: Feed, look: RaceMoment) -> Iterator[FeedLine]:
    for row in look.rows:
        ten = _milestone(row)
        if ten > feed.milestones.get(row.player, 0) and row.state == "racing":
            text = f"{who(row, look.you)} reached {ten}"
            yield FeedLine(look.at, text, Tone.MILESTONE, row.player)


def _people(feed: Feed, look: RaceMoment) -> Iterator[FeedLine]:
    racing = {row.player: row for row in look.rows if row.state == "racing"}
    for player in sorted((look.away ^ feed.away) & racing.keys() - {look.you}):
        lost = "lost the connection" if player in look.away else "is back"
        yield FeedLine(look.at, f"{who(racing[player], look.you)} {lost}", Tone.PEOPLE, player)
    if feed.host and look.host and look.host != feed.host:
        is_you = look.host == look.you
        text = "you are host now" if is_you else f"{sanitised(look.host_name)} is host now"
        yield FeedLine(look.at, text, Tone.PEOPLE, look.host)
