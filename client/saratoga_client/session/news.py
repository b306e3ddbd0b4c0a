"""What happens at a table, in sentences: for the feed, the message line and the plain lines. Pure."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from saratoga_client.session.table_view import Row
from saratoga_client.wording import dollars, shown_name
from saratoga_protocol import events
from saratoga_rules.money import CARD_PRIZE

READY: Final = "is ready"
LEFT: Final = "left the table"
SAT_DOWN: Final = "sat down"


def seat_changes(before: events.Table, after: events.Table) -> Iterator[tuple[events.Seat, str]]:
    """Return every changed seat, with a phrase for the change."""
    old = {seat.player: seat for seat in before.seats}
    new = {seat.player: seat for seat in after.seats}
    for player, seat in new.items():
        if player not in old:
            yield seat, SAT_DOWN
        elif seat.connected != old[player].connected:
            yield seat, "is back" if seat.connected else "lost the connection"
        elif seat.ready and not old[player].ready:
            yield seat, READY
    for player, seat in old.items():
        if player not in new:
            yield seat, LEFT


def seat_news(before: events.Table, after: events.Table, you: str) -> str:
    """Return sentences on the changed seats of other players, for a message line; empty without a change.

    The server's notice says why a player who is still there is not host any more.
    While players get ready for a race, the last sentence counts those who are.
    """
    changes = [(seat, phrase) for seat, phrase in seat_changes(before, after) if seat.player != you]
    sentences = [
        f"{shown_name(seat.name, seat.bot, seat.level)} {phrase}." for seat, phrase in changes
    ]
    if before.host != after.host and any(seat.player == before.host for seat in after.seats):
        sentences.append(after.notice)
    count = ready_count(after)
    if count and (sentences or count != ready_count(before)):
        sentences.append(count)
    return " ".join(sentences)


def ready_count(table: events.Table) -> str:
    """Return how many players are ready for the next race; empty while no player can get ready."""
    if table.phase != "gathering":
        return ""
    ready = sum(seat.ready for seat in table.seats)
    return f"{ready} of {len(table.seats)} ready for the next race."


MAX_LINES: Final = 60
"""Maximum number of lines kept; the oldest are dropped first."""

MAX_AT_ONCE: Final = 4
"""Maximum number of new lines at one moment; the less important ones are left out."""

LEAD_EVERY: Final = 3_000
"""Minimum milliseconds between two lines about the lead, which may change with every card."""

PASS_EVERY: Final = 5_000
"""Minimum milliseconds between two lines about passing the same racer."""

MILESTONE: Final = 10
"""Banked cards between two milestones; ten cards pay for a pack of $50."""


class Tone(StrEnum):
    """The subject of a line."""

    LEAD = "lead"
    PASS = "pass"  # noqa: S105 - on the road
    MILESTONE = "milestone"
    EVEN = "even"
    WON = "won"
    LAST_MINUTE = "last minute"
    ENDING = "ending"
    PEOPLE = "people"
    LINK = "link"
    ALARM = "alarm"


@dataclass(frozen=True, slots=True)
class FeedLine:
    """A line about the race."""

    at: int
    """Milliseconds from the start of the race."""
    text: str
    """The sentence; names in it are as the server sent them."""
    tone: Tone
    player: str = ""
    """The id of the racer that the line concerns; empty for the player, or for no racer."""


def _nothing() -> Mapping[str, int]:
    return MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class Feed:
    """The lines about a race, and the situation that the last lines described."""

    lines: tuple[FeedLine, ...] = ()
    leader: str = ""
    """The id of the racer last described as leading; empty without one."""
    leader_at: int = -LEAD_EVERY
    """The time of the last line on the lead, in milliseconds from the start."""
    sides: Mapping[str, int] = field(default_factory=_nothing)
    """By rival's id: -1 if last described as ahead of the player, 1 if behind; absent if never either."""
    sides_at: Mapping[str, int] = field(default_factory=_nothing)
    """By rival's id: the time of the last line on passing, in milliseconds from the start."""
    milestones: Mapping[str, int] = field(default_factory=_nothing)
    """The last milestone described, in banked cards, by player id."""
    is_even: bool = False
    """True from the line on, or the first look, that found the player without a loss."""
    ended: frozenset[str] = frozenset()
    away: frozenset[str] = frozenset()
    """Ids of the racers last described as disconnected."""
    host: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RaceMoment:
    """The facts of a race at one moment, from which feed lines are made."""

    at: int
    """Milliseconds from the start of the race."""
    you: str
    """The player's id."""
    rows: tuple[Row, ...]
    away: frozenset[str] = frozenset()
    host: str = ""
    host_name: str = ""


