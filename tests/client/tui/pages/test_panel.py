"""The panel of the race beside the board, and the chart: golden pictures, and rules for every picture."""

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace as replaced
from rich.cells import cell_len

from kit.pictures import rows
from kit.session_states import (
    RACE,
    START,
    YOU,
    board,
    opening,
    outcome,
    player,
    seat,
    snapshot,
    standings,
    state_after,
    table,
)
from saratoga_client.board_view.canvas import Canvas
from saratoga_client.board_view.roles import LETTERS as LETTERS_ONLY
from saratoga_client.board_view.roles import UNICODE, Role, Symbols, racer_roles, symbols_for
from saratoga_client.net.connection import LinkState
from saratoga_client.review.boards import Climb
from saratoga_client.session.differ import with_news
from saratoga_client.session.history import PersonalBest
from saratoga_client.session.state import SessionState, link_changed, next_state
from saratoga_client.session.table_view import first_view
from saratoga_client.tui.chart import Line, draw_chart
from saratoga_client.tui.panel import BAR, ROLES, draw_meter, lead_bar, panel, ticker
from saratoga_client.wording import money_meter
from saratoga_protocol import events
from saratoga_protocol.visible_text import sanitised
from saratoga_rules.games import GAMES

PICTURES = Path(__file__).parent / "pictures"

LETTERS = "yabcdefghijklmop"
"""The ids of sixteen racers."""

SIZES = ((24, 21), (44, 37))
"""The sizes of the panel on screens of 80x24 and of 120x40."""


def alone() -> SessionState:
    return state_after(standings("y3"), first=snapshot("y1", board(), table("y")))


def four() -> SessionState:
    """Return a race with two racers level, a bot, a stuck racer, and a change of the lead."""
    return state_after(
        standings("a5 y3 r1 o1"),
        standings("y12 a12 o10 r9:stuck"),
        first=snapshot("y1 =a1 =r1 =o1", board(), table("yaro")),
    )


def sixteen() -> SessionState:
    shorthand = [f"{letter}{30 - place}" for place, letter in enumerate(LETTERS) if letter != "y"]
    return state_after(
        standings(" ".join([*shorthand[:8], "y22", *shorthand[8:]])),
        first=snapshot(" ".join(f"{letter}1" for letter in LETTERS), board(), table(LETTERS)),
    )


def wide_names() -> SessionState:
    """Return a race with double-width names, one of them a bot's, and a name with terminal commands."""
    seats = [
        seat("y", name="王小明王小明王小明"),
        seat("a", name="アナスタシア・ロマノヴァ・ペトロヴナ"),
        seat("o", name="オットー・フォン・ビスマルク"),
        seat("r", name="\x1b[2Jraj\u202e"),
    ]
    shown = table("yaor", seats=seats)
    return state_after(standings("a9 y8 o7 r6"), first=snapshot("y1 =a1 =o1 =r1", board(), shown))


def two_packs() -> SessionState:
    """Return a race of Lady Palk, with two packs, where twenty banked cards break even."""
    shown = table("yar", game="lady-palk")
    own = board(opening("lady-palk"), game="lady-palk")
    return state_after(
        standings("a21 y20 r19", game="lady-palk"), first=snapshot("y0 =a0 =r0", own, shown)
    )


def connection_lost() -> SessionState:
    absent = [seat("y"), seat("a", connected=False), seat("r")]
    changed = events.TableChanged(table=table(version=2, seats=absent), now=START + 20_000)
    present = state_after(standings("a5 y3 r1"), changed)
    return with_news(present, link_changed(present, LinkState.RECONNECTING), START + 25_000)


def over() -> SessionState:
    return state_after(
        standings("a12 y9 r3"),
        events.RaceOver(outcome=outcome("a12:cash-out y9:stuck r3:left")),
        events.TableChanged(table=table(phase="over", version=3), now=START + 20_000),
    )


SCENES = {
    scene.__name__: scene
    for scene in (
        alone,
        four,
        sixteen,
        wide_names,
        two_packs,
        connection_lost,
        over,
    )
}


@pytest.mark.parametrize(("width", "height"), SIZES)
@pytest.mark.parametrize("name", SCENES)
def test_the_panel_looks_as_in_its_picture(name: str, width: int, height: int) -> None:
    drawn = panel(SCENES[name](), width, height, START + 25_000, UNICODE).text()
    picture = PICTURES / f"{name}-{width}x{height}.txt"
    assert drawn.rstrip("\n") == picture.read_text(encoding="utf-8").rstrip("\n"), f"\n{drawn}"


