"""The check of the store's clock; `tests/faults/test_clocks.py` steps a store's clock."""

from saratoga_server.ports import Millis
from saratoga_server.store.clock_check import BEHIND, FIRST_MOMENT, why_clock_refused
from saratoga_server.store.ledger import LedgerEntry, StoreReading

NOW = Millis(FIRST_MOMENT + 400 * BEHIND)


def reading(now: int, newest: int = 0) -> StoreReading:
    return StoreReading("store", Millis(now), {"ledger": LedgerEntry("g", 1, newest)})


def test_a_clock_up_to_a_day_behind_and_any_later_one_is_accepted() -> None:
    assert why_clock_refused(reading(NOW)) is None
    for newest in (NOW - 1000 * BEHIND, NOW, NOW + BEHIND):
        assert why_clock_refused(reading(NOW, newest)) is None
    assert why_clock_refused(reading(FIRST_MOMENT)) is None


def test_the_reason_names_both_times_and_the_remedies() -> None:
    reason = why_clock_refused(reading(NOW, NOW + BEHIND + 1))
    assert reason is not None
    assert "2027-02-05 00:00:00 UTC" in reason
    assert "2027-02-06 00:00:00 UTC" in reason
    assert "Set the clock" in reason
    assert "saratoga-server admin accept-clock" in reason


def test_a_clock_before_this_program_existed_is_refused_even_by_an_empty_store() -> None:
    reason = why_clock_refused(reading(FIRST_MOMENT - 1, 0))
    assert reason is not None
    assert "2025-12-31 23:59:59 UTC" in reason
    assert "accept-clock" not in reason
