"""The countdown's page, with few racers and with many."""

from dataclasses import replace as with_

import pytest

from kit.screen_cells import INK, page_text
from kit.session_states import START, player, seat, snapshot, state_after, table
from saratoga_client.session.state import SessionState
from saratoga_client.tui.pages.countdown import countdown_page
from saratoga_client.tui.pages.symbols import LETTERS, UNICODE, PageSymbols

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
    return state_after(first=snapshot(shown=table(letters, phase="countdown", seats=seats)))


def page(
    state: SessionState,
    left: int = 3000,
    symbols: PageSymbols = UNICODE,
    width: int = 80,
    height: int = 21,
) -> str:
    drawn = countdown_page(state, START - left, symbols, INK, width, height)
    return page_text(drawn, width)


@pytest.mark.parametrize("letters", ["y", "yao", LETTERS_OF_16])
def test_all_racers_and_their_fingerprints_fit_on_80x24(letters: str) -> None:
    shown = page(countdown(letters))
    assert len(shown.rstrip().split("\n")) <= 21
    for number, letter in enumerate(letters):
        name = "Maximilian-Ferdinan" if letter == "a" else f"racer {letter}"
        if letter != "a" or len(letters) < 16:
            assert name in shown
        assert f"{number:02x}{number:02x} {number:02x}{number:02x} …" in shown
    assert "".join(shown.split()).count("c0" * 32) == 1, "the deal's whole fingerprint"


def test_on_a_narrow_screen_the_racers_stand_in_one_column() -> None:
    lines = page(countdown(LETTERS_OF_16), width=54, height=15).split("\n")
    for letter in LETTERS_OF_16.replace("a", ""):
        assert sum(f"racer {letter}" in line for line in lines) == 1
    assert not any("racer b" in line and "racer c" in line for line in lines)


def test_the_number_is_the_seconds_left_and_needs_no_block_characters() -> None:
    pages = [page(countdown("y"), ms, LETTERS) for ms in (4001, 4000, 3000, 2000, 1000, 0)]
    assert len(set(pages)) == 6
    assert "GO!" in pages[-1]
    assert all(each.replace("ë", "e").isascii() for each in pages)


def test_a_racer_who_has_left_the_table_has_no_name() -> None:
    present = countdown("ya")
    gone = table("ya", phase="countdown", seats=[seat("y")])
    shown = with_(present, table_view=with_(present.table_view, table=gone))
    assert gone.racers[1] == player("a")
    assert "left the table" in page(shown)