def first_feed(moment: RaceMoment) -> Feed:
    """Return a feed without lines, in which the present situation counts as described."""
    return Feed(
        leader=_leader(moment),
        sides=MappingProxyType(_sides(moment)),
        milestones=MappingProxyType({row.player: _milestone(row) for row in moment.rows}),
        is_even=_is_even(moment),
        ended=frozenset(row.player for row in moment.rows if row.state != "racing"),
        away=moment.away,
        host=moment.host,
    )


def next_feed(feed: Feed, moment: RaceMoment) -> Feed:
    """Return the feed with lines for all changes since its last lines."""
    lines = [*_endings(feed, moment), *_even(feed, moment), *_lead(feed, moment)]
    lines += [*_passes(feed, moment), *_milestones(feed, moment), *_people(feed, moment)]
    described = _described(feed, moment)
    return replace(described, lines=(*feed.lines, *lines[:MAX_AT_ONCE])[-MAX_LINES:])


def new_lines(before: tuple[FeedLine, ...], after: tuple[FeedLine, ...]) -> tuple[FeedLine, ...]:
    """Return the lines of `after` that follow those of `before`, whose oldest may be missing."""
    if not before:
        return after
    for at in range(len(after) - 1, -1, -1):
        if after[at] is before[-1]:
            return after[at + 1 :]
    return after


def with_line(feed: Feed, at: int, text: str, tone: Tone) -> Feed:
    """Return the feed with one more line."""
    return replace(feed, lines=(*feed.lines, FeedLine(at, text, tone))[-MAX_LINES:])


def who(row: Row, you: str) -> str:
    """Return a racer's name in a sentence; the player is `you`."""
    return "you" if row.player == you else shown_name(row.name, row.bot, row.level)


def ending(row: Row, you: str) -> str:
    """Return how a racer's board ended, such as `mei is stuck at 9, -$5`."""
    is_you = row.player == you
    ended = {
        "won": "broke the bank with",
        "cash-out": "cashed out with",
        "stuck": "are stuck at" if is_you else "is stuck at",
        "out-of-time": "ran out of time at",
        "left": "left at",
        "ended-by-host": f"{'were' if is_you else 'was'} ended by the host at",
        "idle": f"{'were' if is_you else 'was'} idle for 3 minutes and ended at",
    }.get(row.state, f"{row.state} at")
    return f"{who(row, you)} {ended} {row.banked}, {dollars(row.net)}"


def _described(feed: Feed, moment: RaceMoment) -> Feed:
    """Return the feed with the facts of its newest lines marked as described."""
    leader, leader_at = feed.leader, feed.leader_at
    if any(_lead(feed, moment)):
        leader, leader_at = _leader(moment), moment.at
    sides, sides_at = dict(feed.sides), dict(feed.sides_at)
    for player, side in _sides(moment).items():
        if sides.get(player) == side:
            continue
        if player not in sides:
            sides[player] = side
        elif _may_describe_pass(feed, moment, player):
            sides[player], sides_at[player] = side, moment.at
    reached = {row.player: _milestone(row) for row in moment.rows}
    return replace(
        feed,
        leader=leader,
        leader_at=leader_at,
        sides=MappingProxyType(sides),
        sides_at=MappingProxyType(sides_at),
        milestones=MappingProxyType(
            {player: max(ten, feed.milestones.get(player, 0)) for player, ten in reached.items()}
        ),
        is_even=feed.is_even or _is_even(moment),
        ended=feed.ended | {row.player for row in moment.rows if row.state != "racing"},
        away=moment.away,
        host=moment.host,
    )


