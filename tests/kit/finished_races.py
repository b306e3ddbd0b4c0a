"""Finished races, and the client's session states after them."""

from functools import cache

from kit.messages import racer
from kit.races import Entrant, race
from kit.session_states import CODE, START
from kit.walks import banking, wandering
from saratoga_client.session.state import SessionState, first_state
from saratoga_protocol import events
from saratoga_rules.records.record import RaceRecord

ENTRANTS = (
    Entrant("ana", banking),
    Entrant("Zoë", wandering, patience=90),
    Entrant("Otto", banking, bot=True, patience=40),
)


@cache
def finished_race(game: str = "canfield", seed: int = 1) -> RaceRecord:
    """Return the record of a race of Ana, who banks cards, Zoë, who plays at random, and a bot."""
    return race(game, seed, ENTRANTS)


def over(record: RaceRecord, you: str = "Zoë", host: str = "ana", races: int = 3) -> SessionState:
    """Return the session state of the player `you` after a race, with all players' totals."""
    players = {racer.name: racer for racer in record.racers}
    raced = {racer.player: racer for racer in record.racers}
    results = [
        events.Result(
            player=line.player,
            place=line.place,
            banked=line.banked,
            net=line.net,
            state=str(line.state),
            moves=40,
            reached=line.reached,
            head="0" * 16,
        )
        for line in record.results
    ]
    seats = [
        events.Seat(
            player=result.player,
            name=raced[result.player].name,
            bot=raced[result.player].bot,
            races=races,
            wins=int(result.place == 1),
            net=races * result.net,
        )
        for result in results
    ]
    at_table = events.Table(
        code=CODE,
        version=9,
        host=players[host].player,
        phase="over",
        settings=events.TableSettings(
            game=record.game, cap=record.cap, seats=16, public=record.public
        ),
        race=f"{CODE}/{record.race}",
        rules=record.rules_version,
        commitment=record.commitment,
        seats=seats,
        racers=[racer(each.player, each.name, each.bot) for each in record.racers],
        start_at=START,
        deadline=START + 600_000,
    )
    outcome = events.Outcome(
        race=at_table.race,
        game=record.game,
        results=results,
        seed=record.seed,
        nonces={},
        digest="ab" * 32,
        ranked=record.ranked,
    )
    snapshot = events.Snapshot(table=at_table, now=START + 600_000, outcome=outcome)
    return first_state(players[you].player, snapshot)