def test_every_picture_belongs_to_a_test() -> None:
    wanted = {f"{name}-{width}x{height}.txt" for name in SCENES for width, height in SIZES}
    assert {path.name for path in PICTURES.iterdir()} == wanted


def test_a_player_whose_board_has_ended_reads_no_distance_to_a_rival() -> None:
    ended = events.BoardChanged(
        board=board(count=1, state="cash-out"), place=1, entries=["20000 9 cash-out"]
    )
    after = next_state(four(), ended, START + 20_000)
    assert "level with" in panel(four(), 44, 37, START + 25_000, UNICODE).text()
    assert "level with" not in panel(after, 44, 37, START + 25_000, UNICODE).text()


def rows_of(canvas: Canvas) -> list[str]:
    return ["".join(piece.text for piece in row) for row in rows(canvas)]


@given(
    st.sampled_from(sorted(SCENES)),
    st.integers(0, 60),
    st.integers(0, 50),
    st.text(max_size=40),
    st.booleans(),
)
def test_every_row_is_exactly_as_wide_as_the_panel(
    name: str, width: int, height: int, called: str, ascii_only: bool
) -> None:
    present, symbols = renamed(SCENES[name](), called), symbols_for(ascii_only)
    for canvas in (
        panel(present, width, height, START + 25_000, symbols),
        ticker(present, width, symbols),
    ):
        for row in rows_of(canvas):
            assert cell_len(row) == width
            assert sanitised(row) == row


def renamed(present: SessionState, name: str) -> SessionState:
    """Return the state with another name in the second seat."""
    seats = list(present.table.seats)
    if len(seats) > 1:
        seats[1] = replaced(seats[1], name=name)
    first = events.Snapshot(
        table=replaced(present.table, seats=seats),
        now=START,
        standings=list(present.table_view.standings),
        outcome=None,
    )
    picture = replace(first_view(first), outcome=present.table_view.outcome)
    return replace(present, table_view=picture)


@pytest.mark.parametrize("name", SCENES)
def test_no_event_is_cut(name: str) -> None:
    present = SCENES[name]()
    text = "".join("".join(rows_of(panel(present, 24, 60, START + 25_000, UNICODE))).split())
    for each in (each for each in present.news if each.kind in ROLES):
        assert "".join(each.text.split()) in text


def test_the_players_own_line_is_always_shown() -> None:
    for place in range(16):
        others = [f"{letter}{40 - at}" for at, letter in enumerate(LETTERS[1:])]
        shorthand = " ".join([*others[:place], f"y{40 - place}", *others[place:]])
        present = state_after(standings(shorthand), first=snapshot("y1", board(), table(LETTERS)))
        for height in range(10, 30):
            found = rows_of(panel(present, 24, height, START, UNICODE))
            assert sum("YOU" in row for row in found) == 1, (place, height)
            assert found[0].startswith(" 1 ")
            left = sum(int(row.split()[0]) for row in found if row.rstrip().endswith(" more"))
            assert left + sum(row[:2].strip().isdigit() and row[2] == " " for row in found) >= 16


@given(st.sampled_from(sorted(GAMES)), st.booleans(), st.data())
def test_one_card_is_at_least_one_step_of_a_bar(
    name: str, ascii_only: bool, data: st.DataObject
) -> None:
    symbols, game = (LETTERS_ONLY if ascii_only else UNICODE), GAMES[name]
    leader = data.draw(st.integers(1, game.cards))
    even = money_meter(game, 0).even
    drawn = [lead_bar(banked, leader, even, symbols) for banked in range(leader + 1)]
    most = BAR * symbols.steps
    assert len(set(drawn[-most:])) == len(drawn[-most:])
    assert max(map(len, drawn)) <= BAR
    assert drawn == sorted(drawn, key=len)


def test_ascii_mode_draws_only_ascii() -> None:
    for scene in (alone, four, sixteen, connection_lost, over):
        for canvas in (
            panel(scene(), 24, 21, START, LETTERS_ONLY),
            panel(scene(), 44, 37, START, LETTERS_ONLY),
            ticker(scene(), 79, LETTERS_ONLY),
        ):
            assert canvas.text().isascii()


def test_the_race_in_one_line_cuts_no_racer_in_two() -> None:
    (row,) = rows_of(ticker(four(), 79, UNICODE))
    assert row.strip() == "1 YOU 12  2 ana 12  3 Otto° 10  4 raj 9"
    (row,) = rows_of(ticker(four(), 30, UNICODE))
    assert row.strip() == "1 YOU 12  2 ana 12"


