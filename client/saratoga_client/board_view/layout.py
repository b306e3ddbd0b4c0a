"""The tiles of a view: the cells of each card, and the pile of each cell.

Drawing and clicking use the same tiles, so they always agree.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import lru_cache
from itertools import chain, pairwise
from typing import Any

from saratoga_client.board_view.faces import Size
from saratoga_client.board_view.piles import FAN, PileArea, PileLabel, pile_layout
from saratoga_client.input.move_text import STOCK, pile_cards
from saratoga_rules.cards import Card
from saratoga_rules.game import Game
from saratoga_rules.moves import COLUMN_INDEX, RESERVE
from saratoga_rules.position import View


@dataclass(frozen=True, slots=True)
class Spot:
    """The pile at a cell of the board, and the number of its cards that a player points at."""

    pile: str
    """The pile's name as in moves, or `stock`, `up.S` or `down.S`; equal foundations share one."""
    count: int = 0
    """In a column, the number of cards from the one at the cell to the top, face-down ones included.

    In another pile, 1 for a face-up card. 0 for labels, empty piles, and below a column.
    """


class TileKind(StrEnum):
    """The contents of a tile."""

    CARD = "card"
    BACK = "back"
    """`count` face-down cards."""
    GAP = "gap"
    """A row with a number that stands for cards of a long column that are not shown."""
    SPACE = "space"
    """An empty pile."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tile:
    """A card, a back, a gap or an empty pile, and the cells in which it is visible."""

    kind: TileKind
    pile: str
    x: int
    y: int
    width: int
    height: int
    size: Size
    """The size of the whole card in cells."""
    copy: int = 0
    """0 or 1: the index among two foundations of one name."""
    card: Card | None = None
    count: int = 1
    """Number of cards that the tile stands for."""
    above: int = 0
    """Number of cards that lie on these."""
    cut: int = 0
    """Number of cells at the card's left that another card covers."""

    @property
    def spot(self) -> Spot:
        is_card = self.kind is TileKind.CARD
        lifted = self.above + self.count if self.pile in COLUMN_INDEX else int(is_card)
        return Spot(self.pile, lifted)


@dataclass(frozen=True, slots=True, kw_only=True)
class BoardLayout:
    """The tiles and labels of a view on a board of some size."""

    width: int
    height: int
    tiles: list[Tile]
    """All tiles, those of the columns last."""
    areas: list[PileArea]
    labels: list[PileLabel]

    def at(self, x: int, y: int) -> Spot | None:
        """Return the pile and card at a cell; `None` for a cell without either."""
        boxes = chain(
            ((tile.x, tile.y, tile.width, tile.height, tile.spot) for tile in self.tiles),
            ((area.x, area.y, area.seen, area.rows, Spot(area.pile)) for area in self.areas),
            ((o.x, o.y, o.width, 1, Spot(o.piles[0])) for o in self.labels if len(o.piles) == 1),
        )
        for left, top, width, height, spot in boxes:
            if left <= x < left + width and top <= y < top + height:
                return spot
        return None


def lay_out(
    game: Game, view: View, width: int, height: int, picked: tuple[str, int] | None = None
) -> BoardLayout:
    """Return the layout of a view on a board of `width` times `height` cells.

    `picked` is a pile and the number of its selected cards; the first of them stays visible.
    """
    arranged = pile_layout(game, width, height)
    tiles: list[Tile] = []
    columns: list[Tile] = []
    for area in arranged.areas:
        cards = pile_cards(view, area.pile, area.copy)
        if area.pile in COLUMN_INDEX:
            lifted = picked[1] if picked and picked[0] == area.pile else 0
            below = len(view.face_down[COLUMN_INDEX[area.pile]]) if view.face_down else 0
            columns += _column(game, cards, below, area, lifted)
        else:
            tiles += _tiles(cards, area)
    _lay_cards_over_spaces(tiles)
    return BoardLayout(
        width=width,
        height=height,
        tiles=tiles + columns,
        areas=arranged.areas,
        labels=arranged.labels,
    )


def _lay_cards_over_spaces(tiles: list[Tile]) -> None:
    """Shorten empty piles whose left border a neighbouring card covers."""
    for at, (left, right) in enumerate(pairwise(tiles)):
        overlap = left.x + left.size.width - right.x
        beside = left.y == right.y and left.x < right.x
        if left.kind is TileKind.CARD and right.kind is TileKind.SPACE and beside and overlap > 0:
            tiles[at] = replace(left, width=left.width + overlap)
            width = right.width - overlap
            # Only the left border is covered, so that the word stays visible.
            size = Size(width + 1, right.size.height)
            tiles[at + 1] = replace(right, x=right.x + overlap, width=width, size=size, cut=1)


