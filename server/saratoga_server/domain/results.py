"""Results: a finished race becomes a record, an outcome, and a settlement for the leaderboards.

Pure: the boards come in as they ended; what is to be written comes out.
"""

from collections.abc import Mapping, Sequence

from msgspec import Struct

from saratoga_protocol.events import Outcome, Result, Standing, Standings
from saratoga_rules.fairness import nonce_hash
from saratoga_rules.games import RULES
from saratoga_rules.position import Position
from saratoga_rules.record import (
    LogLine,
    RaceRecord,
    RacerLog,
    are_bots_ranked,
    digest_of,
    format_record,
    is_ranked,
    parse_record,
    results_of,
)
from saratoga_rules.standing import Placed, Racer, Reached, ranking
from saratoga_server.domain.board import Board
from saratoga_server.domain.tables import TableState
from saratoga_server.ports import Settlement


class CountedRace(Struct, frozen=True):
    """The results of a finished race."""

    outcome: Outcome
    record: str
    settlement: Settlement | None
    """`None`: no leaderboard takes the race."""


def count_up(state: TableState, opening: Position, boards: Mapping[str, Board]) -> CountedRace:
    """Return the results of a race whose boards have all ended."""
    placed = ranking(
        RULES[state.rules_version][state.settings.game],
        [
            Racer(player=player, banked=board.banked, state=board.state, reached=board.reached)
            for player, board in boards.items()
        ],
    )
    racers = tuple(_racer_log(state, player, boards[player]) for player in sorted(boards))
    record = RaceRecord(
        game=state.settings.game,
        rules_version=state.rules_version,
        table=state.code,
        race=state.race,
        start_at=state.start_at,
        cap=state.settings.cap,
        commitment=state.commitment,
        seed=state.seed,
        chosen_seed=state.chosen_seed,
        deal=opening,
        ranked=is_ranked(state.chosen_seed, racers),
        racers=racers,
        results=results_of(placed),
    )
    text = format_record(record)
    outcome = Outcome(
        race=state.race_id,
        game=state.settings.game,
        results=[_result(state, row, boards[row.player]) for row in placed],
        seed=state.seed,
        nonces=dict(state.nonces),
        digest=digest_of(text),
        ranked=record.ranked,
    )
    return CountedRace(outcome, text, _settlement(state, record, outcome.results))


def outcome_of(text: str) -> Outcome:
    """Return the outcome that a race's record holds."""
    record = parse_record(text)
    racers = {racer.player: racer for racer in record.racers}
    # the record lists them in order of place: that stands in for the commit numbers
    placed = ranking(
        RULES[record.rules_version][record.game],
        [
            Racer(
                player=row.player,
                banked=row.banked,
                state=row.state,
                reached=None if row.reached is None else Reached(row.reached, number),
            )
            for number, row in enumerate(record.results)
        ],
    )
    return Outcome(
        race=record.race_id,
        game=record.game,
        results=[
            Result(
                player=row.player,
                name=racers[row.player].name,
                bot=racers[row.player].bot,
                place=row.place,
                banked=row.banked,
                net=row.net,
                state=row.state,
                moves=racers[row.player].moves,
                reached=None if row.reached is None else row.reached.at,
                ended=racers[row.player].log[-1].at if racers[row.player].log else 0,
                tie=row.tie,
            )
            for row in placed
        ],
        seed=record.seed,
        nonces={racer.player: racer.nonce for racer in record.racers},
        digest=digest_of(text),
        ranked=record.ranked,
    )


def final_standings(outcome: Outcome) -> Standings:
    """Return the standings with which a race ended."""
    return Standings(
        race=outcome.race,
        standings=[
            Standing(
                player=row.player, place=row.place, banked=row.banked, net=row.net, state=row.state
            )
            for row in outcome.results
        ],
    )


def _racer_log(state: TableState, player: str, board: Board) -> RacerLog:
    nonce = state.nonces[player]
    return RacerLog(
        player=player,
        name=state.racer_names.get(player, player),
        bot=player in state.racer_bots,
        nonce=nonce,
        nonce_hash=nonce_hash(bytes.fromhex(nonce)),
        log=tuple(
            LogLine(entry.at - board.start_at, entry.number, entry.text) for entry in board.log
        ),
        banked=board.banked,
        state=board.state,
    )


def _result(state: TableState, row: Placed, board: Board) -> Result:
    return Result(
        player=row.player,
        name=state.racer_names.get(row.player, row.player),
        bot=row.player in state.racer_bots,
        place=row.place,
        banked=row.banked,
        net=row.net,
        state=row.state,
        moves=board.moves,
        reached=None if row.reached is None else row.reached.at,
        ended=board.log[-1].at - board.start_at if board.log else 0,
        tie=row.tie,
    )


def _settlement(
    state: TableState, record: RaceRecord, results: Sequence[Result]
) -> Settlement | None:
    """Return the results that leaderboards take: people's of a ranked race, and bots'."""
    bots_count = are_bots_ranked(record.chosen_seed, record.racers)
    taken = tuple(each for each in results if (bots_count if each.bot else record.ranked))
    if not taken:
        return None
    return Settlement(
        race=state.race_id, game=state.settings.game, start_at=state.start_at, results=taken
    )
