"""Positions of piles: all fit on the smallest board, and a larger board uses its space."""

from dataclasses import replace

import pytest

from kit.board_pictures import SIZES
from saratoga_client.board_view.pile_layout import (
    FAN,
    MOST_FANNED,
    SUIT_ORDER,
    TALL,
    PileArea,
    PileLayout,
    pile_layout,
)
from saratoga_rules.games import GAMES
from saratoga_rules.vocabulary.foundations import First, up_from
from saratoga_rules.vocabulary.stocks import turned

GAME_NAMES = list(GAMES)


def covered(area: PileArea) -> set[tuple[int, int]]:
    across = area.seen + (area.fanned - 1) * 4
    return {
        (x, y) for x in range(area.x, area.x + across) for y in range(area.y, area.y + area.rows)
    }


def piles(arranged: PileLayout) -> list[tuple[str, int]]:
    return [(area.pile, area.copy) for area in arranged.areas]


@pytest.mark.parametrize("name", GAME_NAMES)
@pytest.mark.parametrize("size", SIZES)
def test_piles_and_keys_lie_on_the_board_and_not_on_one_another(
    name: str, size: tuple[int, int]
) -> None:
    width, height = size
    arranged = pile_layout(GAMES[name], width, height)
    assert arranged.width <= width
    taken: set[tuple[int, int]] = set()
    for area in arranged.areas:
        cells = covered(area)
        assert not cells & taken, area
        taken |= cells
    for label in arranged.labels:
        cells = {(x, label.y) for x in range(label.x, label.x + label.width)}
        assert not cells & taken, label
        taken |= cells
    assert all(0 <= x < width and 0 <= y < height for x, y in taken)


@pytest.mark.parametrize("name", GAME_NAMES)
def test_every_pile_has_its_place(name: str) -> None:
    game = GAMES[name]
    found = piles(pile_layout(game, 55, 21))
    assert len(found) == len(set(found))
    names = [pile for pile, _ in found]
    assert [pile for pile in names if pile.startswith("t")] == [
        f"t{number}" for number in range(1, game.columns.count + 1)
    ]
    for suit in "CSHD":
        assert names.count(f"up.{suit}") == game.up.for_each_suit
        assert names.count(f"down.{suit}") == (game.down.for_each_suit if game.down else 0)
    assert "stock" in names
    assert ("w" in names) is (name != "caprice")
    assert ("r" in names) is (name in {"canfield", "canfield-aisleriot", "lafayette"})


@pytest.mark.parametrize("name", GAME_NAMES)
@pytest.mark.parametrize("size", SIZES)
def test_an_ordinary_column_is_seen_whole(name: str, size: tuple[int, int]) -> None:
    arranged = pile_layout(GAMES[name], *size)
    column = next(area for area in arranged.areas if area.pile == "t1")
    last = min(2, column.size.height)
    assert column.rows - last + 1 >= TALL[GAMES[name].packs]


@pytest.mark.parametrize("name", ["canfield", "canfield-aisleriot"])
@pytest.mark.parametrize("size", SIZES)
def test_a_packet_of_three_is_fanned_whole(name: str, size: tuple[int, int]) -> None:
    waste = next(s for s in pile_layout(GAMES[name], *size).areas if s.pile == "w")
    assert waste.fanned == 3


def test_where_there_is_room_more_of_the_waste_is_seen() -> None:
    fans = [
        next(s for s in pile_layout(GAMES["lafayette"], width, 37).areas if s.pile == "w").fanned
        for width in (55, 88, 120)
    ]
    assert fans == sorted(fans)
    assert fans[-1] <= MOST_FANNED


@pytest.mark.parametrize("name", GAME_NAMES)
def test_a_larger_board_has_larger_cards(name: str) -> None:
    sizes = [pile_layout(GAMES[name], *size).areas[0].size for size in SIZES]
    assert sizes == sorted(sizes)
    assert sizes[-1] > sizes[0]


@pytest.mark.parametrize("name", GAME_NAMES)
@pytest.mark.parametrize("size", [(1, 1), (20, 6), (40, 12), (200, 80)])
def test_no_board_is_too_small_or_too_large(name: str, size: tuple[int, int]) -> None:
    assert piles(pile_layout(GAMES[name], *size))


SEVEN_COLUMNS = replace(
    GAMES["lady-palk"],
    packs=1,
    columns=replace(GAMES["lady-palk"].columns, count=7),
    up=up_from(First.ACE),
    stock=turned(3, passes=3),
)


@pytest.mark.parametrize("size", [*SIZES, (56, 21), (57, 21), (72, 27)])
def test_piles_of_one_pack_lie_above_columns(size: tuple[int, int]) -> None:
    lefts = {area.pile: area.x for area in pile_layout(SEVEN_COLUMNS, *size).areas}
    height = pile_layout(SEVEN_COLUMNS, *size).areas[0].size.height
    assert height >= 4, "there is room for cards of four rows"
    assert [lefts["stock"], lefts["w"]] == [lefts["t1"], lefts["t2"]]
    assert [lefts[f"up.{suit}"] for suit in SUIT_ORDER] == [lefts[f"t{n}"] for n in (4, 5, 6, 7)]


@pytest.mark.parametrize("size", SIZES)
def test_a_packet_is_fanned_whole_beside_the_foundations(size: tuple[int, int]) -> None:
    waste, *others = [
        area for area in pile_layout(SEVEN_COLUMNS, *size).areas if area.pile[0] in "wu"
    ]
    assert waste.fanned >= 3
    assert waste.x + waste.seen + FAN * (waste.fanned - 1) < min(area.x for area in others)
