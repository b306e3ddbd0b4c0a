"""Keys: the move that each plays, the answer, and the hints."""

import pytest

from kit.positions import draw
from saratoga_client.input.keyboard import key_hints, press
from saratoga_client.input.move_text import CardName, card_name
from saratoga_client.input.scene import Scene, scene_of
from saratoga_client.input.selection import NO_SELECTION, InputResult, Selection, marks
from saratoga_rules.games import GAMES
from saratoga_rules.moves import DRAW, parse_move
from saratoga_rules.position import redact

LAFAYETTE_BOARD = """
    stock: 2C 3C
    waste: 5D
    reserve: 4S JH
    t1: 9C 7S
    t2: 8H
    t3: QS
    t4: AS
    up: C1
"""
PALK_BOARD = "t1: 2C KS QH JS TD\nt2: JC\nt4: 4S 3D\nt5: JD\nt6: QC\nstock: 2C"
BACK_BOARD = "up: S4 H3 D1\nt1: 5D\nt2: 4C\nt3: 9H\nt4: 9D"


def scene_from(name: str, picture: str, card_name: CardName = card_name) -> Scene:
    return scene_of(GAMES[name], redact(draw(GAMES[name], picture)), card_name)


def pressed(name: str, picture: str, keys: str, selection: Selection = NO_SELECTION) -> InputResult:
    """Return the result of the last key; the keys before it play no move."""
    scene = scene_from(name, picture)
    result = InputResult(selection, "")
    for key in keys.split():
        assert result.move is None, f"played before {key}"
        result = press(scene, result.selection, key)
    return result


def played(result: InputResult) -> str | None:
    return None if result.move is None else str(result.move)


@pytest.mark.parametrize(
    ("name", "picture", "keys", "move"),
    [
        # pick and place
        ("lafayette", LAFAYETTE_BOARD, "4 f", "t4>up"),
        ("lafayette", "t1: KS", "1 g", "t1>down"),
        # another source in place of the first
        ("lafayette", LAFAYETTE_BOARD, "1 r 3", "r>t3"),
        ("lafayette", LAFAYETTE_BOARD, "1 escape r 3", "r>t3"),
        # the same key twice
        ("lafayette", LAFAYETTE_BOARD, "4 4", "t4>up"),
        ("lafayette", "t1: KS", "1 1", "t1>down"),
        ("lafayette", "waste: AS", "w w", "w>up"),
        ("lafayette", LAFAYETTE_BOARD, "1 1", "t1>t2"),
        ("lady-palk", "t1: JS TD\nt2: QC", "1 1", "t1>t2:2"),
        ("lady-palk", "t1: AS\nt2: 2H", "1 1", "t1>up"),
        # packets
        ("lady-palk", PALK_BOARD, "1 3", "t1>t3:4"),
        ("lady-palk", PALK_BOARD, "1 6", "t1>t6:2"),
        ("lady-palk", PALK_BOARD, "1 2", "t1>t2"),
        ("lady-palk", PALK_BOARD, "1 - 6", "t1>t6:2"),
        ("lady-palk", PALK_BOARD, "1 - - + - 2", "t1>t2"),
        ("lady-palk", PALK_BOARD, "1 - = 3", "t1>t3:4"),
        ("canfield-aisleriot", "t1: 8S 7H 6C 5H", "1 2", "t1>t2:3"),
        ("canfield-aisleriot", "t1: 8S 7H 6C 5H", "1 - 2", "t1>t2:2"),
        ("canfield", "t1: 5H 4S\nt2: 6C", "1 2", "t1>t2:2"),
        # the foundation first
        ("lafayette", LAFAYETTE_BOARD, "f", "t4>up"),
        ("lafayette", "t1: AS\nt2: AH", "f 2", "t2>up"),
        ("lafayette", "t1: KS\nreserve: KH", "g r", "r>down"),
        ("lafayette", "t1: AS\nt2: AH", "f f 1", "t1>up"),
        # the stock
        ("lafayette", LAFAYETTE_BOARD, "d", "draw"),
        ("lafayette", LAFAYETTE_BOARD, "1 space", "draw"),
        # taking back
        ("canfield-aisleriot", BACK_BOARD, "b 1", "up.S>t1"),
        ("canfield-aisleriot", BACK_BOARD, "b b 2", "up.H>t2"),
        ("canfield-aisleriot", BACK_BOARD, "b b b 1", "up.S>t1"),
        ("canfield-aisleriot", "up: S4\nt1: 5D\nt2: 9C\nt3: 9D\nt4: 9H", "b b", "up.S>t1"),
        # walking through the moves
        ("lafayette", LAFAYETTE_BOARD, "tab enter", "t4>up"),
        ("lafayette", LAFAYETTE_BOARD, "shift+tab enter", "draw"),
        ("lafayette", LAFAYETTE_BOARD, "tab tab enter", "r>t3"),
        ("lafayette", LAFAYETTE_BOARD, "tab tab shift+tab enter", "t4>up"),
        ("lafayette", LAFAYETTE_BOARD, "1 tab enter", "t1>t2"),
        ("lafayette", "t1: AS\nt2: AH", "f tab tab enter", "t2>up"),
        ("lafayette", LAFAYETTE_BOARD, "4 enter", "t4>up"),
    ],
)
def test_keys_play_a_move(name: str, picture: str, keys: str, move: str) -> None:
    result = pressed(name, picture, keys)
    assert played(result) == move
    assert result.selection == NO_SELECTION


