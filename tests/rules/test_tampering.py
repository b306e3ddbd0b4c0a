"""Tampering: every changed byte of a record is detected, and no forgery crashes the verifier."""

from hypothesis import assume, given
from hypothesis import strategies as st

from kit.races import Entrant, race
from kit.walks import banking, wandering
from saratoga_rules.games import GAMES
from saratoga_rules.records.record import digest_of, format_record
from saratoga_rules.records.verify import verify

FIELD = (
    Entrant("Anna", banking),
    Entrant("Zoë", wandering, patience=60),
    Entrant("Cay", banking, bot=True, patience=9),
)
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


def test_every_single_bit_counts() -> None:
    whole = SHORT.encode()
    for at, byte in enumerate(whole):
        flipped = bytes([byte ^ (1 << (at % 8))])
        assert not verify(whole[:at] + flipped + whole[at + 1 :]).ok, f"bit {at % 8} of byte {at}"


texts = st.sampled_from(
    [
        format_record(race(game, seed, FIELD)).encode()
        for game in GAMES
        for seed in range(2)
        if game != "lady-palk"
    ]
)


@given(texts, st.integers(0, 10**6), st.integers(0, 255))
def test_an_inserted_byte_is_detected(text: bytes, place: int, byte: int) -> None:
    at = place % (len(text) + 1)
    assert not verify(text[:at] + bytes([byte]) + text[at:]).ok


@given(texts, st.integers(0, 10**6), st.integers(0, 10**6))
def test_two_swapped_lines_are_detected(text: bytes, one: int, other: int) -> None:
    lines = text.split(b"\n")
    first, second = one % len(lines), other % len(lines)
    assume(lines[first] != lines[second])
    lines[first], lines[second] = lines[second], lines[first]
    assert not verify(b"\n".join(lines)).ok


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
