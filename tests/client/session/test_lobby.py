"""The state of the lobby: typed lines, chosen tables, and the settings of a new table."""

from dataclasses import replace

import pytest

from saratoga_client.local.setting_values import CAPS, MOST_SEATS
from saratoga_client.session.join import TableWanted
from saratoga_client.session.lobby import (
    LONGEST_ENTRY,
    LobbyState,
    more_seats,
    next_cap,
    next_game,
    one_line,
    other_publicity,
)
from saratoga_protocol.table_rows import TableSummary
from saratoga_rules.games import GAMES

FORM = TableWanted(game="canfield", cap=10, seats=16, public=False)


def summary(code: str) -> TableSummary:
    return TableSummary(
        code=code,
        game="canfield",
        cap=10,
        seats=16,
        phase="gathering",
        host="Anna",
        seated=1,
    )


def test_a_pasted_invitation_becomes_one_line_without_control_characters() -> None:
    pasted = one_line("race me:\n\x1b[31m saratoga join mint-otter-42\n")
    assert pasted == "race me: [31m saratoga join mint-otter-42 "
    assert len(one_line("x" * 9999)) == LONGEST_ENTRY


def test_a_chosen_table_stays_chosen_while_others_come_and_go() -> None:
    lobby = LobbyState(server="ws://cards.example").with_tables(
        [summary("a-b-1"), summary("c-d-2")]
    )
    assert lobby.chosen == "a-b-1"
    lobby = lobby.with_next_table(1)
    lobby = lobby.with_tables([summary("e-f-3"), summary("c-d-2")])
    assert lobby.chosen == "c-d-2"
    assert lobby.with_tables([summary("e-f-3")]).chosen == "e-f-3"
    assert lobby.with_tables([]).chosen == ""


def test_the_list_of_tables_has_no_ends() -> None:
    codes = ["a-b-1", "c-d-2", "e-f-3"]
    lobby = LobbyState(server="ws://cards.example").with_tables([summary(code) for code in codes])
    assert lobby.with_next_table(-1).chosen == "e-f-3"
    assert lobby.with_next_table(2).with_next_table(1).chosen == "a-b-1"
    empty = LobbyState(server="ws://cards.example")
    assert empty.with_next_table(1) == empty


def test_every_game_and_every_cap_can_be_chosen() -> None:
    games, caps = [FORM], [FORM]
    for _ in GAMES:
        games.append(next_game(games[-1]))
    for _ in CAPS:
        caps.append(next_cap(caps[-1]))
    assert {form.game for form in games} == set(GAMES)
    assert {form.cap for form in caps} == set(CAPS)
    assert (games[-1], caps[-1]) == (FORM, FORM)


def test_a_public_table_always_has_a_cap() -> None:
    assert other_publicity(replace(FORM, cap=0)) == replace(FORM, cap=10, public=True)
    form = replace(FORM, public=True)
    for _ in CAPS:
        form = next_cap(form)
        assert form.cap > 0


@pytest.mark.parametrize(("by", "seats"), [(1, MOST_SEATS), (-1, 15), (-40, 1)])
def test_a_table_has_a_seat_and_no_more_than_there_are(by: int, seats: int) -> None:
    assert more_seats(FORM, by).seats == seats