@pytest.mark.parametrize(
    ("name", "picture", "keys", "says", "selection"),
    [
        (*("lafayette", LAFAYETTE_BOARD, "1"), "7♠ from column 1: press 2; esc drops.", Selection(picked="t1")),
        (*("lafayette", LAFAYETTE_BOARD, "1 f"), "7♠: the foundation waits for another card. Next: A♠.", Selection(picked="t1")),
        (*("lafayette", LAFAYETTE_BOARD, "1 escape"), "Pick-up from column 1 cancelled.", NO_SELECTION),
        (*("lafayette", LAFAYETTE_BOARD, "escape"), "Nothing is selected.", NO_SELECTION),
        (*("lafayette", LAFAYETTE_BOARD, "tab escape"), "Selection cleared.", NO_SELECTION),
        (*("lafayette", LAFAYETTE_BOARD, "tab"), "1 of 4: A♠ from column 4 banked up; enter plays it.", Selection(lit=parse_move("t4>up"))),
        (*("lafayette", LAFAYETTE_BOARD, "enter"), "Enter plays the move that Tab has chosen: press Tab first.", NO_SELECTION),
        (*("lafayette", "t1: 2H", "tab"), "No move is left on this board.", NO_SELECTION),
        (*("lafayette", "t1: 7S\nup: S6\ndown: S6", "1 1"), "7♠ from column 1: press f or g; esc drops.", Selection(picked="t1")),
        (*("lafayette", "t1: AS\nt2: AH", "f"), "Bank which up? 1 A♠, 2 A♥; esc cancels.", Selection(aim="up")),
        (*("lady-palk", "t1: AS\nt2: AH", "f"), "Bank which? 1 A♠, 2 A♥; esc cancels.", Selection(aim="up")),
        (*("lafayette", "t1: AS\nt2: AH\nt3: 9C", "f 3"), "9♣: the foundation waits for another card. Next: A♣.", Selection(aim="up")),
        (*("lafayette", "t1: 9S", "f"), "No card can be banked up now.", NO_SELECTION),
        (*("lady-palk", "t1: 9S", "f"), "No card can be banked now.", NO_SELECTION),
        (*("canfield", "t1: 9S", "7"), "Canfield has no column 7.", NO_SELECTION),
        (*("caprice", "t1: 9S", "w"), "Caprice has no waste.", NO_SELECTION),
        (*("canfield-aisleriot", "up: S1\nt1: 2H", "b"), "No card of a foundation has a place in the columns now.", NO_SELECTION),
        (*("canfield-aisleriot", BACK_BOARD, "b"), "4♠ from its foundation: press 1; esc drops.", Selection(picked="up.S")),
        (*("canfield-aisleriot", BACK_BOARD, "b f"), "A card from a foundation comes back into a column, nowhere else.", Selection(picked="up.S")),
        (*("canfield-aisleriot", "stock: 2C\nwaste: 3C\npass: 3", "x"), "'x' does nothing here: space draw 1, w pick, tab moves, o quick.", NO_SELECTION),
        (*("canfield-aisleriot", "waste: 3C\npass: 3", "space"), "The stock is empty. This was the last pass: there is no redeal left.", NO_SELECTION),
        (*("caprice", "t1: KS", "space"), "The stock is empty. This game has no redeal.", NO_SELECTION),
        (*("lady-palk", "t1: JS TD\nt2: QC\nt3: JD", "1"), "Column 1: 2 takes 2, 3 takes 1; esc drops. + - choose how many.", Selection(picked="t1")),
        (*("lady-palk", PALK_BOARD, "+"), "+ and - choose how many cards: pick a pile first.", NO_SELECTION),
        (*("lady-palk", PALK_BOARD, "1 +"), "Most that can go anywhere now: 4.", Selection(picked="t1")),
        (*("lady-palk", PALK_BOARD, "1 -"), "2 cards (J♠ to 10♦) from column 1: press 6; esc drops. + - choose how many.", Selection(picked="t1", size=2)),
        (*("lady-palk", PALK_BOARD, "1 - 3"), "J♠ to column 3: an empty column takes a king, with all on it.", Selection(picked="t1", size=2)),
        (*("lady-palk", PALK_BOARD, "1 - - -"), "Fewest that can go anywhere now: 1.", Selection(picked="t1", size=1)),
        (*("canfield", "t1: 5H 4S\nt2: 6C", "1 -"), "You can carry the whole pile, and only as a whole.", Selection(picked="t1")),
        (*("lafayette", LAFAYETTE_BOARD, "o"), "Quick on: a pile with only one legal move plays it at once.", Selection(quick=True)),
        (*("lafayette", LAFAYETTE_BOARD, "1 o o"), "Quick off: a pile's key picks, a second key places.", Selection(picked="t1")),
    ],
)  # fmt: skip
def test_a_key_that_plays_no_move_gets_an_answer(
    name: str, picture: str, keys: str, says: str, selection: Selection
) -> None:
    result = pressed(name, picture, keys)
    assert result.move is None
    assert result.says == says
    assert result.selection == selection


