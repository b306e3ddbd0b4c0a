"""The tiles of a view: the cells of each card, and the pile of each cell.

Drawing and clicking use the same tiles, so they always agree.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import lru_cache
from itertools import chain, pairwise

from saratoga_client.board_view.card_faces import Size
from saratoga_client.board_view.elision import ColumnRow, column_rows
from saratoga_client.board_view.pile_layout import (
    FAN,
    STOCK,
    PileArea,
    PileLabel,
    PileLayout,
    pile_layout,
)
from saratoga_rules.cards import HIDDEN, SUITS, Card, card_of
from saratoga_rules.game import Game
from saratoga_rules.moves import COLUMN_INDEX, RESERVE, WASTE
from saratoga_rules.position import View
from saratoga_rules.vocabulary.foundations import rank_at

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
        pile = _piles(self._view).get(spot.pile, ())
        if spot.index is None or spot.index < 0:
            return ()
        return pile[spot.index :] if spot.pile in COLUMN_INDEX else pile[-1:]

    def count_from(self, spot: Spot) -> int:
        """Return the number of cards from that card to the top of its column.

        For other piles and for spots without a card: 1, or 0 if the pile is empty.
        """
        held = len(_piles(self._view).get(spot.pile, ()))
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
    if area.pile == STOCK:
        kind = TileKind.BACK if view.stock else TileKind.SPACE
        yield _whole(area, kind, count=len(view.stock))
    elif area.pile == WASTE:
        yield from _waste(view, area)
    elif area.pile == RESERVE:
        yield from _reserve(view, area)
    else:
        yield _foundation(view, area)


@lru_cache(maxsize=1 << 9)
def _column(
    game: Game, column: tuple[Card, ...], below: int, area: PileArea, lifted: int
) -> ColumnTiles:
    """Return the tiles of a column with `below` face-down cards under its face-up ones."""
    if not column:
        return ColumnTiles((_whole(area, TileKind.SPACE, count=0),))
    count, height = len(column), area.size.height
    least = 2 if 2 <= height <= area.rows else 1
    backs = below if below + count + least - 1 <= area.rows else min(below, 1)
    last = min(height, max(least, area.rows - backs - count + 1))
    run = max(game.columns.packet.sizes(column, game.columns.build), default=1)
    anchors = (count - run, 0, count - lifted)
    tiles: list[Tile] = []
    y = area.y
    for shown in column_rows(count, area.rows - last + 1, anchors, below):
        rows = last if shown == ColumnRow(count - 1) else 1
        kind = _kind(shown)
        tiles.append(
            Tile(
                kind=kind,
                pile=area.pile,
                index=shown.first,
                card=column[shown.first] if kind is TileKind.CARD else None,
                count=shown.count,
                x=area.x,
                y=y,
                width=area.size.width,
                height=rows,
                size=area.size,
            )
        )
        y += rows
    return ColumnTiles(tuple(tiles))


def _kind(row: ColumnRow) -> TileKind:
    if row.first < 0:
        return TileKind.BACK
    return TileKind.CARD if row.count == 1 else TileKind.GAP


def _waste(view: View, area: PileArea) -> Iterator[Tile]:
    if not view.waste:
        yield _whole(area, TileKind.SPACE, count=0)
        return
    first = max(0, len(view.waste) - area.fanned)
    for index in range(first, len(view.waste)):
        top = index == len(view.waste) - 1
        yield Tile(
            kind=TileKind.CARD,
            pile=WASTE,
            index=index,
            card=view.waste[index],
            x=area.x + (index - first) * FAN,
            y=area.y,
            width=area.size.width if top else FAN,
            height=area.size.height,
            size=area.size,
        )


def _reserve(view: View, area: PileArea) -> Iterator[Tile]:
    count = len(view.reserve)
    if not count:
        yield _whole(area, TileKind.SPACE, count=0)
        return
    down = 1 if count > 1 else 0
    if down:
        yield Tile(
            kind=TileKind.BACK,
            pile=RESERVE,
            count=count - 1,
            x=area.x,
            y=area.y,
            width=area.size.width,
            height=1,
            size=area.size,
        )
    yield Tile(
        kind=TileKind.CARD,
        pile=RESERVE,
        index=count - 1,
        card=view.reserve[-1],
        x=area.x,
        y=area.y + down,
        width=area.size.width,
        height=area.size.height,
        size=area.size,
    )


def _foundation(view: View, area: PileArea) -> Tile:
    direction, suit = area.pile.split(".")
    heights = view.up if direction == "up" else view.down
    copies = len(heights) // len(SUITS)
    height = heights[SUITS.index(suit) * copies + area.copy]
    if not height:
        return _whole(area, TileKind.SPACE, count=0)
    card = _on_foundation(view, direction, suit, height)
    return _whole(area, TileKind.CARD, index=height - 1, card=card)


def _whole(
    area: PileArea,
    kind: TileKind,
    *,
    count: int = 1,
    index: int | None = None,
    card: Card | None = None,
) -> Tile:
    return Tile(
        kind=kind,
        pile=area.pile,
        copy=area.copy,
        index=index,
        card=card,
        count=count,
        x=area.x,
        y=area.y,
        width=area.seen,
        height=min(area.rows, area.size.height),
        size=area.size,
    )


@lru_cache(maxsize=1 << 4)
def _strips(game: Game, width: int, height: int) -> tuple[tuple[int, int, int, int, Spot], ...]:
    """Return the rectangles of piles and labels on a board of `width` by `height` cells.

    Each is left, right (exclusive), top, bottom (exclusive) and the pile, as in `BoardLayout._strips`.
    """
    return tuple(_found_strips(pile_layout(game, width, height)))


def _found_strips(arranged: PileLayout) -> Iterator[tuple[int, int, int, int, Spot]]:
    for area in arranged.areas:
        yield (area.x, area.x + area.seen, area.y, area.y + area.rows, Spot(area.pile))
    for label in arranged.labels:
        if len(label.piles) == 1:
            yield (label.x, label.x + label.width, label.y, label.y + 1, Spot(label.piles[0]))


def _piles(view: View) -> Mapping[str, tuple[Card, ...]]:
    """Return the cards of every pile; of equal foundations only the first is included."""
    piles = {STOCK: view.stock, WASTE: view.waste, RESERVE: view.reserve}
    piles.update(zip(COLUMN_INDEX, view.columns, strict=False))
    for direction, heights in (("up", view.up), ("down", view.down)):
        copies = len(heights) // len(SUITS)
        for at, suit in enumerate(SUITS if copies else ""):
            height = heights[at * copies]
            cards = (HIDDEN,) * (height - 1)
            if height:
                cards += (_on_foundation(view, direction, suit, height),)
            piles[f"{direction}.{suit}"] = cards
    return piles


def _on_foundation(view: View, direction: str, suit: str, height: int) -> Card:
    return card_of(rank_at(view.base, height) if direction == "up" else 14 - height, suit)
