"""A race or countdown that the store has lost is voided; one that goes on is not."""

import pytest

from kit.tables import (
    ANN,
    BEN,
    OTHER_SEED,
    all_shown,
    calling,
    counting,
    over,
    running,
)
from saratoga_rules.records.verify import verify
from saratoga_server.domain.tables import (
    RaceVoided,
    TablePhase,
    TableState,
    lost,
)


@pytest.mark.parametrize(
    ("known", "reason"),
    [
        (all_shown(counting(ANN, BEN), ANN), "server-away"),
        (all_shown(counting(ANN, BEN)), "damaged"),
        (running(ANN, BEN), "damaged"),
    ],
    ids=["countdown", "all nonces", "race"],
)
@pytest.mark.parametrize("stored", [calling(ANN, BEN), counting(ANN, BEN)], ids=["call", "racers"])
def test_a_race_that_the_store_has_lost_is_voided(
    known: TableState, reason: str, stored: TableState
) -> None:
    change = lost(stored, known, OTHER_SEED)
    assert change is not None
    (voided,) = change.effects
    assert isinstance(voided, RaceVoided)
    assert (voided.race, voided.reason) == (known.race_id, reason)
    assert verify(voided.record).ok
    assert (change.table.phase, change.table.race) == (TablePhase.GATHERING, known.race + 1)
    assert change.table.blocked == ()
    assert lost(change.table, known, OTHER_SEED) is None, "another node voids nothing more"


def test_a_race_that_goes_on_is_not_lost() -> None:
    shown = all_shown(counting(ANN, BEN), ANN)
    states = [calling(ANN, BEN), counting(ANN, BEN), shown, running(ANN, BEN), over(ANN, BEN)]
    for place, known in enumerate(states):
        for state in states[place:]:
            assert lost(state, known, OTHER_SEED) is None
