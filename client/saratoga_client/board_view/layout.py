"""Where every card of a view is drawn, and what lies under a cell.

Drawing and clicking agree, since both go by the same places.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import pairwise

from saratoga_client.board_view.card_faces import Size
from saratoga_client.board_view.elision import Run, rows_of
from saratoga_client.board_view.pile_layout import FAN, STOCK, Arrangement, Sign, Site, arrangement
from saratoga_rules.cards import HIDDEN, SUITS, Card, card_of
from saratoga_rules.game import Game
from saratoga_rules.moves import COLUMN_INDEX, RESERVE, WASTE
from saratoga_rules.views import View
from saratoga_rules.vocabulary.foundations import rank_at

__all__ = ["Kind", "Layout", "Place", "Sign", "Spot", "lay_out"]


@dataclass(frozen=True, slots=True)
class Spot:
    """What a cell of the board belongs to."""

    pile: str
    """As moves name it, but `stock`, `up.S`, `down.S`: both foundations of a suit have one name."""
    index: int | None = None
    """The card's index from the bottom of its pile; `None` where no card is named, such as on the
    stock, in a space, or below the last card of a column."""


class Kind(StrEnum):
    """What is drawn in a place."""

    CARD = "card"
    BACK = "back"
    """A pile face down; `count` cards of it are hidden."""
    GAP = "gap"
    """A row that counts cards of a column for which there is no room."""
    SPACE = "space"
    """A pile without cards."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """One thing that is drawn, and the cells of it that nothing covers."""

    kind: Kind
    pile: str
    copy: int = 0
    """Which of two foundations of a suit that have one name."""
    index: int | None = None
    """The card's index from the bottom of its pile; the first one's where `count` are counted."""
    card: Card | None = None
    count: int = 1
    x: int
    y: int
    width: int
    height: int
    size: Size
    """Of the whole card."""
    cut: int = 0
    """Columns of the card that another covers at its left."""

    @property
    def spot(self) -> Spot:
        return Spot(self.pile, self.index)

    def covers(self, x: int, y: int) -> bool:
        return self.x <= x < self.x + self.width and self.y <= y < self.y + self.height


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """A view laid out."""

    width: int
    height: int
    places: tuple[Place, ...]
    signs: tuple[Sign, ...]
    _strips: tuple[tuple[int, int, int, int, Spot], ...]
    """Left, right (not in it), top, bottom and pile of what belongs to a pile though no card is
    there: the rest of a column, the keys."""
    _piles: Mapping[str, tuple[Card, ...]]
    """What lies on every pile; of a suit's foundations only the first."""

    def at(self, x: int, y: int) -> Spot | None:
        """What the cell belongs to; `None` for the bare table."""
        for place in self.places:
            if place.covers(x, y):
                return place.spot
        for left, right, top, bottom, spot in self._strips:
            if left <= x < right and top <= y < bottom:
                return spot
        return None

    def place(self, spot: Spot) -> Place | None:
        """Where the card of a spot is drawn, or counted."""
        return next((place for place in self.places if place.spot == spot), None)

    def cards_from(self, spot: Spot) -> tuple[Card, ...]:
        """What is lifted with that card: of a column it and all that lie on it, else the top card."""
        pile = self._piles.get(spot.pile, ())
        if spot.index is None:
            return ()
        return pile[spot.index :] if spot.pile in COLUMN_INDEX else pile[-1:]

    def count_from(self, spot: Spot) -> int:
        """Cards from that card to the top of its column.

        Of other piles, and where no card is named, it is the top card, if there is one: 1 or 0.
        """
        held = len(self._piles.get(spot.pile, ()))
        if spot.index is None or spot.pile not in COLUMN_INDEX:
            return min(1, held)
        return held - spot.index


def lay_out(
    game: Game, view: View, width: int, height: int, picked: tuple[str, int] | None = None
) -> Layout:
    """Lay a view out on so many cells.

    `picked` is a pile and how many of its cards are in hand, so that none of them goes out of
    sight uncounted.
    """
    arranged = arrangement(game, width, height)
    places: list[Place] = []
    for site in arranged.sites:
        places += _places(game, view, site, picked)
    _lay_cards_over_spaces(places)
    return Layout(
        width=width,
        height=height,
        places=tuple(places),
        signs=arranged.signs,
        _strips=tuple(_strips(arranged)),
        _piles=_piles(view),
    )


