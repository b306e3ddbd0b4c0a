"""The check of the store's clock; `tests/faults/test_clocks.py` steps a store's clock."""

from msgspec.structs import replace

from saratoga_server.ports import Millis
from saratoga_server.store.clock_check import AHEAD, BEHIND, FIRST_MOMENT, why_clock_refused
from saratoga_server.store.ledger import LedgerEntry, StoreReading

NOW = Millis(FIRST_MOMENT + AHEAD + BEHIND)


def reading(now: int, newest: int = 0) -> StoreReading:
    return StoreReading(Millis(now), {"ledger": LedgerEntry("g", 1, newest)})


def test_a_clock_up_to_a_day_behind_or_400_days_ahead_is_accepted() -> None:
    assert why_clock_refused(reading(NOW)) is None
    for newest in (0, FIRST_MOMENT - 1, NOW - AHEAD, NOW, NOW + BEHIND):
        assert why_clock_refused(reading(NOW, newest)) is None
    assert why_clock_refused(reading(FIRST_MOMENT)) is None


def test_a_clock_further_ahead_is_refused_unless_this_node_has_stored_a_later_time() -> None:
    far = reading(NOW, NOW - AHEAD - 1)
    reason = why_clock_refused(far)
    assert reason is not None
    assert "more than 400 days before" in reason
    assert "saratoga-server admin accept-clock" in reason
    assert why_clock_refused(replace(far, newest_raised=Millis(NOW - AHEAD))) is None


def test_the_reason_names_both_times_and_the_remedies() -> None:
    reason = why_clock_refused(reading(NOW, NOW + BEHIND + 1))
    assert reason is not None
    assert "2027-02-06 00:00:00 UTC" in reason
    assert "2027-02-07 00:00:00 UTC" in reason
    assert "Set the clock" in reason
    assert "saratoga-server admin accept-clock" in reason


def test_a_clock_before_this_program_existed_is_refused_even_by_an_empty_store() -> None:
    reason = why_clock_refused(reading(FIRST_MOMENT - 1, 0))
    assert reason is not None
    assert "2025-12-31 23:59:59 UTC" in reason
    assert "accept-clock" not in reason
