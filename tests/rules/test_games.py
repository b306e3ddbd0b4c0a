"""The rules of each game: positions with what may be played, what is refused and why, and what a move does."""

import pytest

from kit.positions import draw, legal, played, refused
from kit.secrecy import with_masked_columns
from saratoga_rules.game import Game
from saratoga_rules.games import GAMES
from saratoga_rules.games.klondike import KLONDIKE
from saratoga_rules.play import is_won
from saratoga_rules.position import Position, parse_position, redact
from saratoga_rules.stuck.stuck import is_stuck

FULL = "; ".join(f"t{number}: 2C" for number in range(1, 13))


def position_in(game: Game, piles: str) -> Position:
    """Return a position whose piles are in one line; a later pile replaces an earlier one, also of `full`."""
    return draw(game, piles.replace("full", FULL).replace("; ", "\n"))


def cases(text: str) -> list[tuple[Game, str, list[str]]]:
    """Return each line's game and piles, and what stands behind its arrows."""
    found = []
    for line in text.strip().splitlines():
        name, _, rest = line.partition(": ")
        piles, *parts = rest.split(" -> ")
        found.append((GAMES[name], piles, parts))
    return found


REFUSED = """
canfield: t1: 8H; t2: 8C; t3: 7C; t4: 9D; reserve: 7S -> LEGAL t3>t1 r>t1; DOES_NOT_BUILD t3>t2 t1>t4
canfield: base: 7; t1: 7H; t2: 6S; t3: 2C; t4: TC; up: C1; reserve: 2H -> LEGAL t2>t1
canfield: t1: 9H 8C 7D; t2: TC; t3: 8S; t4: 2C; reserve: 2H; base: 5 -> LEGAL t1>t2:3; NOT_A_PACKET t1>t3 t1>t2:2 t1>t2; NOT_SO_MANY t1>t2:4; ONE_AT_A_TIME t1>up:2; NO_SUCH_PILE t1>down
canfield: t1: 9H 8C; t2: TC; t4: 2C; waste: 4D 6H; up: C1 H1; base: 5 -> LEGAL w>t3; NOT_A_PACKET t1>t3; CHANGES_NOTHING t1>t3:2 t2>t3
canfield: t1: AS; t2: QS; waste: QC; up: S1 C13; base: K -> LEGAL t1>up; FOUNDATION_WAITS t2>up w>up
canfield: t1: 7H; t2: 9H; up: S6; base: A -> NOT_FROM_FOUNDATIONS up.S>t1 up.S>up
canfield: stock: 2C; waste: 3C -> STOCK_REMAINS redeal
canfield: t1: 2C -> NOTHING_TO_REDEAL redeal
canfield: waste: 3C -> STOCK_IS_EMPTY draw
canfield-aisleriot: t1: 9H 2C 7D; t2: TC; reserve: 2H; t3: 3D -> NOT_A_PACKET t1>t2:3 t1>t3:2
canfield-aisleriot: t1: 8H; t2: 9H; t3: 8C; t4: 2S; reserve: 3H; up: S3; base: 5 -> LEGAL up.S>t1; DOES_NOT_BUILD up.S>t2 up.S>t3
canfield-aisleriot: t1: 6H; up: S1; base: 5 -> FIRST_CARD_STAYS up.S>t1 up.S>t2; NOTHING_TO_CARRY up.C>t1
canfield-aisleriot: t1: 8H; up: S3; base: 5 -> ONLY_INTO_COLUMNS up.S>up up.S>down; ONE_AT_A_TIME up.S>t1:2; NO_SUCH_PILE up.S>t5
canfield-aisleriot: waste: 2C 3C 4C; pass: 2 -> LEGAL redeal
canfield-aisleriot: waste: 2C 3C 4C; pass: 3 -> NO_REDEAL_LEFT redeal
caprice: t1: 5S; t2: 6S; t3: 4S; t4: 6C; t5: 5S -> LEGAL t2>t1 t3>t1; DOES_NOT_BUILD t4>t1 t5>t1
caprice: t1: KS; t2: AS -> DOES_NOT_BUILD t1>t2 t2>t1
caprice: t1: 9S 8S; t2: TS; t3: 7S; t5: TD -> NOT_A_PACKET t1>t2:2; LEGAL t1>t3 t1>t4; CHANGES_NOTHING t5>t4 t1>t4:2
caprice: t1: 7S; up: S6; down: S6 -> NOT_FROM_FOUNDATIONS up.S>t1 up.S>down; NOTHING_TO_CARRY w>t1 r>t1 r>up; NO_REDEALS redeal
lady-palk: t1: 8H; t2: 7H; t3: 7C -> LEGAL t2>t1 t3>t1; DOES_NOT_BUILD t2>t3
lady-palk: t1: AH; t2: KS; t3: 2H; t4: 5D -> DOES_NOT_BUILD t2>t1
lady-palk: t1: 4C 9H 8H 7H; t2: TC; t3: 9S; t4: 8D -> LEGAL t1>t2:3 t1>t3:2 t1>t4; NOT_A_PACKET t1>t2:4
lady-palk: t1: 4C KH QS; t2: 3C KD; t3: QD; t4: KS QH; t5: 2C JS; waste: KC -> LEGAL t1>t8:2 t2>t8 w>t8; NOT_INTO_A_SPACE t5>t8 t1>t8; CHANGES_NOTHING t3>t8 t4>t8:2
lady-palk: t3: 5S; up: S5,2 -> FOUNDATION_WAITS t3>up; NOT_FROM_FOUNDATIONS up.S>t3
lady-palk: t1: JH TC | 9H 8C; t2: QC; t3: TD -> NOT_A_PACKET t1>t2:3 t1>t2:4 t1>t1:3 t1>t4:4 t1>up:3; LEGAL t1>t3:2; NOT_SO_MANY t1>t3:5
lady-palk: waste: 3C -> NO_REDEALS redeal
lady-palk: stock: 3C -> NO_REDEALS redeal
klondike: t1: 4D | KS; t2: KH; t4: 2C -> LEGAL t1>t3; CHANGES_NOTHING t2>t3
klondike: t1: 5D | QS JH; t3: 9C; waste: KD -> NOT_INTO_A_SPACE t1>t2:2
klondike: t2: KH; t3: 2D; up: C13 S12 -> LEGAL up.C>t1 up.S>t2; NOT_INTO_A_SPACE up.S>t1
lafayette: t1: KC; t2: QC; reserve: KS; waste: QS; down: S1 -> LEGAL t1>down w>down; FOUNDATION_WAITS t2>down t1>up
lafayette: t1: AC; up: C13 -> FOUNDATION_WAITS t1>up
lafayette: t1: AH; t2: KS; t3: 2S -> DOES_NOT_BUILD t2>t1; LEGAL t1>t3
lafayette: t1: 9H 8C; t2: TC; t3: 9D; t4: 2C -> NOT_A_PACKET t1>t2:2; LEGAL t1>t3
lafayette: t1: 9H 8C; t2: TC; t4: 2C; reserve: 3D 5H; waste: 6D; up: S2 -> LEGAL t1>t3 r>t3 w>t3; CHANGES_NOTHING t2>t3 t1>t3:2; NOT_FROM_FOUNDATIONS up.S>t3
"""
"""Positions with moves: those that are legal, and those that are refused, behind the reason."""