@pytest.mark.parametrize(
    ("name", "picture", "selection", "picked", "targets", "sources"),
    [
        ("lafayette", LAFAYETTE_BOARD, NO_SELECTION, None, "", "stock r t1 t4"),
        ("lafayette", LAFAYETTE_BOARD, Selection(picked="t1"), ("t1", 1), "t2", ""),
        ("lafayette", LAFAYETTE_BOARD, Selection(picked="t4"), ("t4", 1), "up.S", ""),
        ("lafayette", LAFAYETTE_BOARD, Selection(picked="t2"), None, "", "stock r t1 t4"),
        ("lafayette", LAFAYETTE_BOARD, Selection(lit=DRAW), ("stock", 1), "w", ""),
        ("caprice", "stock: 2C 3C", Selection(lit=DRAW), ("stock", 1), "t1 t2", ""),
        ("lafayette", "t1: AS\nt2: AH", Selection(aim="up"), None, "up.S up.H", "t1 t2"),
        ("lady-palk", PALK_BOARD, Selection(picked="t1"), ("t1", 4), "t2 t3 t5 t6 t7 t8", ""),
        ("lady-palk", PALK_BOARD, Selection(picked="t1", size=2), ("t1", 2), "t6", ""),
        (
            *("lady-palk", PALK_BOARD, Selection(lit=parse_move("t1>t6:2"))),
            *(("t1", 2), "t6", ""),
        ),
        ("canfield-aisleriot", BACK_BOARD, Selection(picked="up.S"), ("up.S", 1), "t1", ""),
        ("canfield-aisleriot", BACK_BOARD, NO_SELECTION, None, "", "t2 up.S up.H"),
    ],
)
def test_the_marks_show_the_picked_cards_and_their_targets(
    name: str,
    picture: str,
    selection: Selection,
    picked: tuple[str, int] | None,
    targets: str,
    sources: str,
) -> None:
    lit = marks(scene_from(name, picture), selection)
    assert lit.picked == picked
    assert lit.targets == set(targets.split())
    assert lit.sources == set(sources.split())


@pytest.mark.parametrize(
    ("game", "picture", "selection", "hints"),
    [
        (
            "canfield",
            "stock: 2C\nwaste: AS\nt1: KS\nt2: QH",
            NO_SELECTION,
            "space draw 1, 1-4 w pick, f bank, tab moves, o quick",
        ),
        (
            "lafayette",
            "waste: AS\nreserve: KS\nt1: 5H",
            Selection(quick=True),
            "space redeal, w r pick, f bank up, g bank down, tab moves, o quick off",
        ),
        (
            "caprice",
            "t11: 7S\nt12: 6S",
            NO_SELECTION,
            "1-9 0 - = pick, tab moves, o quick",
        ),
        (
            "canfield-aisleriot",
            "up: S4\nt2: 5D\nreserve: 5C",
            NO_SELECTION,
            "r pick, tab moves, b take back, o quick",
        ),
        (
            "caprice",
            "t1: 7S\nt11: 8S\nup: S6\ndown: S6\nstock: 2C",
            Selection(picked="t1"),
            "- place, f bank up, g bank down, tab moves, esc drop",
        ),
        (
            "lady-palk",
            "t1: 2C KS QH\nt2: KH",
            Selection(picked="t1"),
            "2 3 4 5 6 7 8 place, + - how many, tab moves, esc drop",
        ),
        ("lafayette", "t1: AS\nt2: AH", Selection(aim="up"), "1 2 bank, esc drop"),
        ("lafayette", "stock: AS", Selection(lit=DRAW), "enter play, tab next move, esc drop"),
    ],
)
def test_the_hints_name_the_keys_of_the_moment(
    game: str, picture: str, selection: Selection, hints: str
) -> None:
    scene = scene_of(GAMES[game], redact(draw(GAMES[game], picture)))
    assert ", ".join(f"{key} {does}" for key, does in key_hints(scene, selection)) == hints


@pytest.mark.parametrize(
    ("key", "move"),
    [("1", "t1>t2"), ("4", "t4>up"), ("r", "r>t3"), ("2", None), ("w", None), ("space", "draw")],
)
def test_in_quick_mode_a_pile_with_one_legal_move_plays_it(key: str, move: str | None) -> None:
    result = pressed("lafayette", LAFAYETTE_BOARD, key, Selection(quick=True))
    assert played(result) == move
    assert result.selection == Selection(quick=True)
