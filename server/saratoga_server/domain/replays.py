"""The boards of a finished race, replayed from its record for the page's review."""

from typing import Final

import msgspec
from msgspec import Struct

from saratoga_rules.game import Game
from saratoga_rules.position import Position, format_position
from saratoga_rules.records.record import RaceRecord, RacerLog, RecordError, parse_record
from saratoga_rules.records.replay import ReplayError, game_of, steps_from

MOST_REPLAYED: Final = 20_000
"""The most entries that are replayed of one race; each racer has an equal share of them."""


class CannotReplay(ValueError):
    """A record of which there are no boards; the text says why."""


class ReplayedEntry(Struct, frozen=True):
    """An entry of a racer's log, and the board after it."""

    at: int
    """Milliseconds from the start of the race."""
    number: int
    """The commit number at the table: 1, 2, 3 .. over all the boards of a race."""
    entry: str
    """A move, or the word of an ending."""
    position: str
    """The text form of the position, in which every card is open."""
    banked: int


class ReplayedBoard(Struct, frozen=True, kw_only=True):
    """A racer's board, from the deal to its end."""

    player: str
    name: str
    bot: bool
    place: int
    banked: int
    net: int
    state: str
    reached: int | None
    """Milliseconds from the start to the last rise to `banked`; `None` if it never rose."""
    entries: list[ReplayedEntry]
    left_out: int
    """The number of entries that were not replayed because the log is very long."""


class ReplayedRace(Struct, frozen=True, kw_only=True):
    """A finished race with every racer's board."""

    race: str
    game: str
    rules: int
    start_at: int
    cap: int
    ranked: bool
    deal: str
    """The position that all racers were dealt."""
    banked: int
    """The cards on the foundations in the deal."""
    boards: list[ReplayedBoard]
    """The boards in order of place."""


def replay_json(text: str) -> bytes:
    """Replay a record; return a `ReplayedRace` as JSON. Raises `CannotReplay`.

    It takes up to a second for the largest races, so it must not run on the event loop.
    """
    try:
        record = parse_record(text)
        if record.voided:
            raise CannotReplay("That race was voided, so it has no result to review.")
        return msgspec.json.encode(_replayed(record))
    except (RecordError, ReplayError) as error:
        raise CannotReplay(f"The record of that race cannot be replayed: {error}.") from None


def _replayed(record: RaceRecord) -> ReplayedRace:
    game = game_of(record)
    share = MOST_REPLAYED // max(1, len(record.racers))
    racers = {racer.player: racer for racer in record.racers}
    return ReplayedRace(
        race=record.race_id,
        game=record.game,
        rules=record.rules_version,
        start_at=record.start_at,
        cap=record.cap,
        ranked=record.ranked,
        deal=format_position(record.opening),
        banked=record.opening.banked,
        boards=[
            ReplayedBoard(
                player=line.player,
                name=racers[line.player].name,
                bot=racers[line.player].bot,
                place=line.place,
                banked=line.banked,
                net=line.net,
                state=line.state,
                reached=line.reached,
                entries=_entries(game, record.opening, racers[line.player], share),
                left_out=max(0, len(racers[line.player].log) - share),
            )
            for line in record.results
        ],
    )


def _entries(game: Game, deal: Position, racer: RacerLog, share: int) -> list[ReplayedEntry]:
    return [
        ReplayedEntry(line.at, line.number, line.text, format_position(position), position.banked)
        for line, position in steps_from(game, deal, racer.log[:share])
    ]