@pytest.mark.parametrize(("game", "piles", "parts"), cases(REFUSED))
def test_a_move_is_refused_for_its_reason(game: Game, piles: str, parts: list[str]) -> None:
    position = position_in(game, piles)
    for group in parts[0].split("; "):
        reason, *moves = group.split()
        for move in moves:
            no = refused(game, position, move)
            assert (no.name if no else "LEGAL") == reason, move


ONLY = """
canfield: t1: AH; t2: KS; t3: KD; t4: 5S; reserve: 2H -> >t1: t2>t1
canfield: t1: 7S; t2: AS; t3: 8D; reserve: 7H; up: D1; base: 7 -> up: r>up t1>up t3>up
canfield-aisleriot: t1: 9H 8C 7D; t2: TC; t4: 2S; waste: 5H; up: S7; base: 5 -> >t3: t1>t3 t1>t3:2 up.S>t3 w>t3
caprice: t1: 7D; up: D6; down: D6 -> t1>: t1>down t1>up
lafayette: t1: 7C; up: C6; down: C6 -> n: t1>down
lady-palk: waste: 3C -> all: none
lady-palk: t1: 3C; t2: 2C; stock: 9C -> all: draw t2>t1
klondike: t1: AH; t2: KS; t3: QS; t4: QD; t5: 9C; t6: TD -> all: t1>up t4>t2 t5>t6
"""
"""Positions with all the legal moves whose text contains a part."""


@pytest.mark.parametrize(("game", "piles", "parts"), cases(ONLY))
def test_these_and_no_other_moves_go_there(game: Game, piles: str, parts: list[str]) -> None:
    part, _, moves = parts[0].partition(": ")
    found = legal(game, position_in(game, piles))
    shown = {move for move in found if part in move or part == "all"}
    assert shown == (set() if moves == "none" else set(moves.split()))


