"""Results: make a record, an outcome and a settlement for the leaderboards from a finished race.

Pure: takes the boards as they ended and returns what is to be written.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from msgspec import Struct
from msgspec.structs import replace as replace_struct

from saratoga_protocol.events import Outcome, Result, Standing, Standings
from saratoga_rules.games import RULES
from saratoga_rules.position import Position
from saratoga_rules.records.heads import heads
from saratoga_rules.records.record import RaceRecord, digest_of, format_record, parse_record
from saratoga_rules.records.standing import Placed, RacerScore, ranking
from saratoga_server.domain.board import Board
from saratoga_server.domain.tables import TableState
from saratoga_server.domain.tables.records import race_record, racer_log
from saratoga_server.ports import Millis, Settlement


class CountedRace(Struct, frozen=True):
    """The record, outcome and settlement of a finished race."""

    outcome: Outcome
    record: str
    settlement: Settlement | None
    """The results for the leaderboards; `None` if none of them counts."""


def count_up(state: TableState, opening: Position, boards: Mapping[str, Board]) -> CountedRace:
    """Return the results of a race whose boards have all ended."""
    placed = ranking(
        RULES[state.rules_version][state.settings.game],
        [
            RacerScore(player=player, banked=board.banked, state=board.state, reached=board.reached)
            for player, board in boards.items()
        ],
    )
    racers = tuple(racer_log(state, player, tuple(boards[player].log)) for player in sorted(boards))
    record = replace(race_record(state, opening, racers), results=tuple(placed))
    text = format_record(record)
    if state.open is not None:  # everything else stays secret until the open race closes
        (racer,) = racers
        outcome = replace_struct(outcome_of(record, ""), race=state.race_id, seed="", nonces={})
        return CountedRace(outcome, "".join(f"{line}\n" for line in racer.log), None)
    outcome = outcome_of(record, digest_of(text))
    return CountedRace(outcome, text, _settlement(state, outcome))


def outcome_of(record: RaceRecord, digest: str) -> Outcome:
    """Return the outcome that is announced with a record with this digest."""
    racers = {racer.player: racer for racer in record.racers}
    return Outcome(
        race=record.race_id,
        game=record.game,
        results=[
            Result(
                player=row.player,
                place=row.place,
                banked=row.banked,
                net=row.net,
                state=row.state,
                moves=racers[row.player].moves,
                head=heads(record.key, record.race_id, row.player, racers[row.player].log)[-1],
                reached=row.reached,
                ended=racers[row.player].log[-1].at if racers[row.player].log else 0,
            )
            for row in record.results
        ],
        seed=record.seed,
        nonces={player: racer.nonce for player, racer in racers.items()},
        digest=digest,
        ranked=record.ranked,
    )


def recorded_outcome(text: str) -> Outcome | None:
    """Return the outcome in a record's text; `None` if it was voided. Raises `RecordError`."""
    record = parse_record(text)
    return None if record.voided else outcome_of(record, digest_of(text))


def wire_standings(
    race_id: str, rows: Iterable[Placed | Result], shown: Mapping[str, str]
) -> Standings:
    """Return the standings of a race, running or ended; `shown` are the heads by player."""
    return Standings(
        race=race_id,
        standings=[
            Standing(
                player=row.player,
                place=row.place,
                banked=row.banked,
                net=row.net,
                state=row.state,
                head=shown[row.player],
            )
            for row in rows
        ],
    )


def _settlement(state: TableState, outcome: Outcome) -> Settlement | None:
    """Return the results that count for leaderboards; `None` if none counts."""
    people = tuple(player for player, racer in state.racers.items() if not racer.bot)
    taken = tuple(
        each
        for each in outcome.results
        if (state.ranked if each.player in people else state.ranked_bots)
    )
    if not taken:
        return None
    return Settlement(
        race=outcome.race,
        game=outcome.game,
        ended=Millis(state.start_at + max(each.ended for each in outcome.results)),
        results=taken,
        people=people,
    )
