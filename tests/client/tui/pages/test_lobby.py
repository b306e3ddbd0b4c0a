"""The page of the lobby: everything there, nothing cut, nothing that a terminal would obey."""

from dataclasses import replace

import pytest

from kit.terminals import HOSTILE, OBEYED
from saratoga_client.session.join import TableWanted
from saratoga_client.session.lobby import LobbyState
from saratoga_client.tui.pages.lobby import lobby_page
from saratoga_client.tui.pages.symbols import signs
from saratoga_protocol.events import LeaderboardRow, TableSummary
from saratoga_rules.games import GAMES

OPEN = LobbyState(server="wss://cards.example.org", is_open=True, is_met=True, name="Zoë")


def tables(count: int, host: str = "Anna") -> list[TableSummary]:
    return [
        TableSummary(
            code=f"mint-otter-{number}",
            game="canfield-aisleriot",
            cap=10,
            seats=16,
            phase="gathering",
            host=host,
            seated=number % 16,
        )
        for number in range(10, 10 + count)
    ]


def leader(name: str = "Bert") -> LeaderboardRow:
    return LeaderboardRow(
        rank=1,
        player="b" * 16,
        name=name,
        value=31,
        net=105,
        elapsed=1,
        race="mint-otter-10/1",
        races=1,
    )


def page(
    lobby: LobbyState, width: int = 80, height: int = 21, *, is_ascii: bool = False
) -> list[str]:
    rows = lobby_page(lobby, signs(is_ascii), width, height).rows()
    return ["".join(text for text, _ in row).rstrip() for row in rows]


def test_it_shows_who_one_is_the_tables_and_the_best_of_today() -> None:
    lobby = replace(OPEN.with_tables(tables(2)), leaders={"canfield": leader(), "caprice": None})
    shown = page(lobby)
    assert shown[1] == " You are Zoë"
    assert [line.split() for line in shown[4:6]] == [
        [
            "▸",
            "mint-otter-10",
            "Canfield",
            "(AisleRiot)",
            "10",
            "min",
            "gathering",
            "10/16",
            "Anna",
        ],
        ["mint-otter-11", "Canfield", "(AisleRiot)", "10", "min", "gathering", "11/16", "Anna"],
    ]
    assert shown[15].split() == ["Canfield", "Bert", "31", "banked", "+$105"]
    assert shown[19].split() == ["Caprice", "nobody", "yet"]


def test_a_list_that_is_too_long_shows_where_the_chosen_table_is() -> None:
    lobby = OPEN.with_tables(tables(40))
    for steps in (0, 1, 20, 39):
        shown = page(lobby.with_next_table(steps))
        (chosen,) = [line for line in shown if line.startswith("▸")]
        assert f"mint-otter-{10 + steps} " in chosen
    assert any("of 40" in line for line in shown)
    assert shown[14] == " TODAY'S LEADERS"


@pytest.mark.parametrize("seat", ["", "mint-otter-42"])
def test_a_seat_from_before_is_told_of(seat: str) -> None:
    shown = page(replace(OPEN, seat=seat))
    assert ("b goes back" in shown[1]) is bool(seat)


def test_a_table_to_be_opened_is_shown_with_the_keys_that_change_it() -> None:
    form = TableWanted(game="caprice", cap=0, seats=1, public=False)
    shown = "\n".join(page(replace(OPEN.with_tables(tables(40)), form=form)))
    for text in ("A NEW TABLE", "Caprice", "no cap", "1 seat\n", "private", "TODAY'S LEADERS"):
        assert text in shown
    here = "\n".join(page(replace(OPEN, form=form, is_here=True)))
    assert "A TABLE IN A HOUSE ON THIS MACHINE" in here


def test_without_a_house_it_says_why_and_what_can_be_done() -> None:
    away = LobbyState(server="ws://127.0.0.1:7470", is_met=True, wrong="It is gone. " * 20)
    shown = page(away)
    assert shown[1] == " No house answers."
    assert sum("It is gone." in line for line in shown) > 1
    assert [line.split()[0] for line in shown if line.startswith("  ")] == ["h", "j", "o", "p"]
    assert page(replace(away, is_met=False))[1] == " Looking for the house ..."


def test_every_game_can_be_practised_with_and_without_a_house() -> None:
    for lobby in (OPEN, LobbyState(server="ws://127.0.0.1:1", is_met=True, wrong="Nobody.")):
        shown = page(replace(lobby, is_practice=True))
        at = shown.index(" PRACTICE")
        titles = [line.strip().split(maxsplit=1) for line in shown[at + 1 : at + 6]]
        assert titles == [
            [str(number), game.title] for number, game in enumerate(GAMES.values(), 1)
        ]


@pytest.mark.parametrize(("width", "height"), [(80, 21), (120, 37), (60, 21), (40, 10)])
def test_words_of_the_house_never_command_the_terminal(width: int, height: int) -> None:
    lobby = replace(
        OPEN.with_tables([hostile(table) for table in tables(30, HOSTILE)]),
        name=HOSTILE,
        seat=HOSTILE,
        leaders=dict.fromkeys(GAMES, leader(HOSTILE)),
    )
    shown = "".join(page(lobby, width, height))
    assert not OBEYED & set(shown)


def hostile(table: TableSummary) -> TableSummary:
    return TableSummary(
        code=HOSTILE,
        game=HOSTILE,
        cap=0,
        seats=16,
        phase=HOSTILE,
        host=table.host,
        seated=table.seated,
    )


def test_in_ascii_it_has_no_other_signs() -> None:
    lobby = replace(OPEN, name="Zoe").with_tables(tables(3))
    assert "".join(page(lobby, is_ascii=True)).isascii()
