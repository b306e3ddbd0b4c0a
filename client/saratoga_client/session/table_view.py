"""A table as one who follows it sees it: what the house said, folded into one picture.

Pure: no I/O, no clock; `now` comes from whoever reads it. `next_view` takes in one event;
`rows` turns the picture into the lines of a scoreboard, with every bot marked as one.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

from saratoga_client.wording import dollars as dollars
from saratoga_client.wording import shown_name as shown_name
from saratoga_protocol import events
from saratoga_protocol.events import AnyEvent


@dataclass(frozen=True, slots=True)
class PlayerLabel:
    """Who somebody is, as shown to people."""

    name: str
    bot: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class TableView:
    """All that is known of a table."""

    table: events.Table
    racers: Mapping[str, PlayerLabel]
    """By player id; whoever gave up the seat is remembered while the picture lasts."""
    standings: tuple[events.Standing, ...] = ()
    outcome: events.Outcome | None = None
    clock_lead: int = 0
    """The house's clock minus ours, in milliseconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A line of the scoreboard."""

    place: int
    player: str
    name: str
    bot: bool
    banked: int
    net: int
    state: str
    gap: int
    """Casino dollars behind the first; 0 for whoever leads."""
    tie: str = ""
    """What decided between racers with the same net, once the race is over."""


def first_view(snapshot: events.Snapshot, now: int) -> TableView:
    """The picture that a snapshot gives by itself."""
    picture = TableView(
        table=snapshot.table,
        racers=MappingProxyType({}),
        standings=tuple(snapshot.standings),
        outcome=snapshot.outcome,
        clock_lead=snapshot.now - now,
    )
    return _with_names(picture)


def next_view(picture: TableView, event: AnyEvent, now: int) -> TableView:
    """The picture after `event`; events that say nothing about this table leave it as it is."""
    match event:
        case events.Snapshot(table=table) if table.code == picture.table.code:
            fresh = first_view(event, now)
            return _with_names(replace(fresh, racers=picture.racers))
        case events.TableChanged(table=table) if _is_newer(table, picture.table):
            return _turned_to(picture, table, event.now - now)
        case events.Standings(race=race) if race == picture.table.race:
            return replace(picture, standings=tuple(event.standings))
        case events.RaceOver(outcome=outcome) if outcome.race == picture.table.race:
            return _with_names(replace(picture, outcome=outcome))
        case _:
            return picture


def rows(picture: TableView) -> tuple[Row, ...]:
    """The scoreboard, first place first; before the race, nobody."""
    if picture.outcome is not None:
        return _final_rows(picture.outcome)
    lead = max((standing.net for standing in picture.standings), default=0)
    return tuple(
        Row(
            place=standing.place,
            player=standing.player,
            name=_racer(picture, standing.player).name,
            bot=_racer(picture, standing.player).bot,
            banked=standing.banked,
            net=standing.net,
            state=standing.state,
            gap=lead - standing.net,
        )
        for standing in picture.standings
    )


def remaining(picture: TableView, now: int) -> int | None:
    """Milliseconds of the race left at our time `now`; `None` where no clock runs."""
    if picture.table.phase != "running" or not picture.table.deadline:
        return None
    return max(0, picture.table.deadline - (now + picture.clock_lead))


def _is_newer(table: events.Table, known: events.Table) -> bool:
    return table.code == known.code and table.version >= known.version


def _turned_to(picture: TableView, table: events.Table, clock_lead: int) -> TableView:
    """A changed table; a race of another number, or a new start, begins with a clean board."""
    picture = replace(picture, table=table, clock_lead=clock_lead)
    if table.phase in ("gathering", "countdown"):
        picture = replace(picture, standings=(), outcome=None)
    return _with_names(picture)


def _final_rows(outcome: events.Outcome) -> tuple[Row, ...]:
    lead = max((result.net for result in outcome.results), default=0)
    return tuple(
        Row(
            place=result.place,
            player=result.player,
            name=result.name,
            bot=result.bot,
            banked=result.banked,
            net=result.net,
            state=result.state,
            gap=lead - result.net,
            tie=result.tie,
        )
        for result in outcome.results
    )


def _racer(picture: TableView, player: str) -> PlayerLabel:
    return picture.racers.get(player, PlayerLabel(player, bot=False))


def _with_names(picture: TableView) -> TableView:
    known = dict(picture.racers)
    results = picture.outcome.results if picture.outcome else []
    known.update((result.player, PlayerLabel(result.name, result.bot)) for result in results)
    known.update((seat.player, PlayerLabel(seat.name, seat.bot)) for seat in picture.table.seats)
    return replace(picture, racers=MappingProxyType(known))
