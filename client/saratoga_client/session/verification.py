"""A record held against itself, and against what this machine saw of the race.

The first shows that the record holds together, the second that it is of the race that was played.
"""

from dataclasses import dataclass

from saratoga_client.session.witness import Sighting, Testimony, Witness, compare_with_record
from saratoga_rules.records.record import RaceRecord, RacerLog, digest_of
from saratoga_rules.records.standing import Placed
from saratoga_rules.records.verify import Check, verify


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """Everything that was looked at."""

    checks: tuple[Check, ...]
    testimony: Testimony
    record: RaceRecord | None
    """The record, where it could be read."""
    standing: tuple[Placed, ...]
    digest: str

    @property
    def ok(self) -> bool:
        return all(check.ok for check in self.checks)

    @property
    def race(self) -> str:
        return "" if self.record is None else self.record.race_id

    @property
    def game(self) -> str:
        return "" if self.record is None else self.record.game

    @property
    def places(self) -> list[tuple[Placed, RacerLog]]:
        """The order of finish as the moves give it."""
        if self.record is None:
            return []
        return [(placed, self.record.racer(placed.player)) for placed in self.standing]

    @property
    def sentence(self) -> str:
        """The verdict for people."""
        if not self.ok:
            faults = sum(not check.ok for check in self.checks)
            return f"NOT VERIFIED: {faults} of {len(self.checks)} checks failed."
        return f"{self.race} is verified: {self.testimony.verdict}."


def prove(record: bytes, wanted: str = "", sighting: Sighting | None = None) -> Proof:
    """Check a record; `wanted` is the race that was asked for, if one was.

    Without a `sighting`, what this machine has kept of the race is used.
    """
    verdict = verify(record)
    checks = list(verdict.checks)
    testimony, digest = Testimony((), ()), ""
    if verdict.record is not None:
        text = record.decode("ascii")
        race, digest = verdict.record.race_id, digest_of(text)
        if wanted:
            checks.append(_right_race(wanted, race))
        testimony = compare_with_record(sighting or Witness().load(wanted or race), text)
        checks.append(_witness_check(testimony))
    return Proof(
        checks=tuple(checks),
        testimony=testimony,
        record=verdict.record,
        standing=verdict.standing,
        digest=digest,
    )


def _right_race(wanted: str, got: str) -> Check:
    if wanted == got:
        return Check("race", True, f"the record is of race {wanted}")
    return Check("race", False, f"race {wanted} was asked for, and the record is of race {got}")


def _witness_check(testimony: Testimony) -> Check:
    if testimony.disagreements:
        return Check("witness", False, "; ".join(testimony.disagreements))
    if testimony.seen:
        seen = ", ".join(testimony.seen)
        return Check("witness", True, f"it is the race seen here: {seen}")
    return Check("witness", True, "this machine saw nothing of the race to hold against it")