def _endings(feed: Feed, moment: RaceMoment) -> Iterator[FeedLine]:
    ended = [row for row in moment.rows if row.state != "racing" and row.player not in feed.ended]
    late = [row for row in ended if row.state == "out-of-time"]
    if len(late) > 1:
        yield FeedLine(moment.at, f"time is up for {len(late)} racers", Tone.ENDING)
        ended = [row for row in ended if row.state != "out-of-time"]
    for row in ended:
        tone = Tone.WON if row.state == "won" else Tone.ENDING
        yield FeedLine(moment.at, ending(row, moment.you), tone, row.player)


def _is_even(moment: RaceMoment) -> bool:
    return any(row.player == moment.you and row.net >= 0 for row in moment.rows)


def _even(feed: Feed, moment: RaceMoment) -> Iterator[FeedLine]:
    """Return a line when the player's cards have paid for the packs, once in a race."""
    if feed.is_even or not _is_even(moment):
        return
    row = next(row for row in moment.rows if row.player == moment.you)
    if row.state == "racing":
        # where no number of cards pays for the packs exactly, nobody is ever even
        what = "are ahead" if row.net % CARD_PRIZE else "broke even"
        yield FeedLine(moment.at, f"you {what} with {row.banked}", Tone.EVEN, row.player)


def _leader(moment: RaceMoment) -> str:
    """Return the leader's id; empty while several racers share the first place."""
    first = [row for row in moment.rows if row.place == 1]
    return first[0].player if len(first) == 1 and len(moment.rows) > 1 else ""


def _lead(feed: Feed, moment: RaceMoment) -> Iterator[FeedLine]:
    leader = _leader(moment)
    if not leader or leader == feed.leader or moment.at - feed.leader_at < LEAD_EVERY:
        return
    row = next(row for row in moment.rows if row.player == leader)
    takes = "take" if leader == moment.you else "takes"
    yield FeedLine(
        moment.at, f"{who(row, moment.you)} {takes} the lead with {row.banked}", Tone.LEAD, leader
    )


def _sides(moment: RaceMoment) -> dict[str, int]:
    """Return by rival's id -1 for a rival ahead of the player and 1 for a rival behind."""
    own = next((row.place for row in moment.rows if row.player == moment.you), None)
    if own is None:
        return {}
    return {
        row.player: -1 if row.place < own else 1
        for row in moment.rows
        if row.place != own and row.player != moment.you
    }


def _may_describe_pass(feed: Feed, moment: RaceMoment, player: str) -> bool:
    return moment.at - feed.sides_at.get(player, -PASS_EVERY) >= PASS_EVERY


def _passes(feed: Feed, moment: RaceMoment) -> Iterator[FeedLine]:
    sides = _sides(moment)
    leads = {line.player for line in _lead(feed, moment)}
    for row in moment.rows:
        side = sides.get(row.player)
        if side is None or feed.sides.get(row.player, side) == side or row.player in leads:
            continue
        if not _may_describe_pass(feed, moment, row.player):
            continue
        name = who(row, moment.you)
        text = f"you passed {name}" if side > 0 else f"{name} passed you"
        if not (side > 0 and moment.you in leads):
            yield FeedLine(moment.at, text, Tone.PASS, row.player)


def _milestone(row: Row) -> int:
    return row.banked // MILESTONE * MILESTONE


def _milestones(feed: Feed, moment: RaceMoment) -> Iterator[FeedLine]:
    broke_even = {line.player for line in _even(feed, moment)}
    for row in moment.rows:
        ten = _milestone(row)
        if row.player in broke_even:
            continue
        if ten > feed.milestones.get(row.player, 0) and row.state == "racing":
            text = f"{who(row, moment.you)} reached {ten}"
            yield FeedLine(moment.at, text, Tone.MILESTONE, row.player)


def _people(feed: Feed, moment: RaceMoment) -> Iterator[FeedLine]:
    racing = {row.player: row for row in moment.rows if row.state == "racing"}
    for player in sorted((moment.away ^ feed.away) & racing.keys() - {moment.you}):
        lost = "lost the connection" if player in moment.away else "is back"
        yield FeedLine(moment.at, f"{who(racing[player], moment.you)} {lost}", Tone.PEOPLE, player)
    if feed.host and moment.host and moment.host != feed.host:
        is_you = moment.host == moment.you
        text = "you are host now" if is_you else f"{moment.host_name} is host now"
        yield FeedLine(moment.at, text, Tone.PEOPLE, moment.host)
