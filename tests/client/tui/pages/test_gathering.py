"""The page of a table before a race."""

from collections.abc import Sequence

import pytest
from msgspec.structs import replace
from rich.console import Group

from kit.races import voided_race
from kit.screen_cells import INK, page_text
from kit.session_states import in_match, player, seat, snapshot, state_after, table
from saratoga_client.session.state import SessionState
from saratoga_client.tui.pages.gathering import invitation_part, race_part, seats_part
from saratoga_client.tui.pages.symbols import LETTERS, UNICODE, PageSymbols
from saratoga_protocol import events

INVITATION = (
    "Race me at patience: Canfield, 10 minutes, the same deal for everyone.",
    "pipx install saratoga",
    "saratoga join ws://192.168.1.7:7470/mint-otter-42",
)


def gathering(seats: Sequence[events.Seat], host: str = "y") -> SessionState:
    return state_after(first=snapshot(shown=table(phase="gathering", seats=seats, host=host)))


def page(
    state: SessionState, width: int = 80, chosen: str = "", symbols: PageSymbols = UNICODE
) -> str:
    parts = Group(
        invitation_part(state, INVITATION, INK),
        seats_part(state, chosen, symbols, INK),
        race_part(state, symbols, INK),
    )
    return page_text(parts, width)


def test_the_invitation_says_who_can_open_its_link() -> None:
    state = gathering([seat("y")])

    def line(address: str) -> str:
        link = f"In a browser: http://{address}/mint-otter-42"
        part = page_text(invitation_part(state, ("what", link, "install", "command"), INK))
        return part.split("\n")[0].rstrip()

    assert line("192.168.1.7:7470") == (
        " Friends open http://192.168.1.7:7470/mint-otter-42 (o: QR code) or type"
    )
    assert line("127.0.0.1:7470") == (
        " Only on this machine: http://127.0.0.1:7470/mint-otter-42 or type"
    )


def test_each_seat_shows_its_state_and_its_money_at_this_table() -> None:
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


def test_in_a_match_each_seat_shows_its_money_of_the_match() -> None:
    seats = [seat("y", races=7, wins=4, net=240), seat("a", races=7, wins=3, net=-90)]
    state = gathering(seats)

    def in_match_after(*races: str) -> list[str]:
        return page(state_after(first=snapshot(shown=in_match(state.table, *races)))).splitlines()

    new = "\n".join(in_match_after())
    assert not any(old in new for old in ("4/7", "$240", "3/7", "-$90", "won"))
    begun = in_match_after("a20 y9")
    assert any("match: won     net" in line for line in begun)
    (you,) = (line for line in begun if "Zoë" in line)
    assert you.split()[-2:] == ["0/1", "-$5"]
    (ana,) = (line for line in begun if "ana" in line)
    assert ana.split()[-2:] == ["1/1", "+$50"]


def test_only_the_host_sees_the_keys_of_the_settings() -> None:
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


def test_the_chosen_player_is_marked() -> None:
    seats = [seat("y"), seat("a"), seat("o")]
    lines = page(gathering(seats), chosen=player("a")).split("\n")
    assert [line.split()[:2] for line in lines if line.startswith("▸")] == [["▸·", "ana"]]


def test_a_terminal_with_ascii_alone_gets_ascii_alone() -> None:
    seats = [seat("a", ready=True), seat("o", connected=False)]
    assert page(gathering(seats), chosen=player("a"), symbols=LETTERS).isascii()


def test_a_voided_race_is_shown_with_its_reason() -> None:
    at_table = table(phase="gathering", race="mint-otter-42/2")
    state = state_after(first=snapshot(shown=replace(at_table, voided=[voided_race()])))
    shown = page(state)
    assert "VOIDED BY THE SERVER" in shown
    assert "Race 1 counts for nothing" in shown
    assert "VOIDED" not in page(gathering([seat("y")]))
