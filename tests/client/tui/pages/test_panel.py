"""The panel of the race beside the board, the meter and the chart: golden pictures, and rules for every picture."""

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace as replaced
from rich.cells import cell_len

from kit.board_pictures import rows
from kit.session_states import (
    RACE,
    START,
    YOU,
    board,
    opening,
    outcome,
    seat,
    snapshot,
    standings,
    state_after,
    table,
)
from saratoga_client.board_view.canvas import Canvas
from saratoga_client.board_view.roles import Role
from saratoga_client.board_view.symbols import LETTERS as ASCII_SYMBOLS
from saratoga_client.net.connection import LinkState
from saratoga_client.session.differ import with_news
from saratoga_client.session.personal_best import PersonalBest
from saratoga_client.session.state import SessionState, link_changed, next_state
from saratoga_client.session.table_view import first_view
from saratoga_client.tui.pages.live_chart import live_chart
from saratoga_client.tui.pages.panel import (
    ALARM_LINES,
    LEAST_EVENTS,
    ROLES,
    draw_bar,
    meter,
    panel,
    ticker,
)
from saratoga_client.wording import dollars, money_meter
from saratoga_protocol import events
from saratoga_protocol.visible_text import sanitised
from saratoga_rules.games import GAMES
from saratoga_rules.money import net

PICTURES = Path(__file__).parent / "pictures"

LETTERS = "yabcdefghijklmop"
"""The ids of sixteen racers."""

BESIDE_METER = 15
"""Height of the panel on a screen of 80x24, above the money meter."""

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


def gathering() -> SessionState:
    return state_after(first=snapshot(shown=table(LETTERS + "qr", phase="gathering")))


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
        gathering,
    )
}


@pytest.mark.parametrize(("width", "height"), SIZES)
@pytest.mark.parametrize("name", SCENES)
def test_the_panel_looks_as_in_its_picture(name: str, width: int, height: int) -> None:
    drawn = panel(SCENES[name](), width, height, START + 25_000).text()
    picture = PICTURES / f"{name}-{width}x{height}.txt"
    assert drawn == picture.read_text(encoding="utf-8").rstrip("\n"), f"\n{drawn}"


def test_every_picture_belongs_to_a_test() -> None:
    wanted = {f"{name}-{width}x{height}.txt" for name in SCENES for width, height in SIZES}
    assert {path.name for path in PICTURES.iterdir()} == wanted


def test_a_player_whose_board_has_ended_reads_no_distance_to_a_rival() -> None:
    ended = events.BoardChanged(
        board=board(count=1, state="cash-out"), place=1, entries=["20000 9 cash-out"]
    )
    after = next_state(four(), ended, START + 20_000)
    assert "level with" in panel(four(), 44, 37, START + 25_000).text()
    assert "level with" not in panel(after, 44, 37, START + 25_000).text()


def rows_of(canvas: Canvas) -> list[str]:
    return ["".join(piece.text for piece in row) for row in rows(canvas)]


