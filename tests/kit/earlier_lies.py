"""Lies about the races before a race: its record lists those that the server voided.

The client saw the countdown of the race before, and that the server voided it; the server lies about that later.
"""

from dataclasses import replace

from kit.lying_server import Lie
from kit.race_lies import TRUTH
from kit.races import ANNA, NONCE, void_record
from saratoga_rules.dealing.fairness import commitment
from saratoga_rules.records.record import RaceRecord

EARLIER = void_record(f"{TRUTH.table}/{TRUTH.race - 1}", TRUTH.game)
OTHER_SEED = bytes(range(32, 64))


def listed(record: RaceRecord) -> RaceRecord:
    """List the race before as it was announced."""
    return replace(record, voided=(EARLIER.line,))


def with_another_nonce(record: RaceRecord) -> RaceRecord:
    return replace(record, voided=(replace(EARLIER.line, nonces={ANNA: NONCE[::-1]}),))


def with_another_seed(record: RaceRecord) -> RaceRecord:
    """List the race before with a seed that the server chose after it, and the commitment to that."""
    line = EARLIER.line
    made = commitment(
        OTHER_SEED,
        line.game,
        line.rules_version,
        record.table,
        line.race,
        cap=line.cap,
        public=line.public,
    )
    return replace(record, voided=(replace(line, seed=OTHER_SEED.hex(), commitment=made),))


LISTED = Lie(earlier=EARLIER, record=listed)
"""The truth about the race before."""

EARLIER_LIES = {
    "left out": (
        Lie(earlier=EARLIER),
        f"the server voided {EARLIER.race_id}, but the record does not list it",
    ),
    "another nonce": (
        Lie(earlier=EARLIER, record=with_another_nonce),
        f"{EARLIER.race_id}: the nonce of {ANNA} in the voided race does not match the hash",
    ),
    "another seed": (
        Lie(earlier=EARLIER, record=with_another_seed),
        f"{EARLIER.race_id}: the voided race's commitment is not the one announced",
    ),
}
"""Lies in the record about the race before, each with a part of what the client says about it."""
