"""Hashes as figures on pages."""

from saratoga_client.tui.pages.figures import grouped, short_hash


def test_hashes_can_be_compared_aloud_and_the_long_form_has_every_digit() -> None:
    digits = "0123456789abcdef" * 4
    assert short_hash(digits) == "0123 4567 … cdef"
    assert short_hash(digits, "~") == "0123 4567 ~ cdef"
    assert grouped(digits).replace(" ", "") == digits
    assert [len(line) for line in grouped(digits, 8).split("\n")] == [39, 39]