@given(
    st.sampled_from(sorted(SCENES)),
    st.integers(0, 60),
    st.integers(0, 50),
    st.text(max_size=40),
    st.booleans(),
)
@settings(max_examples=150, deadline=None)
def test_every_row_is_exactly_as_wide_as_the_panel(
    name: str, width: int, height: int, called: str, ascii_only: bool
) -> None:
    present = renamed(SCENES[name](), called)
    for canvas in (
        panel(present, width, height, START + 25_000, ascii_only=ascii_only),
        meter(GAMES["canfield"], 7, width, ascii_only=ascii_only),
        ticker(present, width, START + 25_000, ascii_only=ascii_only),
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
    text = "".join("".join(rows_of(panel(present, 24, 60, START + 25_000))).split())
    for each in (each for each in present.news if each.kind in ROLES):
        assert "".join(each.text.split()) in text.replace("│", "")


def test_the_players_own_line_is_always_shown() -> None:
    for place in range(16):
        others = [f"{letter}{40 - at}" for at, letter in enumerate(LETTERS[1:])]
        shorthand = " ".join([*others[:place], f"y{40 - place}", *others[place:]])
        present = state_after(standings(shorthand), first=snapshot("y1", board(), table(LETTERS)))
        for height in range(10, 30):
            rows = rows_of(panel(present, 24, height, START))
            assert sum("YOU" in row for row in rows) == 1, (place, height)
            racers = [row for row in rows if "▸" in row]
            if len(racers) > 1:
                assert racers[0].startswith(("│ 1 ", "│ 1▸"))
    assert len(racers) > 1


@pytest.mark.parametrize("name", sorted(GAMES))
def test_at_80x24_five_racers_have_place_name_count_and_money(name: str) -> None:
    game = GAMES[name]
    most = game.cards
    words = [f"r{most}:won", f"o{most - 1}", "a12", f"y{most // 20}:stuck", "m0"]
    seats = [seat("y"), seat("a", name="Maximilian"), seat("o"), seat("r"), seat("m")]
    own = replaced(board(opening(name), game=name), banked=most // 20)
    first = snapshot("y0 =a0 =o0 =r0 =m0", own, table("yaorm", game=name, seats=seats))
    present = state_after(standings(" ".join(words), game=name), first=first)
    for shown in (present, link_changed(present, LinkState.RECONNECTING)):
        rows = rows_of(panel(shown, 24, BESIDE_METER, START + 25_000))[1:6]
        names = ("raj", "Otto [bot]" if most < 100 else "Ot… [bot]", "Maxim", "YOU", "mei")
        for place, (row, word, called) in enumerate(zip(rows, words, names, strict=True), start=1):
            banked = int(word[1:].partition(":")[0])
            assert row.startswith(f"│ {place}")
            assert row.endswith(f" {banked}{dollars(net(game, banked)):>6}│")
            assert row[4:].startswith(called)


def test_at_80x24_sixteen_racers_leave_room_for_the_leader_you_and_your_neighbours() -> None:
    rows = rows_of(panel(sixteen(), 24, BESIDE_METER, START + 25_000))[1:6]
    assert [row[1:12].rstrip() for row in rows] == [
        " 1▸ana",
        "   …",
        " 8▸racer h",
        " 9▸YOU",
        "10▸racer i",
    ]


def test_ascii_mode_draws_only_ascii() -> None:
    for scene in (alone, four, sixteen, connection_lost, over):
        for canvas in (
            panel(scene(), 24, 21, START, ascii_only=True),
            panel(scene(), 44, 37, START, ascii_only=True),
            meter(GAMES["canfield"], 7, 24, ascii_only=True),
            ticker(scene(), 79, START, ascii_only=True),
        ):
            assert canvas.text().isascii()


def test_the_race_in_one_line_keeps_the_clock_whatever_the_names() -> None:
    for width in range(8, 120):
        (row,) = rows_of(ticker(wide_names(), width, START + 25_000))
        assert row.endswith("9:35")
    (row,) = rows_of(ticker(four(), 79, START + 25_000))
    assert row.startswith("1 YOU 12 +$10  2 ana 12 +$10  3 Otto [bot] 10 +$0  4 raj 9 -$5")


def test_an_alarm_of_the_race_is_among_the_news_and_leaves_the_standings_their_room() -> None:
    calm, alarm = four(), f"Race 1: {'the deal was changed, ' * 20}"
    present = with_news(calm, replace(calm, alarms=(alarm,)), START + 5_000)
    before, after = (rows_of(panel(state, 24, 15, START)) for state in (calm, present))
    news = next(y for y, row in enumerate(after) if " news " in row)
    assert before[:news] == after[:news]
    lines = rows(panel(present, 24, 15, START))
    loud = [piece.text.strip() for row in lines for piece in row if piece.role is Role.ALARM]
    assert len(loud) >= LEAST_EVENTS
    earlier = rows_of(panel(replace(calm, alarms=(alarm,)), 24, 21, START))
    assert sum("changed" in row or "deal was" in row for row in earlier) <= ALARM_LINES


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
    assert "your best had 7 by" in panel(present, 24, 21, START + 25_000).text()


@pytest.mark.parametrize("name", GAMES)
def test_a_bar_of_any_width_passes_the_tick_exactly_when_the_money_does(name: str) -> None:
    game = GAMES[name]
    for width in range(8, 50):
        for banked in range(game.cards + 1):
            canvas = Canvas(width + 1, 1)
            money = money_meter(game, banked)
            tick = draw_bar(canvas, 0, 0, width, money, ASCII_SYMBOLS)
            text = canvas.text()
            before, after = text[:tick], text[tick + 1 :]
            assert (set(before) <= {"#"}, "#" in after) == (money.net >= 0, money.net > 0)


def racing(letters: str = "ya") -> SessionState:
    first = snapshot(
        " ".join(f"{each}1" for each in letters),
        shown=table(letters, seats=[seat(each) for each in letters]),
    )
    later = (standings(" ".join(f"{each}{count}" for each in letters)) for count in (6, 14))
    return state_after(*later, first=first)


def text(state: SessionState, width: int, height: int) -> list[str]:
    canvas = live_chart(state, width, height, START + 60_000, ascii_only=True)
    return ["".join(cell.text for cell in row) for row in rows(canvas)]


@pytest.mark.parametrize(("width", "height"), [(54, 15), (80, 21), (120, 37)])
def test_place_money_and_chart_have_their_own_columns(width: int, height: int) -> None:
    shown = text(racing(), width, height)
    assert shown[1].split()[:4] == ["1", "YOU", "14", "+$20"]
    assert shown[2].startswith(" 2 ana")
    assert "BANKED OVER TIME" in shown[0]
    assert all(row[34] == " " for row in shown), "no column is shared"
    assert shown[-1].split() == ["0:00", "0:30", "1:00"]


def test_a_shared_place_is_one_number_and_every_line_has_its_racers_colour() -> None:
    state = state_after(standings("a9 y5 r4"), standings("a9 =y9 r4"))
    canvas = live_chart(state, 80, 21, START + 60_000, ascii_only=True)
    assert [row[1:5] for row in text(state, 80, 21)[1:4]] == ["1 an", "1 YO", "3 ra"]
    roles = {line.role for row in rows(canvas) for line in row if set(line.text) == {"1"}}
    assert roles == {Role.LEADER, Role.YOU}
