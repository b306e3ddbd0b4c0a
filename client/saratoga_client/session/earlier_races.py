"""The voided races that a finished record lists, compared with what this machine saw of them."""

from collections.abc import Iterator

from saratoga_client.session.witness import Sighting, Witness, faults_of_voided
from saratoga_protocol import events
from saratoga_rules.records.checks import Check, check_of
from saratoga_rules.records.record import RaceRecord
from saratoga_rules.records.voided import MOST_VOIDED, VoidedLine


def earlier_witness(record: RaceRecord, witness: Witness) -> Check | None:
    """Return the check of the earlier races in a record; `None` if this machine saw none of them.

    A race that the server voided since the record before must be listed, as it was announced.
    """
    seen = {line.race: witness.load(f"{record.table}/{line.race}") for line in record.voided}
    announced = list(_announced_before(record, witness))
    known = {f"{record.table}/{race}" for race, sighting in seen.items() if sighting is not None}
    known |= {sighting.race for sighting in announced}
    if not known:
        return None
    return check_of(
        "earlier-witness",
        _faults(record, seen, announced),
        f"the voided races are listed as this machine saw them: {', '.join(sorted(known))}",
    )


def _announced_before(record: RaceRecord, witness: Witness) -> Iterator[Sighting]:
    """Yield the sightings of the races directly before the record's that were announced as voided."""
    for race in range(record.race - 1, max(0, record.race - 1 - MOST_VOIDED), -1):
        sighting = witness.load(f"{record.table}/{race}")
        if sighting is None or not sighting.voided:
            return
        yield sighting


def _faults(
    record: RaceRecord, seen: dict[int, Sighting | None], announced: list[Sighting]
) -> Iterator[str]:
    for line in record.voided:
        race = _as_announced(record, line)
        for fault in faults_of_voided(race, seen[line.race]):
            yield f"{race.race}: {fault}"
    listed = {f"{record.table}/{line.race}" for line in record.voided}
    for sighting in announced:
        if sighting.race not in listed:
            yield f"the server voided {sighting.race}, but the record does not list it"


def _as_announced(record: RaceRecord, line: VoidedLine) -> events.VoidedRace:
    return events.VoidedRace(
        race=f"{record.table}/{line.race}",
        game=line.game,
        rules=line.rules_version,
        cap=line.cap,
        public=line.public,
        reason=line.reason,
        commitment=line.commitment,
        seed=line.seed,
        nonces=dict(line.nonces),
        missing=dict(line.missing),
        logs=line.logs,
    )