def _tile(kind: TileKind, area: PileArea, **changes: Any) -> Tile:
    """Return a tile of a pile, with the place of its only card unless `changes` say another one."""
    tile = Tile(
        kind=kind,
        pile=area.pile,
        copy=area.copy,
        x=area.x,
        y=area.y,
        width=area.seen,
        height=min(area.rows, area.size.height),
        size=area.size,
    )
    return replace(tile, **changes)


def _tiles(cards: tuple[Card, ...], area: PileArea) -> Iterator[Tile]:
    """Yield the tiles of a pile that is not a column."""
    if not cards:
        yield _tile(TileKind.SPACE, area, count=0)
    elif area.pile == STOCK:
        yield _tile(TileKind.BACK, area, count=len(cards))
    elif area.pile == RESERVE and len(cards) > 1:
        yield _tile(TileKind.BACK, area, count=len(cards) - 1, height=1)
        yield _tile(TileKind.CARD, area, card=cards[-1], y=area.y + 1)
    else:
        shown = cards[-area.fanned :]
        for index, card in enumerate(shown):
            above = len(shown) - 1 - index
            width = FAN if above else area.seen
            yield _tile(
                TileKind.CARD, area, card=card, above=above, x=area.x + index * FAN, width=width
            )


@lru_cache(maxsize=1 << 8)
def _column(
    game: Game, column: tuple[Card, ...], below: int, area: PileArea, lifted: int
) -> tuple[Tile, ...]:
    """Return the tiles of a column with `below` face-down cards under its face-up ones."""
    if not column:
        return (_tile(TileKind.SPACE, area, count=0),)
    tiles: list[Tile] = []
    count, height = len(column), area.size.height
    least = 2 if 2 <= height <= area.rows else 1
    backs = below if below + count + least - 1 <= area.rows else min(below, 1)
    last = min(height, max(least, area.rows - backs - count + 1))
    run = max(game.columns.packet.sizes(column, game.columns.build), default=1)
    anchors = (count - run, 0, count - lifted)
    for y, row in enumerate(column_rows(count, area.rows - last + 1, anchors, below), area.y):
        kind = TileKind.CARD if row.count == 1 else TileKind.GAP
        above = count - row.first - row.count
        tiles.append(
            _tile(
                TileKind.BACK if row.first < 0 else kind,
                area,
                card=column[row.first] if row.first >= 0 and kind is TileKind.CARD else None,
                count=row.count,
                above=above,
                y=y,
                height=1 if above else last,
            )
        )
    return tuple(tiles)


@dataclass(frozen=True, slots=True)
class ColumnRow:
    """A row of a column: one card, or a number that stands for `count` consecutive cards."""

    first: int
    """The index of the first card, from the bottom of the face-up cards; negative if it is face down."""
    count: int = 1


def column_rows(
    count: int, rows: int, anchors: Iterable[int] = (), below: int = 0
) -> tuple[ColumnRow, ...]:
    """Return the rows of a column of `count` cards: at most `rows`, but at least one for any cards.

    If there is no room for all, a number stands for the cards between the anchors and as many of
    the last cards as fit, another one for all face-down cards. `below` is the number of face-down
    cards under them. `anchors` are the indices of cards that should stay visible, the most
    important last.
    """
    if below + count <= rows:
        return tuple(map(ColumnRow, range(-below, count)))
    if below and rows > 1:
        return (ColumnRow(-below, below), *column_rows(count, rows - 1, anchors))
    kept = [index for index in anchors if 0 <= index < count]
    while rows > 1:
        for tail in range(1, count):
            shown = _with_tail(count, tail, kept)
            if len(shown) <= rows:
                return shown
        kept.pop(0)
    return (ColumnRow(count - 1),)


def _with_tail(count: int, tail: int, anchors: list[int]) -> tuple[ColumnRow, ...]:
    """Return the rows that show all cards from index `tail` on, and before it only the anchors."""
    shown: list[ColumnRow] = []
    reached = 0
    for index in (*sorted({index for index in anchors if index < tail}), tail):
        if index > reached:
            shown.append(ColumnRow(reached, index - reached))
        if index < tail:
            shown.append(ColumnRow(index))
            reached = index + 1
    return (*shown, *map(ColumnRow, range(tail, count)))
