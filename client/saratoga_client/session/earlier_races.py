"""The voided races that a finished record lists, compared with what this machine saw of them."""

from collections.abc import Iterator

from saratoga_client.session.witness import GONE, Sighting, Sightings, faults_of_voided
from saratoga_protocol import events
from saratoga_rules.records.checks import Check, check_of
from saratoga_rules.records.record import RaceRecord
from saratoga_rules.records.voided import MOST_VOIDED, VoidedLine


def earlier_witness(record: RaceRecord, witness: Sightings) -> Check | None:
    """Return the check of the earlier races in a record; `None` if this machine saw none of them.

    A race since the record before must be listed as it was announced if the server voided it, or if its
    racers were listed and the server had no record of it when this machine asked.
    """
    seen = {line.race: _promised(witness, record, line.race) for line in record.voided}
    discarded = list(_discarded_before(record, witness))
    known = {f"{record.table}/{race}" for race, sighting in seen.items() if sighting is not None}
    known |= {sighting.race for sighting in discarded}
    if not known:
        return None
    return check_of(
        "earlier-witness",
        _faults(record, seen, discarded),
        f"the voided races are listed as this machine saw them: {', '.join(sorted(known))}",
    )


def _promised(witness: Sightings, record: RaceRecord, race: int) -> Sighting | None:
    """Return the sighting of a race at the record's table, if its racers were listed."""
    sighting = witness.load(f"{record.table}/{race}")
    return sighting if sighting is not None and sighting.is_promised else None


def _discarded_before(record: RaceRecord, witness: Sightings) -> Iterator[Sighting]:
    """Yield the sightings of discarded races that the record does not list, back to one that it need not list."""
    listed = {line.race for line in record.voided}
    for race in range(record.race - 1, max(0, record.race - 1 - MOST_VOIDED), -1):
        if race in listed:
            continue
        sighting = _promised(witness, record, race)
        if sighting is None or not (sighting.voided or GONE in sighting.alarms):
            return
        yield sighting


def _faults(
    record: RaceRecord, seen: dict[int, Sighting | None], discarded: list[Sighting]
) -> Iterator[str]:
    for line in record.voided:
        race = _as_announced(record, line)
        for fault in faults_of_voided(race, seen[line.race]):
            yield f"{race.race}: {fault}"
    for sighting in discarded:
        what = "voided" if sighting.voided else "discarded"
        yield f"the server {what} {sighting.race}, but the record does not list it"


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
        left=line.left,
        logs=line.logs,
    )
