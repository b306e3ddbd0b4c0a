"""Tampering: every changed byte of a record is detected, and no forgery crashes the verifier."""

from hypothesis import given
from hypothesis import strategies as st

from kit.races import Entrant, race
from kit.walks import banking, wandering
from saratoga_rules.records.record import digest_of, format_record
from saratoga_rules.records.verify import verify

DIGEST_LINE = "digest\n"
SHORT = format_record(
    race(
        "caprice", 2, [Entrant("Anna", banking, patience=2), Entrant("Ben", wandering, patience=1)]
    )
)


def test_every_single_byte_counts() -> None:
    for at in range(len(SHORT)):
        assert not verify(SHORT[:at] + SHORT[at + 1 :]).ok, f"without byte {at}"
        other = "1" if SHORT[at] != "1" else "2"
        assert not verify(SHORT[:at] + other + SHORT[at + 1 :]).ok, f"another byte {at}"


@given(st.binary(max_size=60))
def test_random_bytes_are_not_a_record(junk: bytes) -> None:
    assert not verify(junk).ok
    assert verify(junk).record is None


@given(st.integers(0, 10**6), st.text('0123456789abcdefCSHD#=/-,.>:" ', max_size=3))
def test_verifying_a_forgery_raises_no_other_error(place: int, put: str) -> None:
    at = place % SHORT.index("\ndigest ")
    body = SHORT[:at] + put + SHORT[at + 1 :].rsplit("digest ", 1)[0]
    verdict = verify(f"{body}digest {digest_of(body + DIGEST_LINE)}\n")
    assert "digest" not in {check.name for check in verdict.faults}
