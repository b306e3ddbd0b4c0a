"""The next deal of a table: a new seed, a new commitment, and nobody ready."""

from kit.tables import ANN, BEN, OTHER_SEED, running
from saratoga_rules.dealing.fairness import commitment
from saratoga_server.domain.tables import TablePhase
from saratoga_server.domain.tables.next_deal import with_next_race


def test_the_next_race_has_the_next_number_and_a_commitment_of_its_own() -> None:
    gathering = with_next_race(running(ANN, BEN), OTHER_SEED)
    assert (gathering.phase, gathering.race) == (TablePhase.GATHERING, 2)
    settings = gathering.settings
    assert gathering.commitment == commitment(
        OTHER_SEED,
        settings.game,
        gathering.rules_version,
        gathering.code,
        2,
        cap=settings.cap,
        public=settings.public,
    )
    assert not any(seat.is_ready for seat in gathering.seats)
    assert (gathering.racers, gathering.nonces, gathering.deal_key) == ((), {}, "")
