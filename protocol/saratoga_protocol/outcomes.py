"""The announced result of a race, computed from its record. Pure.

The server announces it at the end of the race; a client computes it again and compares.
"""

from saratoga_protocol.events import Outcome, Result
from saratoga_rules.dealing.fairness import deal_key
from saratoga_rules.records.heads import heads
from saratoga_rules.records.record import RaceRecord, RacerLog
from saratoga_rules.records.standing import Placed


def outcome_of(record: RaceRecord, digest: str) -> Outcome:
    """Return the outcome that a server announces with this record; `digest` is that of the record's text.

    Raises `KeyError` if a player has a place and did not race.
    """
    key = deal_key(bytes.fromhex(record.seed), record.race_id, record.nonces)
    return Outcome(
        race=record.race_id,
        game=record.game,
        results=[
            _result(record.racer(row.player), row, key, record.race_id) for row in record.results
        ],
        seed=record.seed,
        nonces={racer.player: racer.nonce for racer in record.racers},
        digest=digest,
        ranked=record.ranked,
    )


def _result(racer: RacerLog, row: Placed, key: bytes, race_id: str) -> Result:
    return Result(
        player=row.player,
        place=row.place,
        banked=row.banked,
        net=row.net,
        state=row.state,
        moves=racer.moves,
        head=heads(key, race_id, racer.player, racer.log)[-1],
        reached=row.reached,
        ended=racer.log[-1].at if racer.log else 0,
    )