def test_an_alarm_is_the_newest_of_the_news_and_leaves_the_standings_their_room() -> None:
    calm = four()
    alarmed = replace(calm, alarms=(f"Race 1: {'the deal was changed, ' * 20}",))
    before, after = (rows_of(panel(state, 24, 15, START, UNICODE)) for state in (calm, alarmed))
    assert before[:4] == after[:4]
    assert before[-4:] == after[-4:]
    lines = rows(panel(alarmed, 24, 15, START, UNICODE))
    loud = [piece.text.strip() for row in lines for piece in row if piece.role is Role.ALARM]
    assert len(loud) == 7


def test_the_last_row_warns_an_idle_player_and_says_who_races_alone() -> None:
    def last(state: SessionState) -> tuple[str, Role]:
        row = rows(panel(state, 24, 21, START + 25_000, UNICODE))[-1]
        return "".join(piece.text for piece in row).strip(), row[0].role

    present = four()
    assert last(present) == ("level with ana", Role.TEXT)
    warned = replace(present, idle_left=60, idle_until=START + 70_000)
    assert last(warned) == ("! press any key:    0:45", Role.ALERT)
    lost = link_changed(present, LinkState.RECONNECTING)
    assert last(lost) == ("connection lost: trying", Role.WARNING)
    shown = replaced(present.table, last_racer=player("a"), version=9)
    alone = next_state(present, events.TableChanged(table=shown, now=START), START)
    assert last(alone) == ("only ana races: 9:35", Role.WARNING)


def test_the_panel_compares_with_the_players_best() -> None:
    best = PersonalBest(
        game="canfield",
        race=RACE,
        banked=30,
        net=100,
        reached=60_000,
        counts=((0, 1), (20_000, 7), (60_000, 30)),
    )
    present = replace(four(), best=best, player=YOU)
    assert "behind your best" in panel(present, 24, 21, START + 25_000, UNICODE).text()


@pytest.mark.parametrize("name", GAMES)
def test_the_players_bar_covers_the_tick_exactly_when_the_board_breaks_even(name: str) -> None:
    game = GAMES[name]
    for width in range(20, 50):
        for banked in range(game.cards + 1):
            canvas = Canvas(width, 2)
            draw_meter(canvas, 0, 0, width, money_meter(game, banked), UNICODE)
            marks, drawn = rows_of(canvas)
            tick = marks.index(UNICODE.tick)
            assert (drawn[tick] != UNICODE.tick) == (money_meter(game, banked).net >= 0)
            assert marks.endswith(f"{banked}/{game.cards}")


FAST = Climb(0, ((10_000, 5), (30_000, 20)), 30_000)
SLOW = Climb(0, ((60_000, 10),), 60_000)
LINES = [Line(1, "ana", FAST, Role.RACER_1), Line(2, "", SLOW, Role.YOU)]


def charted(lines: list[Line], width: int, height: int, symbols: Symbols) -> Canvas:
    canvas = Canvas(width, height)
    draw_chart(canvas, (0, 0, width, height), lines, money_meter(GAMES["canfield"], 0), symbols)
    return canvas


def test_a_chart_of_letters_has_each_racers_place() -> None:
    assert charted(LINES, 36, 7, LETTERS_ONLY).text().splitlines() == [
        "20               11              ana",
        "                 1",
        "                 1",
        "10 . . . . . . . 1 . . . . . . 2",
        "        111111111              2",
        " 0 1111122222222222222222222222",
        "   0:00                     1:00",
    ]


def test_a_chart_has_each_racers_colour_and_label_and_dots_finer_than_cells() -> None:
    drawn = rows(charted(LINES, 36, 7, UNICODE))
    dots = {
        piece.role
        for row in drawn
        for piece in row
        if any(0x2800 <= ord(sign) < 0x2900 for sign in piece.text)
    }
    assert dots == {Role.RACER_1, Role.YOU}
    assert [piece.role for piece in drawn[0] if "ana" in piece.text] == [Role.RACER_1]


@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize(("width", "height"), [(20, 4), (54, 12), (100, 20), (5, 2)])
def test_a_chart_of_any_size_can_be_drawn(name: str, width: int, height: int) -> None:
    for symbols in (UNICODE, LETTERS_ONLY):
        for row in rows_of(charted(LINES * 8, width, height, symbols)):
            assert cell_len(row) == width


def test_a_racer_has_the_same_colour_on_every_page() -> None:
    racers = [player(letter) for letter in LETTERS]
    roles = racer_roles(racers, YOU)
    assert roles == racer_roles(racers[::-1], YOU)
    assert roles[YOU] is Role.YOU
    assert len({roles[racer] for racer in racers[:8]}) == 8