DONE = """
canfield: t1: 8C 7D; t2: TC; up: D2; base: 5; reserve: KH -> t1>up -> t1: 8C; t2: TC; up: D3; base: 5; reserve: KH
canfield: t1: 9H; t2: TC; t3: TS; t4: 2C; reserve: 4D KH -> t1>t2 -> t1: KH; t2: TC 9H; t3: TS; t4: 2C; reserve: 4D
canfield: t1: 9H; t2: TC; reserve: 4D; up: H4; base: 5 -> t1>up -> t1: 4D; t2: TC; up: H5; base: 5
canfield: t1: 9H; t2: TC; waste: 4D -> t1>t2 -> t2: TC 9H; waste: 4D
canfield: stock: 2C 3C 4C 5C; waste: KH -> draw -> stock: 5C; waste: KH 2C 3C 4C
canfield: stock: 2C 3C; waste: KH -> draw -> waste: KH 2C 3C
canfield: stock: 2C; waste: KH -> draw -> waste: KH 2C
canfield: waste: 2C 3C 4C 5C; pass: 70 -> redeal -> stock: 2C 3C 4C 5C; pass: 71
canfield-aisleriot: t1: 9H 8C 7D; t2: TC; t4: 9D; reserve: 2H; base: 5 -> t1>t4:2 -> t1: 9H; t2: TC; t4: 9D 8C 7D; reserve: 2H; base: 5
canfield-aisleriot: t1: 8H; reserve: 3H; up: S3; base: 5 -> up.S>t1 -> t1: 8H 7S; reserve: 3H; up: S2; base: 5
canfield-aisleriot: t1: AH; reserve: 3H; up: S3; base: J -> up.S>t1 -> t1: AH KS; reserve: 3H; up: S2; base: J
canfield-aisleriot: t1: 9H 8C; t2: TC; reserve: 3H KD -> t1>t2:2 -> t1: KD; t2: TC 9H 8C; reserve: 3H
canfield-aisleriot: t1: 2C 3D | 9H 8C; t2: TC; t3: 4S | AH; reserve: 5H -> t1>t2:2 -> t1: 2C | 3D; t2: TC 9H 8C; t3: 4S | AH; reserve: 5H
canfield: t1: 2C | 9H; t2: TC -> t1>t2 -> t1: 2C; t2: TC 9H
caprice: t1: 9H; t2: TH; t3: JH; stock: 2C -> t1>t2 -> t1: 2C; t2: TH 9H; t3: JH
caprice: t1: 5S; t2: 6S; t3: 5S -> t2>t1 t3>t1 -> t1: 5S 6S 5S
caprice: t1: 7D; up: D6; down: D6 -> t1>down -> up: D6; down: D7
caprice: full; t3: 3C; stock: 9H 9D -> t3>t1 -> full; t1: 2C 3C; t3: 9H; stock: 9D
caprice: full; stock: 9H; up: C1 -> t12>up -> full; t12: 9H; up: C2
klondike: t1: 4D | KS; t2: KH -> t1>t3 -> t1: 4D; t2: KH; t3: KS
klondike: t1: 5D | QS JH; waste: KD -> w>t2 t1>t2:2 -> t1: 5D; t2: KD QS JH
klondike: t1: AS | AH; t2: 2H -> t1>up -> t1: AS; t2: 2H; up: H1
klondike: t1: 2C | 6S; t2: 8C; up: D3 H7 -> up.H>t2 t1>t2 -> t1: 2C; t2: 8C 7H 6S; up: D3 H6
lady-palk: t1: 9H; t2: TC; stock: KD; waste: KC -> t1>t2 -> t2: TC 9H; stock: KD; waste: KC
lady-palk: t1: 5S; t2: 5S; t3: 6S; up: S4,4 -> t1>up t3>up t2>up -> up: S6,5
lady-palk: t1: 3S; t2: 6S; up: S5,2 -> t1>up -> t2: 6S; up: S5,3
lady-palk: t1: 3S; t2: 6S; up: S5,2 -> t2>up -> t1: 3S; up: S6,2
lafayette: t1: 7C; up: C6; down: C6 -> t1>up -> up: C7; down: C6
lafayette: t1: 7C; up: C6; down: C6 -> t1>down -> up: C6; down: C7
lafayette: t1: 9H; t2: TC; reserve: 3D 5H -> t1>t2 -> t2: TC 9H; reserve: 3D 5H
lafayette: stock: 2C; waste: 3C; pass: 9 -> draw redeal draw -> stock: 2C; waste: 3C; pass: 10
"""
"""Positions before and after moves."""


@pytest.mark.parametrize(("game", "piles", "parts"), cases(DONE))
def test_a_move_does_this(game: Game, piles: str, parts: list[str]) -> None:
    moves, after = parts
    assert played(game, position_in(game, piles), *moves.split()) == position_in(game, after)


