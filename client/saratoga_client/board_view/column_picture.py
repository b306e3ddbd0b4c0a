"""The picture of a column, and the faces of tiles. Pure."""

from dataclasses import replace
from functools import lru_cache
from typing import Final

from saratoga_client.board_view.canvas import Canvas
from saratoga_client.board_view.card_faces import (
    CardState,
    CardStyle,
    Rows,
    back_face,
    back_strip,
    card_face,
    gap_face,
    space_face,
)
from saratoga_client.board_view.layout import ColumnTiles, Tile, TileKind
from saratoga_client.board_view.roles import Role
from saratoga_client.input.find import cards_matching
from saratoga_rules.moves import COLUMN_INDEX, RESERVE

STRIP_MARKS: Final = {
    CardState.PICKED: (("▐", "*"), Role.KEY_LIT),
    CardState.TARGET: (("→", ">"), Role.KEY_TARGET),
}
"""The marks before a one-row card by state: symbol and ASCII character, and the role."""


@lru_cache(maxsize=1 << 9)
def column_picture(
    column: ColumnTiles, picked: int, is_lit: bool, find: str, space: str, style: CardStyle
) -> Canvas:
    """Draw a column with its `picked` top cards selected; `space` is the word in an empty column.

    Equal arguments give the same cached canvas. One-row cards have a cell for marks at their left.
    """
    tiles = column.tiles
    first, last = tiles[0], tiles[-1]
    margin = 1 if first.size.height == 1 else 0
    canvas = Canvas(first.width + margin, last.y + last.height - first.y)
    held = 0 if last.index is None else last.index + last.count
    found = cards_matching(find)
    for tile in tiles:
        on_top = 0 if tile.index is None else held - tile.index - tile.count
        state = CardState.PLAIN
        if tile.index is not None and on_top < picked:
            state = CardState.PICKED
        elif is_lit and not on_top:
            state = CardState.TARGET
        elif tile.card in found:
            state = CardState.FOUND
        if tile.kind is TileKind.SPACE:
            rows = space_face(space, tile.size, style, is_lit)
        else:
            rows = tile_face(tile, style, state)
        put_tile(canvas, replace(tile, x=margin, y=tile.y - first.y), rows)
        if margin and state in STRIP_MARKS:
            mark, role = STRIP_MARKS[state]
            canvas.put(0, tile.y - first.y, mark[style.ascii], role)
    return canvas


def tile_face(tile: Tile, style: CardStyle, state: CardState) -> Rows:
    """Return the rows of the whole face of a tile that is not an empty pile."""
    match tile.kind:
        case TileKind.CARD:
            assert tile.card is not None
            whole = tile.width >= tile.size.width
            return card_face(tile.card, tile.size, style, state, whole)
        case TileKind.GAP:
            return gap_face(tile.count, tile.size, style, state)
        case _ if tile.pile in COLUMN_INDEX:
            return back_strip(tile.count, tile.size, style)
        case _:
            number = 0 if tile.pile == RESERVE else tile.count
            return back_face(number, tile.size, style)


def put_tile(canvas: Canvas, tile: Tile, rows: Rows) -> None:
    """Put the visible part of a face on its cells."""
    if 1 < tile.height < len(rows):
        # A shortened card still ends with its bottom line.
        rows = (*rows[: tile.height - 1], rows[-1])
    for row, pieces in enumerate(rows[: tile.height]):
        skipped, x = tile.cut, tile.x
        for text, role in pieces:
            seen = text[skipped : skipped + tile.x + tile.width - x]
            skipped = max(0, skipped - len(text))
            x = canvas.put(x, tile.y + row, seen, role)
