"""Lies about the races before a race: its record lists those that the server voided, and a match has its results.

The client saw the countdown of the race before, and that the server voided it; the server lies about that later.
"""

from dataclasses import replace

import msgspec

from kit.lying_server import Lie
from kit.race_lies import TRUTH
from kit.races import ANNA, NONCE, void_record
from saratoga_protocol import events
from saratoga_protocol.match_rows import Match, MatchResult
from saratoga_protocol.matches import ranked, with_race
from saratoga_protocol.outcomes import outcome_of
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


def in_a_match(*numbers: int) -> Match:
    """Return a match in which these races have the result of the true race."""
    match = Match(races=3, finished=[], rows=[])
    for number in numbers:
        outcome = outcome_of(TRUTH, "")
        match = with_race(match, msgspec.structs.replace(outcome, race=f"{TRUTH.table}/{number}"))
    return match


def shown_after(match: Match) -> Lie:
    """Return the lie of a server that shows this table of the match after the race."""

    def over(table: events.Table) -> events.Table:
        return msgspec.structs.replace(table, match=match if table.phase == "over" else None)

    return Lie(tables=over)


def with_another_net(match: Match) -> Match:
    """Give the first row ten dollars more in its last race."""
    first, *others = match.rows
    *results, last = first.results
    told = MatchResult(race=last.race, place=last.place, net=last.net + 10)
    changed = msgspec.structs.replace(first, results=[*results, told])
    return msgspec.structs.replace(match, rows=ranked([changed, *others]))


def in_another_order(match: Match) -> Match:
    return msgspec.structs.replace(match, rows=match.rows[::-1])


BEFORE, NOW, AFTER = TRUTH.race - 1, TRUTH.race, TRUTH.race + 1

TRUE_MATCH = shown_after(in_a_match(BEFORE, NOW))

MATCH_LIES = {
    "a race left out": (
        shown_after(in_a_match(BEFORE, AFTER)),
        f"leaves out race {TRUTH.race_id}, whose result was announced",
    ),
    "another result": (
        shown_after(with_another_net(in_a_match(BEFORE, NOW))),
        f"has other results of race {TRUTH.race_id} than were announced",
    ),
    "another order": (
        shown_after(in_another_order(in_a_match(BEFORE, NOW))),
        "do not follow from its races' results",
    ),
}
"""Lies in the table of a match, each with a part of what the client says about it."""
