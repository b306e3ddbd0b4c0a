"""A race that the server voided: on the wire, and its record."""

from saratoga_protocol import events
from saratoga_rules.dealing.fairness import commitment
from saratoga_rules.records.record import LogLine
from saratoga_rules.records.void_record import VoidedLog, VoidRecord

SEED = bytes(range(32))
ANNA = "annaannaannaanna"
NONCE = "0a" * 16


def void_record(race: str = "mint-otter-42/1", game: str = "canfield") -> VoidRecord:
    """Return the record of a voided race with one racer."""
    table, _, number = race.rpartition("/")
    log = VoidedLog(
        player=ANNA,
        name="Anna",
        bot=False,
        nonce=NONCE,
        log=(LogLine(502, 1, "draw"),),
        complete=False,
    )
    return VoidRecord(
        game=game,
        rules_version=1,
        table=table,
        race=int(number),
        start_at=1_790_000_000_000,
        cap=10,
        public=False,
        reason="damaged",
        commitment=commitment(SEED, game, 1, table, int(number), cap=10, public=False),
        seed=SEED.hex(),
        racers=(log,),
    )


def voided_race(race: str = "mint-otter-42/1", game: str = "canfield") -> events.VoidedRace:
    """Return the same race as a table shows it."""
    return shown_void(void_record(race, game))


def shown_void(record: VoidRecord) -> events.VoidedRace:
    """Return a voided race as a table shows it."""
    line = record.line
    return events.VoidedRace(
        race=record.race_id,
        game=line.game,
        rules=line.rules_version,
        cap=line.cap,
        public=line.public,
        reason=line.reason,
        commitment=line.commitment,
        seed=line.seed,
        nonces=dict(line.nonces),
        missing=dict(line.missing),
        left=line.left,
        logs=line.logs,
    )
