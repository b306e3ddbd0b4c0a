"""Laws of all input, and predictions of moves."""

from dataclasses import replace
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit.positions import LONGEST, draw, places, step_at, walk_at
from saratoga_client.input.find import found_text
from saratoga_client.input.keyboard import key_hints, press
from saratoga_client.input.mouse import Click, click, drop
from saratoga_client.input.move_text import LINE, ascii_card_name, describe, key_of, target_of
from saratoga_client.input.scene import Scene, scene_of
from saratoga_client.input.selection import NO_SELECTION, InputResult, Selection, marks
from saratoga_client.input.typed_moves import typed_move
from saratoga_client.session.own_board import predicted_view
from saratoga_rules.cards import HIDDEN, SUITS
from saratoga_rules.games import GAMES
from saratoga_rules.games.canfield import CANFIELD
from saratoga_rules.moves import COLUMN_NAMES, TAKE_BACK_INDEX, Carry, Move, parse_move
from saratoga_rules.play import play, refusal
from saratoga_rules.position import Position, View, redact

every_game = pytest.mark.parametrize("name", GAMES)

KEYS = (
    *"1234567890-=+wrfgbodx?é",
    *("space", "tab", "shift+tab", "enter", "escape", "f5", "ctrl+a", "", "\x1b["),
)
PILES = (
    *("stock", "w", "r"),
    *(f"{family}.{letter}" for family in ("up", "down") for letter in SUITS),
    *COLUMN_NAMES[:13],
)
LETTERS = "0123456789wrfgbtdx>:=- .,up bank draw redeal to s é"


def reached(scene: Scene, move: Move, selection: Selection) -> InputResult:
    """Press the keys for a move; return the result of the last key."""
    if not isinstance(move, Carry):
        return press(scene, selection, "space")
    result = pick(scene, move, selection)
    if result.move is not None:
        return result
    while (held := marks(scene, result.selection).picked) and held[1] > move.count:
        result = press(scene, result.selection, "-")
    # the largest packet that fits is picked, and not every size fits the target
    if result.selection.size is None and len(scene.carries(move.source, move.target)) > 1:
        result = press(scene, press(scene, result.selection, "-").selection, "+")
    return press(scene, result.selection, key_of(move.target))


def pick(scene: Scene, move: Carry, selection: Selection) -> InputResult:
    if move.source not in TAKE_BACK_INDEX:
        return press(scene, selection, key_of(move.source))
    result = press(scene, selection, "b")
    while result.selection.picked != move.source:
        result = press(scene, result.selection, "b")
    return result


def is_sound(scene: Scene, result: InputResult) -> None:
    """Assert what holds for every result."""
    assert result.says
    assert len(result.says) <= LINE, result.says
    assert result.says.isprintable()
    assert result.says[-1] in ".?", result.says
    if result.move is not None:
        assert refusal(scene.game, scene.view, result.move) is None
        assert result.selection == Selection(
            quick=result.selection.quick, clicked=result.selection.clicked
        )
    guided = key_hints(scene, result.selection)
    assert all(key and does for key, does in guided)
    assert len(" ".join(f"{key} {does}" for key, does in guided)) <= LINE
    lit = marks(scene, result.selection)
    assert lit.picked is None or lit.targets
    assert all(pile in PILES for pile in lit.targets | lit.sources)


@every_game
@pytest.mark.parametrize("quick", [False, True], ids=["two keys", "quick"])
@given(place=places)
def test_every_legal_move_is_reached_by_keys(name: str, quick: bool, place: int) -> None:
    game, position, legal, _ = step_at(name, place)
    scene = scene_of(game, redact(position))
    for move in legal:
        result = reached(scene, move, Selection(quick=quick))
        assert result.move == move
        assert result.selection == Selection(quick=quick)


@every_game
@given(place=places)
def test_tab_visits_every_legal_move_once_and_then_begins_again(name: str, place: int) -> None:
    game, position, legal, _ = step_at(name, place)
    scene, selection = scene_of(game, redact(position)), NO_SELECTION
    there, back = [], []
    for _ in legal:
        selection = press(scene, selection, "tab").selection
        there.append(selection.lit)
        assert press(scene, selection, "enter").move == selection.lit
    for _ in legal:
        back.append(selection.lit)
        selection = press(scene, selection, "shift+tab").selection
    assert len(set(there)) == len(legal)
    assert set(there) == set(legal)
    assert back == there[::-1]
    assert selection.lit == (there[-1] if there else None)


