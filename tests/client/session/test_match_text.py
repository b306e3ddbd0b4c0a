"""Sentences on a match."""

import pytest
from msgspec.structs import replace

from kit.session_states import in_match, match, player, table
from saratoga_client.session.match_text import (
    champion_words,
    match_lines,
    race_of_match,
    result_cells,
    with_match,
)
from saratoga_protocol.events import Table

YOU = player("y")


@pytest.mark.parametrize(
    ("shown", "words"),
    [
        (table(), ""),
        (in_match(table(phase="gathering")), "race 1 of 3"),
        (in_match(table(race="mint-otter-42/2"), "a9 y5", length=5), "race 2 of 5"),
        (in_match(table(phase="over"), "a9 y5"), "race 1 of 3"),
        (in_match(table(race="mint-otter-42/3", phase="over"), "a9", "a9", "y5"), "race 3 of 3"),
        (in_match(table(race="mint-otter-42/7"), "a9"), "race 2 of 3"),
    ],
)
def test_a_table_says_which_race_of_its_match_it_holds(shown: Table, words: str) -> None:
    assert race_of_match(shown) == words


@pytest.mark.parametrize(
    ("races", "words"),
    [
        (("a9 y5", "a9 y5"), ""),
        (("a9 y5", "a9 y5", "y9 a5"), "ana is the champion of the evening."),
        (("y9 a5", "y9 a5", "a9 y5"), "You are the champion of the evening."),
        (("a9 r5", "r9 a5", "a5 =r5"), "ana and raj share the evening."),
        (("a9 y5", "y9 a5", "a5 =y5"), "You and ana share the evening."),
    ],
)
def test_a_finished_match_names_its_champion(races: tuple[str, ...], words: str) -> None:
    assert champion_words(match(*races), YOU) == words


def test_a_race_that_a_player_missed_has_no_cell_and_says_so_in_lines() -> None:
    after = match("a9 y5", "a7", "y9 a5")
    rows = {row.player: row for row in after.rows}
    assert result_cells(after, rows[YOU]) == ("2 -$25", "", "1 -$5")
    assert list(match_lines(after, YOU)) == [
        "match: match of 3 races",
        "match 1. ana: -$45, 2 wins, race 1 1st -$5, race 2 1st -$15, race 3 2nd -$25",
        "match 2. Zoë: -$30, 1 win, race 1 2nd -$25, race 2 missed, race 3 1st -$5",
        "match: ana is the champion of the evening.",
    ]


def test_a_bot_has_its_level_wherever_it_is_named() -> None:
    shown = in_match(table(phase="over"), "o9 a5", length=1)
    assert shown.match is not None
    rows = [replace(row, bot=row.name == "Otto") for row in shown.match.rows]
    shown = replace(shown, match=replace(shown.match, rows=rows))
    assert shown.match is not None
    levels = {player("o"): "weak"}
    for text in (
        champion_words(shown.match, YOU, levels),
        list(match_lines(shown.match, YOU, levels))[1],
        with_match("", shown, levels),
    ):
        assert "Otto [weak bot]" in text


def test_before_its_end_the_table_of_a_match_says_after_which_race_it_is() -> None:
    lines = list(match_lines(match("a9 y5", length=5), YOU))
    assert lines[0] == "match: match after race 1 of 5"
    assert not any("champion" in line for line in lines)


def test_the_text_for_friends_names_everyone_and_the_champion() -> None:
    shown = in_match(table(phase="over"), "a9 o5", "a9 o5", "a9 o5")
    assert with_match("A race.", shown).splitlines() == [
        "A race.",
        "Match of 3 races: 1. ana -$15, 2. Otto -$75",
        "ana is the champion of the evening.",
    ]
    assert with_match("A race.", replace(shown, match=None)) == "A race."
