"""Hit testing agrees with what is drawn, card by card and cell by cell."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit.board_pictures import SIZES
from kit.positions import draw
from kit.walks import places as walked
from kit.walks import step_at
from saratoga_client.board_view.board import NO_MARKS, draw_board
from saratoga_client.board_view.card_faces import CardStyle
from saratoga_client.board_view.layout import BoardLayout, Spot, Tile, TileKind, lay_out
from saratoga_client.board_view.pile_layout import (
    TALL,
    PileLayout,
    pile_layout,
)
from saratoga_rules.cards import HIDDEN, Card
from saratoga_rules.games import GAMES
from saratoga_rules.position import View, redact

GAME_NAMES = st.sampled_from(list(GAMES))
BOARDS = st.sampled_from([*SIZES, (55, 17), (60, 40)])
LOOK = CardStyle()


def shown(layout: BoardLayout, pile: str) -> list[Tile]:
    return [tile for tile in layout.tiles if tile.pile == pile]


def cells(tile: Tile) -> list[tuple[int, int]]:
    return [
        (x, y)
        for x in range(tile.x, tile.x + tile.width)
        for y in range(tile.y, tile.y + tile.height)
    ]


@given(GAME_NAMES, walked, BOARDS)
def test_at_every_cell_of_a_card_is_that_card(
    name: str, place: int, board: tuple[int, int]
) -> None:
    game, position, *_ = step_at(name, place)
    view = redact(position)
    layout = lay_out(game, view, *board)
    rows = draw_board(game, view, NO_MARKS, LOOK, layout).text().split("\n")
    for card in layout.tiles:
        assert {layout.at(x, y) for x, y in cells(card)} == {card.spot}
        if card.kind is TileKind.CARD:
            assert card.card is not None
            assert LOOK.index(card.card) in rows[card.y][card.x : card.x + card.width]


@given(GAME_NAMES, walked, BOARDS)
def test_every_card_of_a_column_is_shown_or_counted(
    name: str, place: int, board: tuple[int, int]
) -> None:
    game, position, *_ = step_at(name, place)
    layout = lay_out(game, redact(position), *board)
    for number, column in enumerate(position.columns, 1):
        found = shown(layout, f"t{number}")
        if not column:
            assert [card.kind for card in found] == [TileKind.SPACE]
            continue
        below = len(position.face_down[number - 1]) if position.face_down else 0
        reached = -below
        assert Spot(f"t{number}", 0) in {card.spot for card in found}
        for card in found:
            assert card.index == reached
            seen = TileKind.CARD if card.count == 1 else TileKind.GAP
            assert card.kind is (TileKind.BACK if reached < 0 else seen)
            assert card.card == (column[reached] if card.kind is TileKind.CARD else None)
            reached += card.count
        assert reached == len(column)


@given(GAME_NAMES, walked, BOARDS)
def test_the_first_and_last_card_of_a_liftable_run_are_visible(
    name: str, place: int, board: tuple[int, int]
) -> None:
    game, position, *_ = step_at(name, place)
    layout = lay_out(game, redact(position), *board)
    for number, column in enumerate(position.columns, 1):
        if column:
            largest = max(game.columns.packet.sizes(column, game.columns.build))
            whole = {
                card.index for card in shown(layout, f"t{number}") if card.kind is TileKind.CARD
            }
            assert {len(column) - largest, len(column) - 1} <= whole


@given(GAME_NAMES, walked, BOARDS, st.data())
def test_a_picked_packet_is_seen_whole_or_counted_from_its_first_card(
    name: str, place: int, board: tuple[int, int], data: st.DataObject
) -> None:
    game, position, *_ = step_at(name, place)
    number = data.draw(st.integers(1, game.columns.count))
    column = position.columns[number - 1]
    if not column:
        return
    sizes = game.columns.packet.sizes(column, game.columns.build)
    count = data.draw(st.sampled_from(sizes))
    layout = lay_out(game, redact(position), *board, (f"t{number}", count))
    heads = [card for card in shown(layout, f"t{number}") if card.kind is TileKind.CARD]
    assert len(column) - count in {card.index for card in heads}
    assert {layout.count_from(card.spot) for card in heads} >= {1, count}


def table(name: str, picture: str) -> tuple[BoardLayout, View]:
    view = redact(draw(GAMES[name], picture))
    return lay_out(GAMES[name], view, 55, 21), view


def test_under_a_column_and_on_its_key_is_the_column_without_a_card() -> None:
    layout, _ = table("canfield", "t1: KS QH\nreserve: 2C 3C")
    (last,) = [tile for tile in shown(layout, "t1") if tile.index == 1]
    assert layout.at(last.x, last.y + last.height + 1) == Spot("t1")
    (label,) = [label for label in layout.labels if label.piles == ("t1",)]
    assert layout.at(label.x, label.y) == Spot("t1")
    assert layout.count_from(Spot("t1")) == 1
    assert layout.count_from(Spot("t2")) == 0


def test_the_bare_table_is_nothing() -> None:
    layout, _ = table("canfield", "t1: KS QH")
    assert layout.at(54, 20) is None
    assert layout.at(-1, 4) is None


def test_face_down_cards_lie_under_the_face_up_ones_and_cannot_be_lifted() -> None:
    layout, _ = table("lady-palk", "t3: 2C 3C | QH JS")
    low, high, queen, knave = shown(layout, "t3")
    assert (low.kind, high.kind) == (TileKind.BACK, TileKind.BACK)
    assert (low.card, high.card, queen.card, knave.card) == (None, None, "QH", "JS")
    assert [tile.y - low.y for tile in (low, high, queen, knave)] == [0, 1, 2, 3]
    assert (low.spot, high.spot) == (Spot("t3", -2), Spot("t3", -1))
    assert [layout.count_from(tile.spot) for tile in (low, high, queen, knave)] == [4, 3, 2, 1]
    assert layout.cards_from(low.spot) == layout.cards_from(high.spot) == ()
    assert layout.cards_from(queen.spot) == (Card("QH"), Card("JS"))


def test_face_down_cards_without_room_are_one_row_with_their_number() -> None:
    run = "KS QH JS TD 9C 8D 7C 6H 5S 4D 3S 2H"
    layout, view = table("lady-palk", f"t3: 2C 3C 4C 5C 6C 7C | {run}")
    backs, *cards = shown(layout, "t3")
    assert (backs.kind, backs.count, backs.spot) == (TileKind.BACK, 6, Spot("t3", -6))
    assert tuple(tile.card for tile in cards) == view.columns[2]
    assert cards[-1].y + cards[-1].height <= 21
    rows = draw_board(GAMES["lady-palk"], view, NO_MARKS, LOOK, layout).text().split("\n")
    assert rows[backs.y][backs.x : backs.x + backs.width] == "│░6░│"


def test_of_a_fanned_waste_only_the_top_card_is_lifted() -> None:
    layout, view = table("canfield", "waste: 2C 3C 4C 5C")
    fan = shown(layout, "w")
    assert [tile.index for tile in fan] == [1, 2, 3]
    assert {layout.count_from(tile.spot) for tile in fan} == {1}
    assert layout.cards_from(fan[0].spot) == view.waste[-1:]


def test_the_reserve_shows_its_top_card_and_a_back_under_it() -> None:
    layout, view = table("canfield", "reserve: 2C 3C 4C")
    back, top = shown(layout, "r")
    assert (back.kind, back.count, back.spot) == (TileKind.BACK, 2, Spot("r"))
    assert (top.card, top.index) == (view.reserve[-1], 2)
    layout, _ = table("canfield", "reserve: 4C")
    assert [tile.kind for tile in shown(layout, "r")] == [TileKind.CARD]


def test_both_foundations_of_a_suit_have_one_name_and_two_places() -> None:
    layout, _ = table("lady-palk", "up: S6,2 H1")
    assert [(p.card, p.copy) for p in shown(layout, "up.S")] == [("6S", 0), ("2S", 1)]
    assert [p.kind for p in shown(layout, "up.H")] == [TileKind.CARD, TileKind.SPACE]
    assert layout.count_from(Spot("up.S", 5)) == 1
    assert layout.cards_from(Spot("up.S", 5)) == (Card("6S"),)


@pytest.mark.parametrize("name", list(GAMES))
def test_nothing_hidden_is_ever_in_a_place(name: str) -> None:
    layout, _ = table(name, "reserve: 9C\nstock: 2C 3C" if name[0] in "cl" else "stock: 2C")
    assert HIDDEN not in {tile.card for tile in layout.tiles}
    assert not re.search(r"[?#]", "".join(tile.card or "" for tile in layout.tiles))


GAME_NAMES_OF_PILE_LAYOUT = list(GAMES)


def piles(arranged: PileLayout) -> list[tuple[str, int]]:
    return [(area.pile, area.copy) for area in arranged.areas]


@pytest.mark.parametrize("name", GAME_NAMES_OF_PILE_LAYOUT)
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


@pytest.mark.parametrize("name", GAME_NAMES_OF_PILE_LAYOUT)
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


@pytest.mark.parametrize("name", GAME_NAMES_OF_PILE_LAYOUT)
@pytest.mark.parametrize("size", [(1, 1), (20, 6), (40, 12), (200, 80)])
def test_no_board_is_too_small_or_too_large(name: str, size: tuple[int, int]) -> None:
    assert piles(pile_layout(GAMES[name], *size))
