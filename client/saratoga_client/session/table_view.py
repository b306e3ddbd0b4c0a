"""A table's public state: the server's events combined into one value.

Pure: no I/O and no clock. `next_view` applies one event; `rows` returns the scoreboard.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import repeat
from types import MappingProxyType
from typing import Final, TypeVar

from saratoga_client.wording import tie_words
from saratoga_protocol import events
from saratoga_protocol.events import Event

Key = TypeVar("Key")
Value = TypeVar("Value")


def put_newest(known: dict[Key, Value], key: Key, value: Value, most: int) -> None:
    """Set an entry as the newest one; drop the oldest entry above `most`."""
    known.pop(key, None)
    known[key] = value
    if len(known) > most:
        del known[next(iter(known))]


MOST_LABELS: Final = 256
"""The most players at one table whose labels are kept: many evenings of a full table."""


@dataclass(frozen=True, slots=True)
class PlayerLabel:
    """A player's name, whether the player is a bot, and how strong the bot says that it is."""

    name: str
    bot: bool
    level: str = ""
    """The bot's level; empty if unknown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TableView:
    """All data about a table, except the player's own board."""

    table: events.Table
    labels: Mapping[str, PlayerLabel]
    """The labels of the last `MOST_LABELS` players, by player id, including players who have left."""
    standings: tuple[events.Standing, ...] = ()
    outcome: events.Outcome | None = None
    match: events.Match | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A racer's row of the scoreboard."""

    place: int
    player: str
    name: str
    bot: bool
    level: str
    """The bot's level; empty if unknown."""
    banked: int
    net: int
    state: str
    gap: int
    """Casino dollars behind the leader."""
    tie: str = ""
    """A sentence on the tie-break between racers with the same net; empty before the result."""


def first_view(snapshot: events.Snapshot) -> TableView:
    """Return the view given by a snapshot."""
    view = TableView(
        table=snapshot.table,
        labels=MappingProxyType({}),
        standings=tuple(snapshot.standings),
        outcome=snapshot.outcome,
        match=snapshot.match,
    )
    return _with_labels(view)


def next_view(view: TableView, event: Event) -> TableView:
    """Return the view after an event; events of other tables change nothing."""
    match event:
        case events.Snapshot(table=table) if table.code == view.table.code:
            fresh = first_view(event)
            return _with_labels(replace(fresh, labels=view.labels))
        case events.TableChanged(table=table) if _is_newer(table, view.table):
            return _with_table(view, table)
        case events.MatchChanged(table=code) if code == view.table.code:
            return replace(view, match=event.match)
        case events.Standings(race=race) if race == view.table.race:
            return replace(view, standings=tuple(event.standings))
        case events.RaceOver(outcome=outcome) if outcome.race == view.table.race:
            return replace(view, outcome=outcome)
        case _:
            return view


def rows(view: TableView) -> tuple[Row, ...]:
    """Return the scoreboard, first place first; it is empty before the race."""
    results = view.outcome.results if view.outcome else []
    placed: Sequence[events.Result | events.Standing] = results or view.standings
    ties = [tie_words(row, ahead) for ahead, row in zip([None, *results], results, strict=False)]
    lead = max((row.net for row in placed), default=0)
    labels = [_label(view, row.player) for row in placed]
    return tuple(
        Row(
            place=row.place,
            player=row.player,
            name=label.name,
            bot=label.bot,
            level=label.level,
            banked=row.banked,
            net=row.net,
            state=row.state,
            gap=lead - row.net,
            tie=tie,
        )
        for row, label, tie in zip(placed, labels, ties or repeat(""), strict=False)
    )


BEFORE_THE_RACE: Final = ("gathering", "call", "countdown")
"""The phases before the start of a race."""

RACE_PHASES: Final = ("call", "countdown", "running")
"""The phases from the host's *start* to the end of the race."""


def is_call(table: events.Table) -> bool:
    """Return whether the call goes on: players may still get ready, and no racer is listed."""
    return table.phase == "call"


def takes_ready(table: events.Table) -> bool:
    """Return whether players may get ready now."""
    return table.phase == "gathering" or is_call(table)


def remaining(view: TableView, now: int) -> int | None:
    """Return the milliseconds left at the server's time `now`.

    Return `None` if no race runs, or if the race has no time limit.
    """
    if view.table.phase != "running" or not view.table.deadline:
        return None
    return max(0, view.table.deadline - now)


def _is_newer(table: events.Table, known: events.Table) -> bool:
    return table.code == known.code and table.version >= known.version


def _with_table(view: TableView, table: events.Table) -> TableView:
    """Return the view with a changed table; before a race it has no standings and no result."""
    view = replace(view, table=table)
    if table.phase in BEFORE_THE_RACE:
        view = replace(view, standings=(), outcome=None)
    return _with_labels(view)


def _label(view: TableView, player: str) -> PlayerLabel:
    return view.labels.get(player, PlayerLabel(player, bot=False))


def _with_labels(view: TableView) -> TableView:
    known = dict(view.labels)
    for racer in view.table.racers:
        level = _label(view, racer.player).level
        name = f"{racer.name}'s ghost" if racer.ghost else racer.name
        label = PlayerLabel(name, racer.bot, level)
        put_newest(known, racer.player, label, MOST_LABELS)
    for seat in view.table.seats:
        label = PlayerLabel(seat.name, seat.bot, seat.level)
        put_newest(known, seat.player, label, MOST_LABELS)
    return replace(view, labels=MappingProxyType(known))
