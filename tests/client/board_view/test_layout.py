"""Hit testing agrees with what is drawn, card by card and cell by cell."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit.pictures import SIZES
from kit.positions import draw, step_at
from kit.positions import places as walked
from saratoga_client.board_view.layout import BoardLayout, Spot, Tile, TileKind, lay_out
from saratoga_client.board_view.piles import TALL, pile_layout
from saratoga_rules.games import GAMES
from saratoga_rules.position import View, redact

GAME_NAMES = st.sampled_from(list(GAMES))
BOARDS = st.sampled_from([*SIZES, (55, 17), (60, 40)])


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
    layout = lay_out(game, redact(position), *board)
    for tile in layout.tiles:
        assert {layout.at(x, y) for x, y in cells(tile)} == {tile.spot}


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
        assert column[0] in {card.card for card in found}
        for card in found:
            assert card.spot == Spot(f"t{number}", len(column) - reached)
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
            seen = shown(layout, f"t{number}")
            whole = {card.spot.count for card in seen if card.kind is TileKind.CARD}
            assert {largest, 1} <= whole


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
    assert {card.spot.count for card in heads} >= {1, count}


def table(name: str, picture: str) -> tuple[BoardLayout, View]:
    view = redact(draw(GAMES[name], picture))
    return lay_out(GAMES[name], view, 55, 21), view


def test_under_a_column_and_on_its_key_is_the_column_without_a_card() -> None:
    layout, _ = table("canfield", "t1: KS QH\nreserve: 2C 3C")
    last = shown(layout, "t1")[-1]
    assert layout.at(last.x, last.y + last.height + 1) == Spot("t1")
    (label,) = [label for label in layout.labels if label.piles == ("t1",)]
    assert layout.at(label.x, label.y) == Spot("t1")


@pytest.mark.parametrize("name", GAMES)
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
