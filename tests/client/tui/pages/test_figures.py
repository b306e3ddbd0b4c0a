"""Times, caps and hashes on pages."""

from saratoga_client.tui.pages.figures import cap_text, game_title, grouped, minutes, short_hash


def test_figures_read_as_people_say_them() -> None:
    assert [minutes(ms) for ms in (0, 999, 59_999, 60_000, 754_000)] == [
        "0:00", "0:00", "0:59", "1:00", "12:34",
    ]  # fmt: skip
    assert (cap_text(10), cap_text(0)) == ("10 minutes", "no cap")


def test_hashes_can_be_compared_aloud_and_the_long_form_has_every_digit() -> None:
    digits = "0123456789abcdef" * 4
    assert short_hash(digits) == "0123 4567 … cdef"
    assert short_hash(digits, "~") == "0123 4567 ~ cdef"
    assert grouped(digits).replace(" ", "") == digits


def test_a_game_of_a_newer_house_goes_by_its_name() -> None:
    assert game_title("lady-palk") == "Lady Palk"
    assert game_title("golf") == "golf"
