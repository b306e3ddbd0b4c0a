"""The page of the countdown, at every size, with few racers and with many."""

from dataclasses import replace as with_

import pytest

from kit.evenings import START, evening, player, seat, snapshot, table
from saratoga_client.session.state import SessionState
from saratoga_client.tui.pages.countdown import countdown_page
from saratoga_client.tui.pages.symbols import LETTERS, UNICODE

LETTERS_OF_16 = "yabcdefghijklmno"


def countdown(letters: str) -> SessionState:
    seats = [
        seat(
            letter,
            name="Maximilian-Ferdinand" if letter == "a" else f"racer {letter}",
            nonce_hash=f"{number:02x}" * 32,
        )
        for number, letter in enumerate(letters)
    ]
    return evening(first=snapshot(shown=table(letters, phase="countdown", seats=seats)))


@pytest.mark.parametrize("letters", ["y", "yao", LETTERS_OF_16])
def test_all_racers_and_what_they_promised_are_there_at_80x24(letters: str) -> None:
    page = countdown_page(countdown(letters), START - 3000, UNICODE, 80, 21).text()
    for number, letter in enumerate(letters):
        name = "Maximilian-Ferdinand" if letter == "a" else f"racer {letter}"
        assert name in page
        assert f"{number:02x}{number:02x} {number:02x}{number:02x} …" in page
    assert "more" not in page
    assert "".join(page.split()).count("c0" * 16) == 2, "the whole promise, in two lines"


def test_where_there_is_no_room_for_all_it_says_how_many_are_missing() -> None:
    page = countdown_page(countdown(LETTERS_OF_16), START - 3000, UNICODE, 54, 15).text()
    listed = sum(f"racer {letter}" in page for letter in LETTERS_OF_16)
    assert f"and {15 - listed} more" in page or f"and {16 - listed} more" in page


def test_the_number_is_the_seconds_left_and_letters_do_where_blocks_are_missing() -> None:
    pages = [
        countdown_page(countdown("y"), START - ms, LETTERS, 80, 21).text()
        for ms in (4001, 4000, 3000, 2000, 1000, 0)
    ]
    assert len(set(pages)) == 6
    assert "GO!" in pages[-1]
    assert all(page.isascii() for page in pages)


def test_a_racer_who_has_gone_meanwhile_is_somebody() -> None:
    present = countdown("ya")
    gone = table("ya", phase="countdown", seats=[seat("y")])
    shown = with_(present, table_view=with_(present.table_view, table=gone))
    assert gone.racers[1] == player("a")
    assert "somebody" in countdown_page(shown, START - 3000, UNICODE, 80, 21).text()