def _lay_cards_over_spaces(places: list[Place]) -> None:
    """Where a space would cover a line of the card to its left, the card covers the space."""
    for at, (left, right) in enumerate(pairwise(places)):
        overlap = left.x + left.size.width - right.x
        beside = left.y == right.y and left.x < right.x
        if left.kind is Kind.CARD and right.kind is Kind.SPACE and beside and overlap > 0:
            places[at] = replace(left, width=left.width + overlap)
            width = right.width - overlap
            # only its left line is covered, so that its word is seen
            size = Size(width + 1, right.size.height)
            places[at + 1] = replace(right, x=right.x + overlap, width=width, size=size, cut=1)


def _places(game: Game, view: View, site: Site, picked: tuple[str, int] | None) -> Iterator[Place]:
    if site.pile in COLUMN_INDEX:
        lifted = picked[1] if picked and picked[0] == site.pile else 0
        yield from _column(game, view.columns[COLUMN_INDEX[site.pile]], site, lifted)
    elif site.pile == STOCK:
        kind = Kind.BACK if view.stock else Kind.SPACE
        yield _whole(site, kind, count=len(view.stock))
    elif site.pile == WASTE:
        yield from _waste(view, site)
    elif site.pile == RESERVE:
        yield from _reserve(view, site)
    else:
        yield _foundation(view, site)


def _column(game: Game, column: tuple[Card, ...], site: Site, lifted: int) -> Iterator[Place]:
    if not column:
        yield _whole(site, Kind.SPACE, count=0)
        return
    count = len(column)
    last = min(site.size.height, max(1, site.rows - count + 1))
    if last < 2 <= site.size.height <= site.rows:
        last = 2
    run = max(game.columns.packets(column), default=1)
    anchors = (count - run, 0, count - lifted)
    y = site.y
    for shown in rows_of(count, site.rows - last + 1, anchors):
        top = shown == Run(count - 1)
        height = last if top else 1
        yield Place(
            kind=Kind.CARD if shown.count == 1 else Kind.GAP,
            pile=site.pile,
            index=shown.first,
            card=column[shown.first] if shown.count == 1 else None,
            count=shown.count,
            x=site.x,
            y=y,
            width=site.size.width,
            height=height,
            size=site.size,
        )
        y += height


def _waste(view: View, site: Site) -> Iterator[Place]:
    if not view.waste:
        yield _whole(site, Kind.SPACE, count=0)
        return
    first = max(0, len(view.waste) - site.fanned)
    for index in range(first, len(view.waste)):
        top = index == len(view.waste) - 1
        yield Place(
            kind=Kind.CARD,
            pile=WASTE,
            index=index,
            card=view.waste[index],
            x=site.x + (index - first) * FAN,
            y=site.y,
            width=site.size.width if top else FAN,
            height=site.size.height,
            size=site.size,
        )


def _reserve(view: View, site: Site) -> Iterator[Place]:
    count = len(view.reserve)
    if not count:
        yield _whole(site, Kind.SPACE, count=0)
        return
    down = 1 if count > 1 else 0
    if down:
        yield Place(
            kind=Kind.BACK,
            pile=RESERVE,
            count=count - 1,
            x=site.x,
            y=site.y,
            width=site.size.width,
            height=1,
            size=site.size,
        )
    yield Place(
        kind=Kind.CARD,
        pile=RESERVE,
        index=count - 1,
        card=view.reserve[-1],
        x=site.x,
        y=site.y + down,
        width=site.size.width,
        height=site.size.height,
        size=site.size,
    )


def _foundation(view: View, site: Site) -> Place:
    direction, suit = site.pile.split(".")
    heights = view.up if direction == "up" else view.down
    copies = len(heights) // len(SUITS)
    height = heights[SUITS.index(suit) * copies + site.copy]
    if not height:
        return _whole(site, Kind.SPACE, count=0)
    card = _on_foundation(view, direction, suit, height)
    return _whole(site, Kind.CARD, index=height - 1, card=card)


def _whole(
    site: Site, kind: Kind, *, count: int = 1, index: int | None = None, card: Card | None = None
) -> Place:
    return Place(
        kind=kind,
        pile=site.pile,
        copy=site.copy,
        index=index,
        card=card,
        count=count,
        x=site.x,
        y=site.y,
        width=site.seen,
        height=min(site.rows, site.size.height),
        size=site.size,
    )


def _strips(arranged: Arrangement) -> Iterator[tuple[int, int, int, int, Spot]]:
    for site in arranged.sites:
        yield (site.x, site.x + site.seen, site.y, site.y + site.rows, Spot(site.pile))
    for sign in arranged.signs:
        if len(sign.piles) == 1:
            yield (sign.x, sign.x + sign.width, sign.y, sign.y + 1, Spot(sign.piles[0]))


def _piles(view: View) -> Mapping[str, tuple[Card, ...]]:
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