WON = """
canfield: t1: 6H; up: C13 S13 H12 D13; base: 7 -> t1>up
caprice: t1: AD; up: C13 S13 H13 D13; down: C13 S13 H13 D12 -> t1>down
klondike: t3: KD; up: C13 S13 H13 D12 -> t3>up
lady-palk: waste: KD; up: C13,13 S13,13 H13,13 D13,12 -> w>up
lafayette: t1: 7D; up: C13 S1 H6 D6; down: S12 H7 D6 -> t1>down
lafayette: t1: 7D; up: C13 S1 H6 D6; down: S12 H7 D6 -> t1>up
"""
"""Positions that a move wins."""


@pytest.mark.parametrize(("game", "piles", "parts"), cases(WON))
def test_a_game_is_won_with_all_cards_on_the_foundations(
    game: Game, piles: str, parts: list[str]
) -> None:
    position = position_in(game, piles)
    assert not is_won(game, position)
    after = played(game, position, *parts)
    assert is_won(game, after)
    assert {move for move in legal(game, after) if not move.startswith("up.")} == set()


# Klondike: face-down cards, spaces and take-backs

DRAWN = """
stock=- waste=- up=0,0,0,0 columns=9H|8S/TS/9D/2S/4C/6C/QC passes=1 -> t1>t3 t3>t2; not stuck
stock=- waste=- up=0,0,0,0 columns=4D|KS/KH/-/2C/4C/6C/8C passes=3 -> t1>t3; not stuck
stock=- waste=KD up=0,0,0,0 columns=5D|QSJH/-/9C/2C/4C/6C/8C passes=3 -> w>t2; not stuck
stock=- waste=- up=0,0,0,0 columns=9D|8S7H6C/8C/7D/2S/4S/TS/QS passes=3 -> t1>t2:2 t1>t3 t3>t2; stuck
stock=- waste=- up=0,0,0,0 columns=AS|AH/2H/4C/6C/8C/TC/QC passes=3 -> t1>up; not stuck
stock=- waste=- up=2,1,3,0 columns=4S/2D/6C/8C/TC/QC/KC passes=3 -> up.H>t1; stuck
stock=- waste=- up=13,12,0,0 columns=-/KH/2D/4D/6D/8D/TD passes=3 -> up.C>t1 up.S>t2; stuck
stock=5H9C waste=3S up=0,0,0,0 columns=2S/4C/6C/8C/TC/QC/KC passes=2 -> draw; stuck
stock=- waste=3S5H9C up=0,0,0,0 columns=2S/4C/7C/8C/TC/QC/KC passes=2 -> redeal; stuck
stock=- waste=3S5H9C up=0,0,0,0 columns=2S/4C/7C/8C/TC/QC/KC passes=3 -> none; stuck
stock=4H waste=9C up=0,0,0,0 columns=2S/4C/7C/8C/TC/QC/KC passes=1 -> draw; stuck
stock=6CAS9C3C5C waste=2H up=0,0,0,0 columns=2S/4S/6S/8S/TS/QS/KS passes=2 -> draw; not stuck
stock=6CAS9C3C5C waste=2H up=0,0,0,0 columns=2S/4S/6S/8S/TS/QS/KS passes=3 -> draw; stuck
stock=- waste=AD5C up=0,0,0,0 columns=6H/2S/4S/8S/TS/QS/KS passes=3 -> w>t1; not stuck
stock=- waste=- up=0,3,7,0 columns=2C|6S/8C/TC/QC/KC/TS/QS passes=3 -> up.H>t2; not stuck
stock=- waste=KH up=0,0,0,0 columns=QD/KC/2S/4S/6S/8S/TS passes=3 -> t1>t2; not stuck
"""
"""Positions, each with every legal move and the verdict; they are numbered from 1 in the tests."""

CASES = DRAWN.strip().splitlines()
POSITIONS = {
    number: parse_position(
        line.split(" -> ")[0].replace(" up=", " reserve=- up=").replace(" columns", " down=- columns")
        .replace(" passes", " base=1 passes")
    )
    for number, line in enumerate(CASES, 1)
}  # fmt: skip


@pytest.mark.parametrize("number", POSITIONS)
def test_the_legal_moves_of_a_drawn_position_are_all_and_only_these(number: int) -> None:
    moves = CASES[number - 1].split(" -> ")[1].split(";")[0]
    expected = set() if moves == "none" else set(moves.split())
    assert legal(KLONDIKE, POSITIONS[number]) == expected
    assert legal(KLONDIKE, redact(POSITIONS[number])) == expected


@pytest.mark.parametrize("number", POSITIONS)
def test_a_drawn_position_is_stuck_or_not(number: int) -> None:
    expected = not CASES[number - 1].endswith("not stuck")
    assert is_stuck(KLONDIKE, POSITIONS[number]) is expected
    assert is_stuck(KLONDIKE, with_masked_columns(POSITIONS[number])) is expected
