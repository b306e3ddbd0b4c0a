"""The table of a match on the page of results."""

import pytest
from msgspec.structs import replace
from rich.cells import cell_len
from rich.console import Group

from kit.screen_cells import INK, page_text
from kit.session_states import in_match, seat, snapshot, state_after, table
from saratoga_client.tui.pages.match import match_part
from saratoga_client.tui.pages.symbols import UNICODE
from saratoga_protocol.events import Table

FIVE = ("a9 y5", "y9 a5", "a9", "a9 y5", "a30 y5")


def page(shown: Table, width: int = 80) -> list[str]:
    state = state_after(first=snapshot(shown=shown))
    text = page_text(Group(*match_part(state, UNICODE, INK, width)), width)
    return [line.rstrip() for line in text.split("\n")]


def test_each_player_has_place_and_money_of_every_race_and_the_total() -> None:
    lines = page(in_match(table(race="mint-otter-42/5", phase="over"), *FIVE, length=5))
    assert lines[0] == " MATCH OF 5 RACES"
    assert lines[1].split() == [
        "RACE",
        "1",
        "RACE",
        "2",
        "RACE",
        "3",
        "RACE",
        "4",
        "RACE",
        "5",
        "NET",
        "WON",
    ]
    assert lines[2].split() == [
        *("1", "ana", "1", "-$5", "2", "-$25", "1", "-$5", "1", "-$5", "1", "+$100", "+$60", "4/5"),
    ]
    assert lines[3].split() == [
        *("▸", "2", "Zoë", "2", "-$25", "1", "-$5", "2", "-$25", "2", "-$25", "-$80", "1/4"),
    ]
    assert lines[3].index("-$5") > lines[1].index("RACE 2"), "the missed race has an empty cell"
    assert lines[4].strip() == "ana is the champion of the evening."


def test_before_the_last_race_there_is_no_champion() -> None:
    lines = page(in_match(table(phase="over"), "a9 y5"))
    assert lines[0] == " MATCH AFTER RACE 1 OF 3"
    assert not any("champion" in line for line in lines)


def test_without_a_match_there_is_nothing() -> None:
    assert page(table(phase="over")) == [""]


def test_a_bot_has_its_level() -> None:
    seats = [seat("y"), seat("o", level="weak")]
    shown = in_match(table(phase="over", seats=seats), "y9 o5")
    assert shown.match is not None
    bots = [replace(row, bot=row.name == "Otto") for row in shown.match.rows]
    lines = page(replace(shown, match=replace(shown.match, rows=bots)))
    assert any("Otto [weak bot]" in line for line in lines)


@pytest.mark.parametrize("width", [54, 60, 80])
def test_no_line_is_too_wide_and_a_narrow_screen_keeps_the_totals(width: int) -> None:
    lines = page(in_match(table(phase="over"), *FIVE, length=5), width)
    assert all(cell_len(line) <= width for line in lines)
    (ana,) = (line for line in lines if " ana " in line and "champion" not in line)
    assert ana.split()[-2:] == ["+$60", "4/5"]
