"""The parts of the lobby's page: complete, and without terminal commands."""

from dataclasses import replace

import pytest
from rich.console import Group

from kit.screen_cells import INK, page_text
from kit.terminals import HOSTILE, OBEYED
from saratoga_client.session.join import TableWanted
from saratoga_client.session.lobby import LobbyState
from saratoga_client.tui.pages.lobby import (
    COLUMNS,
    choices_part,
    leaders_part,
    player_part,
    table_cells,
    tables_heading,
)
from saratoga_client.tui.pages.symbols import page_symbols
from saratoga_protocol.leaderboard_rows import LeaderboardRow
from saratoga_protocol.table_rows import TableSummary
from saratoga_rules.games import GAMES

OPEN = LobbyState(server="wss://cards.example.org", is_open=True, has_tried=True, name="Zoë")
TABLE = TableSummary(
    code="mint-otter-42",
    game="canfield-aisleriot",
    cap=10,
    seats=16,
    phase="gathering",
    host="Anna",
    seated=10,
)


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
        rivals=12,
    )


def player(lobby: LobbyState) -> str:
    return page_text(player_part(lobby, INK)).strip()


def choices(lobby: LobbyState) -> list[str]:
    return page_text(choices_part(lobby, INK)).rstrip().split("\n")


@pytest.mark.parametrize("is_chosen", [True, False])
def test_a_table_has_a_cell_for_each_column_and_a_mark_when_chosen(is_chosen: bool) -> None:
    cells = [cell.plain for cell in table_cells(TABLE, is_chosen, page_symbols(False), INK)]
    assert [len(cell) for cell in cells] == list(COLUMNS)
    assert [cell.strip() for cell in cells] == [
        "▸" if is_chosen else "",
        "mint-otter-42",
        "Canfield (AisleRiot)",
        "10 min",
        "gathering",
        "10/16",
        "Anna",
    ]


def test_nothing_is_said_to_be_absent_before_it_is_loaded() -> None:
    tables = page_text(tables_heading(OPEN, INK))
    assert "loading" in tables
    assert "none" not in tables
    assert "none now" in page_text(tables_heading(OPEN.with_tables([]), INK))
    assert "loading" in page_text(tables_heading(OPEN.with_tables([]).without_server(""), INK))
    assert "none" not in page_text(leaders_part(OPEN, page_symbols(False), INK))


def test_each_game_has_its_leader_of_today() -> None:
    lobby = replace(OPEN, leaders={"canfield": leader(), "caprice": None})
    lines = page_text(leaders_part(lobby, page_symbols(False), INK)).split("\n")
    assert lines[1].split() == ["Klondike"]
    assert lines[2].split() == ["Canfield", "Bert", "31", "banked", "+$105", "vs", "12", "people"]
    assert lines[6].split() == ["Caprice", "none", "yet"]


def test_the_player_reads_their_name_and_a_seat_that_waits() -> None:
    assert player(OPEN) == "You are Zoë"
    waiting = player(replace(OPEN, seat="mint-otter-42", is_seated=True))
    assert waiting == "You are Zoë, and you have a seat at mint-otter-42; b goes back"
    last = player(replace(OPEN, seat="mint-otter-42"))
    assert last == "You are Zoë; your last table: mint-otter-42, b goes back"
    assert "n chooses one" in player(replace(OPEN, name=""))


@pytest.mark.parametrize(
    ("runs_here", "words"),
    [
        (None, "Looking for a server on this machine ..."),
        (True, "Enter opens the table on the server that runs on this machine."),
        (False, "Enter starts a server on this machine, which runs until you leave."),
    ],
)
def test_the_form_of_a_table_on_this_machine_says_what_enter_does(
    runs_here: bool | None, words: str
) -> None:
    form = TableWanted(game="caprice", cap=0, seats=1, public=False)
    lines = choices(replace(OPEN, form=form, is_local=True, runs_here=runs_here))
    said = " ".join(line.strip() for line in lines[6:]).strip()
    assert said.startswith(f"{words} If you have a seat")
    assert said.endswith("it asks whether to return.")


def test_a_new_table_is_shown_with_the_keys_that_change_it() -> None:
    form = TableWanted(game="caprice", cap=0, seats=1, public=False)
    lines = choices(replace(OPEN, form=form))
    assert lines[0].strip() == "A NEW TABLE"
    assert [line.split(maxsplit=1) for line in lines[1:]] == [
        ["g", "Caprice"],
        ["c", "no time limit"],
        ["+-", "1 seat"],
        ["m", "no match"],
        ["p", "private: friends need the code"],
    ]
    assert "ON THIS MACHINE" in choices(replace(OPEN, form=form, is_local=True))[0]


def test_without_a_server_the_lobby_says_why_and_what_can_be_done() -> None:
    away = LobbyState(server="ws://127.0.0.1:7470", has_tried=True, wrong="It is gone. " * 20)
    assert player(away) == "The server does not answer."
    lines = choices(away)
    assert sum("It is gone." in line for line in lines) > 1
    assert [line.split()[0] for line in lines if line.startswith("  ")] == ["h", "j", "o", "p"]
    assert player(replace(away, has_tried=False)) == "Connecting to the server ..."


@pytest.mark.parametrize("is_open", [True, False])
def test_every_game_can_be_practised_with_and_without_a_server(is_open: bool) -> None:
    lines = choices(replace(OPEN, is_open=is_open, is_practice=True))
    titles = [line.strip().split(maxsplit=1) for line in lines[1:]]
    assert titles == [[str(number), game.title] for number, game in enumerate(GAMES.values(), 1)]


def test_texts_from_a_server_never_command_the_terminal() -> None:
    lobby = replace(
        OPEN,
        name=HOSTILE,
        seat=HOSTILE,
        wrong=HOSTILE,
        leaders=dict.fromkeys(GAMES, leader(HOSTILE)),
    )
    table = TableSummary(
        code=HOSTILE, game=HOSTILE, cap=0, seats=16, phase=HOSTILE, host=HOSTILE, seated=1
    )
    page = Group(
        player_part(lobby, INK),
        choices_part(replace(lobby, is_open=False), INK),
        leaders_part(lobby, page_symbols(False), INK),
        *table_cells(table, True, page_symbols(False), INK),
    )
    assert not OBEYED & set(page_text(page).replace("\n", ""))


def test_in_ascii_there_are_no_other_symbols() -> None:
    lobby = replace(OPEN, name="Zoe", leaders={"canfield": leader("x" * 60)})
    page = Group(
        player_part(lobby, INK),
        leaders_part(lobby, page_symbols(True), INK),
        *table_cells(TABLE, True, page_symbols(True), INK),
    )
    assert page_text(page).isascii()