@every_game
@given(place=places)
def test_every_legal_carry_is_reached_by_drop_and_by_clicks(name: str, place: int) -> None:
    game, position, legal, _ = step_at(name, place)
    view = redact(position)
    scene = scene_of(game, view)
    for move in legal:
        if not isinstance(move, Carry):
            assert click(scene, NO_SELECTION, "stock", 1, Click.SINGLE).move == move
            continue
        target = target_of(view, move)
        assert drop(scene, NO_SELECTION, move.source, move.count, target).move == move
        first = click(scene, NO_SELECTION, move.source, move.count, Click.SINGLE)
        second = click(scene, first.selection, target, 1, Click.SINGLE)
        assert move in (first.move, second.move)


@every_game
@given(place=places)
def test_every_legal_move_can_be_typed_in_its_notation(name: str, place: int) -> None:
    game, position, legal, _ = step_at(name, place)
    view = redact(position)
    for move in legal:
        assert typed_move(game, view, str(move)) == move
        assert describe(game, view, move, ascii_card_name).isascii()
        if isinstance(move, Carry):
            words = f"{move.source} {move.target} x{move.count}"
            assert typed_move(game, view, words) == move


@every_game
@given(place=places, chance=st.integers(0, 2**32 - 1))
def test_every_key_and_click_gets_an_answer_and_plays_only_legal_moves(
    name: str, place: int, chance: int
) -> None:
    walked = walk_at(name, place)
    random = Random(chance)
    selection = NO_SELECTION
    step = walked[place % LONGEST % len(walked)]
    for _ in range(30):
        # now and then the position changes under the selection
        if random.random() < 0.1:
            step = random.choice(walked)
        scene = scene_of(step.game, redact(step.position))
        result = anything(scene, selection, random)
        is_sound(scene, result)
        selection = result.selection


def anything(scene: Scene, selection: Selection, random: Random) -> InputResult:
    if random.random() < 0.6:
        key = random.choice(KEYS)
        in_ascii = replace(scene, card_name=ascii_card_name)
        plain = press(in_ascii, selection, key)
        assert plain.says.isascii() or not key.isascii()
        return press(scene, selection, key)
    pile, count = random.choice(PILES), random.choice((0, 1, 1, 1, 2, 3, 5, 14))
    if random.random() < 0.3:
        return drop(scene, selection, pile, count, random.choice(PILES))
    return click(scene, selection, pile, count, random.choice(list(Click)))


@every_game
@given(place=places, line=st.text(LETTERS, max_size=8) | st.text(max_size=6))
def test_every_typed_line_is_a_legal_move_or_gets_an_answer(
    name: str, place: int, line: str
) -> None:
    game, position, _, _ = step_at(name, place)
    view = redact(position)
    typed = typed_move(game, view, line)
    if isinstance(typed, str | None):
        assert typed != ""
    else:
        assert refusal(game, view, typed) is None
    found = found_text(game, view, line)
    assert 0 < len(found) <= LINE


def turned_up(before: View, after: View) -> bool:
    """Return whether a move turned cards up, counting also cards that went to a foundation."""
    return face_up(after) > face_up(before)


def face_up(position: Position) -> int:
    piles = (position.waste, position.reserve, *position.columns)
    return position.banked + sum(card != HIDDEN for pile in piles for card in pile)


@pytest.mark.parametrize("name", GAMES)
@given(place=places)
def test_a_predicted_view_equals_the_servers_view(name: str, place: int) -> None:
    game, position, legal, _ = step_at(name, place)
    view = redact(position)
    for move in legal:
        after = redact(play(game, position, move))
        expected = None if turned_up(view, after) else after
        assert predicted_view(game, view, move) == expected, move


@pytest.mark.parametrize(
    ("reserve", "known"), [("## 9H", False), ("9H", True), ("", True)], ids=["two", "one", "none"]
)
def test_a_space_filled_from_the_reserve_is_predicted_unless_a_card_turns_up(
    reserve: str, known: bool
) -> None:
    view = redact(draw(CANFIELD, f"reserve: {reserve}\nt1: QH\nt2: KS\nt3: 2C\nt4: 5C"))
    after = predicted_view(CANFIELD, view, parse_move("t1>t2"))
    assert (after is not None) == known
