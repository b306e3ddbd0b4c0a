"""The tiles of a view: the cells of each card, and the pile of each cell.

Drawing and clicking use the same tiles, so they always agree.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import lru_cache
from itertools import chain, pairwise

from saratoga_client.board_view.elision import ColumnRow, column_rows
from saratoga_client.board_view.faces import Size
from saratoga_client.board_view.piles import (
    FAN,
    PileArea,
    PileLabel,
    pile_layout,
)
from saratoga_client.input.move_text import STOCK, pile_cards
from saratoga_rules.cards import Card
from saratoga_rules.game import Game
from saratoga_rules.moves import COLUMN_INDEX, RESERVE
from saratoga_rules.position import View

__all__ = ["BoardLayout", "PileLabel", "Spot", "Tile", "TileKind", "lay_out"]


@dataclass(frozen=True, slots=True)
class Spot:
    """The pile, and the card in it if any, at a cell of the board."""

    pile: str
    """The pile's name as in moves, or `stock`, `up.S` or `down.S`; equal foundations share one."""
    index: int | None = None
    """The card's index from the bottom of its pile's face-up cards.

    A column's face-down cards have negative indices; -1 lies directly under the face-up cards. `None` on
    other face-down cards, labels and empty piles, and below the last card of a column.
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
    index: int | None = None
    """The index of the card, or of the lowest of `count` cards, as in `Spot`."""
    card: Card | None = None
    count: int = 1
    """Number of cards that the tile stands for."""
    cut: int = 0
    """Number of cells at the card's left that another card covers."""

    @property
    def spot(self) -> Spot:
        return Spot(self.pile, self.index)

    def covers(self, x: int, y: int) -> bool:
        return self.x <= x < self.x + self.width and self.y <= y < self.y + self.height


