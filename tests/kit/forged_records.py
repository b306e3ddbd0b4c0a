"""Change a record, and write everything else as if the change were true."""

from dataclasses import replace
from random import Random
from typing import NamedTuple

from saratoga_rules.dealing.fairness import commitment
from saratoga_rules.position import Position
from saratoga_rules.records.record import LogLine, RaceRecord, RacerLog, results_of
from saratoga_rules.records.replay import ReplayError, game_of, steps
from saratoga_rules.records.standing import Count, RacerScore, last_reached, ranking


def settled(record: RaceRecord) -> RaceRecord:
    """Return the record with the counts and places that follow from its logs, as far as they replay."""
    game = game_of(record)
    racers, scores = [], []
    for racer in record.racers:
        counts: list[Count] = []
        banked = record.deal.banked
        try:
            for line, position in steps(record, racer.player):
                counts.append(Count(position.banked, line.at, line.number))
                banked = position.banked
        except ReplayError:
            banked = racer.banked
        racers.append(replace(racer, banked=banked))
        reached = last_reached(record.deal.banked, counts)
        scores.append(
            RacerScore(player=racer.player, banked=banked, state=racer.state, reached=reached)
        )
    return replace(record, racers=tuple(racers), results=results_of(ranking(game, scores)))


def renumbered(record: RaceRecord) -> RaceRecord:
    """Return the record with commit numbers from 1 without gaps, in the order of those that it has."""
    entries = sorted(
        (line.number, place, index)
        for place, racer in enumerate(record.racers)
        for index, line in enumerate(racer.log)
    )
    numbers = {(place, index): n for n, (_, place, index) in enumerate(entries, start=1)}
    racers = [
        replace(
            racer,
            log=tuple(
                replace(line, number=numbers[place, index]) for index, line in enumerate(racer.log)
            ),
        )
        for place, racer in enumerate(record.racers)
    ]
    return replace(record, racers=tuple(racers))


def promised(record: RaceRecord) -> RaceRecord:
    """Return the record with the commitment that follows from its other lines."""
    seed = bytes.fromhex(record.seed)
    made = commitment(
        seed,
        record.game,
        record.rules_version,
        record.table,
        record.race,
        cap=record.cap,
        public=record.public,
    )
    return replace(record, commitment=made)


def with_racer(record: RaceRecord, racer: RacerLog, **changes: object) -> RaceRecord:
    """Return the record with one racer changed."""
    changed = replace(racer, **changes)  # type: ignore[arg-type]
    return replace(
        record, racers=tuple(changed if each is racer else each for each in record.racers)
    )


def with_line(record: RaceRecord, racer: RacerLog, index: int, **changes: object) -> RaceRecord:
    """Return the record with one entry of a racer's log changed."""
    log = list(racer.log)
    log[index] = replace(log[index], **changes)  # type: ignore[arg-type]
    return with_racer(record, racer, log=tuple(log))


def with_row(record: RaceRecord, index: int, **changes: object) -> RaceRecord:
    """Return the record with one line of the results changed."""
    rows = list(record.results)
    rows[index] = replace(rows[index], **changes)  # type: ignore[arg-type]
    return replace(record, results=tuple(rows))


class Entry(NamedTuple):
    """An entry, with the racer whose log has it and its place there."""

    line: LogLine
    racer: RacerLog
    place: int


def entries_of(record: RaceRecord) -> list[Entry]:
    """Return all entries of a race by commit number."""
    found = [
        Entry(line, racer, index) for racer in record.racers for index, line in enumerate(racer.log)
    ]
    return sorted(found, key=lambda entry: entry.line.number)


def some_racer(record: RaceRecord, chance: Random, least: int = 1) -> RacerLog | None:
    """Return a racer whose log has at least so many entries."""
    able = [racer for racer in record.racers if len(racer.log) >= least]
    return chance.choice(able) if able else None


def position_before(record: RaceRecord, racer: RacerLog, index: int) -> Position:
    """Return the position before an entry of a log."""
    return steps(record, racer.player)[index - 1].position if index else record.deal
