"""The page of a table that gathers."""

from collections.abc import Sequence

import pytest

from kit.evenings import evening, player, seat, snapshot, table
from saratoga_client.session.state import SessionState
from saratoga_client.tui.pages.gathering import gathering_page
from saratoga_client.tui.pages.symbols import LETTERS, UNICODE
from saratoga_protocol import events

INVITATION = (
    "Race me at patience: Canfield, 10 minutes, the same deal for everyone.",
    "pip install saratoga",
    "saratoga join ws://192.168.1.7:7470/mint-otter-42",
)


def gathering(seats: Sequence[events.Seat], host: str = "y") -> SessionState:
    return evening(first=snapshot(shown=table(phase="gathering", seats=seats, host=host)))


def page(shown: SessionState, width: int = 80, height: int = 21, chosen: str = "") -> str:
    return gathering_page(shown, INVITATION, chosen, UNICODE, width, height).text()


def test_who_is_there_ready_away_and_host_and_the_evening_s_money() -> None:
    seats = [
        seat("y", ready=True, races=3, wins=1, net=-25),
        seat("a", connected=False),
        seat("o", ready=True),
    ]
    lines = page(gathering(seats)).split("\n")
    (you,) = (line for line in lines if "Zoë" in line)
    assert you.startswith(" ✓ Zoë")
    assert "host, ready" in you
    assert "1/3" in you
    assert "-$25" in you
    assert any(line.startswith(" ○ ana") and "away" in line for line in lines)
    assert any(line.startswith(" ✓ Otto [bot]") and "ready" in line for line in lines)


def test_keys_of_the_settings_are_shown_to_the_host_alone() -> None:
    mine = page(gathering([seat("y"), seat("a")]))
    theirs = page(gathering([seat("y"), seat("a")], host="a"))
    assert "g  Canfield" in mine
    assert "+- 16 seats" in mine
    assert "g  Canfield" not in theirs
    assert "Canfield" in theirs


@pytest.mark.parametrize("width", [54, 80, 120])
@pytest.mark.parametrize("count", [1, 8, 16])
def test_no_seat_is_lost_and_no_line_is_cut(width: int, count: int) -> None:
    letters = "yabcdefghijklmno"[:count]
    seats = [seat(letter, name=f"{letter} Maximilian-Ferdi") for letter in letters]
    shown = page(gathering(seats), width)
    assert sum("Maximilian-Ferdi" in line for line in shown.split("\n")) == count
    assert f"SEATS {count} of 16" in shown
    assert "saratoga join ws://192.168.1.7:7470/mint-otter-42" in shown


def test_on_a_low_screen_the_chosen_player_is_among_those_shown() -> None:
    letters = "yabcdefghijklmno"
    shown = gathering([seat(letter) for letter in letters])
    for letter in letters[1:]:
        drawn = page(shown, 80, 12, player(letter))
        assert any(line.startswith("▸") for line in drawn.split("\n")), letter
        assert "16 seats in all" in drawn


def test_a_terminal_with_letters_alone_gets_letters_alone() -> None:
    seats = [seat("a", ready=True), seat("o", connected=False)]
    drawn = gathering_page(gathering(seats), INVITATION, player("a"), LETTERS, 80, 21).text()
    assert drawn.isascii()