@dataclass(frozen=True, slots=True, eq=False)
class ColumnTiles:
    """The tiles of a column; an unchanged column gives the same object, for caching."""

    tiles: tuple[Tile, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class BoardLayout:
    """The tiles and labels of a view on a board of some size."""

    width: int
    height: int
    tiles: tuple[Tile, ...]
    """All tiles, those of the columns last."""
    columns: tuple[ColumnTiles, ...]
    labels: tuple[PileLabel, ...]
    _view: View
    _strips: tuple[tuple[int, int, int, int, Spot], ...]
    """Rectangles of a pile without a card, such as labels and the cells below a column.

    Each is left, right (exclusive), top, bottom (exclusive) and the pile.
    """

    def at(self, x: int, y: int) -> Spot | None:
        """Return the pile and card at a cell; `None` for a cell without either."""
        for tile in self.tiles:
            if tile.covers(x, y):
                return tile.spot
        for left, right, top, bottom, spot in self._strips:
            if left <= x < right and top <= y < bottom:
                return spot
        return None

    def tile(self, spot: Spot) -> Tile | None:
        """Return the tile of a spot."""
        return next((tile for tile in self.tiles if tile.spot == spot), None)

    def cards_from(self, spot: Spot) -> tuple[Card, ...]:
        """Return the cards that a drag lifts: in a column, the card and all after it; else the top one.

        Return no cards for a spot without a card.
        """
        pile = pile_cards(self._view, spot.pile)
        if spot.index is None or spot.index < 0:
            return ()
        return pile[spot.index :] if spot.pile in COLUMN_INDEX else pile[-1:]

    def count_from(self, spot: Spot) -> int:
        """Return the number of cards from that card to the top of its column.

        For other piles and for spots without a card: 1, or 0 if the pile is empty.
        """
        held = len(pile_cards(self._view, spot.pile))
        if spot.index is None or spot.pile not in COLUMN_INDEX:
            return min(1, held)
        return held - spot.index


def lay_out(
    game: Game, view: View, width: int, height: int, picked: tuple[str, int] | None = None
) -> BoardLayout:
    """Return the layout of a view on a board of `width` times `height` cells.

    `picked` is a pile and the number of its selected cards; the first of them stays visible.
    """
    arranged = pile_layout(game, width, height)
    others: list[Tile] = []
    columns: list[ColumnTiles] = []
    for area in arranged.areas:
        if area.pile in COLUMN_INDEX:
            lifted = picked[1] if picked and picked[0] == area.pile else 0
            at = COLUMN_INDEX[area.pile]
            below = len(view.face_down[at]) if view.face_down else 0
            columns.append(_column(game, view.columns[at], below, area, lifted))
        else:
            others += _tiles(view, area)
    _lay_cards_over_spaces(others)
    return BoardLayout(
        width=width,
        height=height,
        tiles=(*others, *chain.from_iterable(column.tiles for column in columns)),
        columns=tuple(columns),
        labels=arranged.labels,
        _view=view,
        _strips=_strips(game, width, height),
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


def _tiles(view: View, area: PileArea) -> Iterator[Tile]:
    """Return the tiles of a pile that is not a column."""
    cards = pile_cards(view, area.pile, area.copy)
    top = len(cards) - 1
    if not cards:
        yield _tile(area, TileKind.SPACE, count=0)
    elif area.pile == STOCK:
        yield _tile(area, TileKind.BACK, count=len(cards))
    elif area.pile == RESERVE and top:
        yield _tile(area, TileKind.BACK, count=top, height=1)
        yield _tile(area, TileKind.CARD, index=top, card=cards[top], y=area.y + 1)
    else:
        first = max(0, len(cards) - area.fanned)
        for index in range(first, len(cards)):
            yield _tile(
                area,
                TileKind.CARD,
                index=index,
                card=cards[index],
                x=area.x + (index - first) * FAN,
                width=area.seen if index == top else FAN,
            )


@lru_cache(maxsize=1 << 9)
def _column(
    game: Game, column: tuple[Card, ...], below: int, area: PileArea, lifted: int
) -> ColumnTiles:
    """Return the tiles of a column with `below` face-down cards under its face-up ones."""
    if not column:
        return ColumnTiles((_tile(area, TileKind.SPACE, count=0),))
    count, height = len(column), area.size.height
    least = 2 if 2 <= height <= area.rows else 1
    backs = below if below + count + least - 1 <= area.rows else min(below, 1)
    last = min(height, max(least, area.rows - backs - count + 1))
    run = max(game.columns.packet.sizes(column, game.columns.build), default=1)
    anchors = (count - run, 0, count - lifted)
    tiles: list[Tile] = []
    for y, shown in enumerate(column_rows(count, area.rows - last + 1, anchors, below), area.y):
        kind = TileKind.CARD if shown.count == 1 else TileKind.GAP
        if shown.first < 0:
            kind = TileKind.BACK
        tiles.append(
            _tile(
                area,
                kind,
                index=shown.first,
                card=column[shown.first] if kind is TileKind.CARD else None,
                count=shown.count,
                y=y,
                height=last if shown == ColumnRow(count - 1) else 1,
            )
        )
    return ColumnTiles(tuple(tiles))


def _tile(
    area: PileArea,
    kind: TileKind,
    *,
    x: int | None = None,
    y: int | None = None,
    width: int | None = None,
    height: int | None = None,
    count: int = 1,
    index: int | None = None,
    card: Card | None = None,
) -> Tile:
    """Return a tile of a pile; where nothing is given, it has the place of the area's first card."""
    return Tile(
        kind=kind,
        pile=area.pile,
        copy=area.copy,
        index=index,
        card=card,
        count=count,
        x=area.x if x is None else x,
        y=area.y if y is None else y,
        width=width or area.seen,
        height=height or min(area.rows, area.size.height),
        size=area.size,
    )


@lru_cache(maxsize=1 << 4)
def _strips(game: Game, width: int, height: int) -> tuple[tuple[int, int, int, int, Spot], ...]:
    """Return the rectangles of piles and labels on a board of `width` by `height` cells."""
    arranged = pile_layout(game, width, height)
    areas = ((a.x, a.x + a.seen, a.y, a.y + a.rows, Spot(a.pile)) for a in arranged.areas)
    labels = (
        (label.x, label.x + label.width, label.y, label.y + 1, Spot(label.piles[0]))
        for label in arranged.labels
        if len(label.piles) == 1
    )
    return (*areas, *labels)
