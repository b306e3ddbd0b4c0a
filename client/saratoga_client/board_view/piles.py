"""The areas of a game's piles on a board of a given size, independent of the cards.

Stock, waste and foundations are above, reserve and columns below. In a game with few columns the
columns are below the foundations, and two foundations of a suit are one above the other. In a game
with many columns, which has no reserve, all foundations are in one row. The tallest usual column
limits the card size.
"""

from collections.abc import Iterator
from functools import lru_cache
from typing import Final, NamedTuple

from saratoga_client.board_view.faces import Size
from saratoga_client.input.move_text import STOCK, has_pile
from saratoga_rules.game import Game
from saratoga_rules.moves import COLUMN_NAMES, DOWN, RESERVE, UP, WASTE

SUIT_ORDER: Final = "SHCD"
"""The order of suits from left to right; neighbours differ in colour."""

FEW_COLUMNS: Final = 6
"""Maximum number of columns for a layout with the columns beside the reserve."""

TALL: Final = {1: 12, 2: 15}
"""The number of cards of a column that must all be visible, by number of packs.

In 97 % of 1,500 games of random play no column was taller, with face-down cards counted as one."""

SIZES: Final = (
    Size(9, 6),
    Size(8, 5),
    Size(7, 4),
    Size(6, 4),
    Size(6, 3),
    Size(5, 3),
    Size(5, 2),
)
STRIPS: Final = (Size(4, 1), Size(3, 1))
"""Sizes in cells of one-row cards, for the columns of the smallest boards."""
SMALL: Final = Size(5, 2)
"""Card size in cells of the piles above the columns, when the columns have one-row cards."""

FAN: Final = 4
"""Number of visible cells of a card that another card covers from the right."""
MOST_FANNED: Final = 5


class PileArea(NamedTuple):
    """The area of one pile."""

    pile: str
    x: int
    y: int
    size: Size
    """The size of one card in cells."""
    seen: int
    """Visible width in cells; less than a card's width if another pile overlaps."""
    rows: int
    """Number of screen rows for the pile."""
    fanned: int = 1
    """Maximum number of cards side by side; the top card is at the right."""
    copy: int = 0
    """0 or 1: the index among two foundations of one name."""


class PileLabel(NamedTuple):
    """The area of a label with the key and the name of one or several piles."""

    piles: tuple[str, ...]
    x: int
    y: int
    width: int = 0
    """The width in cells; 0 while it reaches to the next label."""
    centred: bool = False


class PileLayout(NamedTuple):
    """The areas and labels of all piles of a game."""

    areas: list[PileArea]
    labels: list[PileLabel]
    width: int
    """Number of screen columns that the piles take."""
    room: int
    """Number of screen rows for the columns of cards."""


class _Form(NamedTuple):
    """A combination of card sizes to try for a game and a board."""

    game: Game
    width: int
    height: int
    above: Size
    below: Size
    airy: bool

    @property
    def margin(self) -> int:
        return 1 if self.width >= 50 else 0


@lru_cache(maxsize=1 << 8)
def pile_layout(game: Game, width: int, height: int) -> PileLayout:
    """Return the layout with the largest cards that fit; if none fit, with the smallest."""
    # Small cards close together are better than even smaller cards.
    airs = {size: (True,) if size.height > 3 else (True, False) for size in SIZES}
    sizes = [(size, size, airy) for size in SIZES for airy in airs[size]]
    sizes += [(SMALL, strip, False) for strip in STRIPS]
    for above, below, airy in sizes:
        form = _Form(game, width, height, above, below, airy)
        few = game.columns.count <= FEW_COLUMNS
        arranged = _in_two_parts(form) if few else _in_rows(form)
        # The last card of a long column shows two rows, or one if it has only one.
        enough = arranged.room - min(2, below.height) + 1 >= TALL[game.packs]
        if arranged.width <= width and enough:
            break
    for at, label in enumerate(arranged.labels):
        if not label.width:
            after = [o.x - 1 for o in arranged.labels if o.y == label.y and o.x > label.x]
            arranged.labels[at] = label._replace(width=min([*after, width]) - label.x)
    return arranged


def _area(pile: str, x: int, y: int, size: Size) -> PileArea:
    return PileArea(pile, x, y, size, size.width, size.height)


def _in_two_parts(form: _Form) -> PileLayout:
    """Put stock, waste and reserve at the left, and foundations above columns at the right."""
    wide, high = form.above
    count, down = form.game.columns.count, form.game.down
    gap = 3 if form.airy and form.width >= 60 else 2
    signs = 2 if down else 0
    fanned = max(2, form.game.stock.draw)
    packet = wide + FAN * (fanned - 1)
    free = form.width - 2 * form.margin - wide - packet - 2 * gap - signs - count * wide
    between = max(1, min(4, free // (count - 1)))
    spare = max(0, free - between * (count - 1))
    if form.game.stock.draw == 1:
        more = min(spare // FAN, MOST_FANNED - fanned)
        fanned, packet, spare = fanned + more, packet + FAN * more, spare - FAN * more
    first = form.margin + spare // 2
    left = first + wide + gap
    right = left + packet + gap + signs
    places = [right + index * (wide + between) for index in range(count)]

    seen = high if form.airy else min(2, high)
    lower = 1 + (seen if down else 0) + high + form.airy
    room = form.height - lower - 1
    ups, downs = (tuple(f"{kind}.{suit}" for suit in SUIT_ORDER) for kind in (UP, DOWN))
    areas = [_area(STOCK, first, 1, form.above)]
    areas += [_area(WASTE, left, 1, form.above)._replace(fanned=fanned)]
    areas += [_area(pile, x, 1, form.above) for pile, x in zip(ups, places, strict=True)]
    labels = [PileLabel((STOCK,), first, 0), PileLabel((WASTE,), left, 0)]
    if down:
        areas[2:] = [area._replace(rows=seen) for area in areas[2:]]
        areas += [
            _area(pile, x, 1 + seen, form.above) for pile, x in zip(downs, places, strict=True)
        ]
        labels += [PileLabel(ups, right - 2, 1, 1), PileLabel(downs, right - 2, 1 + seen, 1)]
    labels.append(PileLabel((*ups, *downs) if down else ups, right, 0))
    if has_pile(form.game, RESERVE):
        areas.append(_area(RESERVE, first, lower + 1, form.below)._replace(rows=room))
        labels.append(PileLabel((RESERVE,), first, lower))
    _add_columns(areas, labels, places, lower, room, form.below)
    return PileLayout(areas, labels, places[-1] + wide - spare // 2, room)


def _add_columns(
    areas: list[PileArea],
    labels: list[PileLabel],
    places: list[int],
    y: int,
    room: int,
    size: Size,
) -> None:
    """Add the columns with their labels above them, in row `y`."""
    for name, x in zip(COLUMN_NAMES, places, strict=False):
        areas.append(_area(name, x, y + 1, size)._replace(rows=room))
        labels.append(PileLabel((name,), x, y, size.width, centred=True))


def _in_rows(form: _Form) -> PileLayout:
    """Put stock, waste and foundations in one row above the columns."""
    game, (wide, high) = form.game, form.above
    places = _row_of_columns(form)
    right = form.width - form.margin
    end = min(places[-1] + form.below.width, right)
    gap = 2 if form.airy else 1
    # In a game with one foundation for each suit, each pile lies above a column.
    is_aligned = game.down is None and game.up.for_each_suit == 1 and form.above == form.below
    if is_aligned:
        gap = places[1] - places[0] - wide
    foundations = list(_foundations(form, gap, is_aligned))
    needed = foundations[-1].x + wide
    areas = [_area(STOCK, form.margin, 1, form.above)]
    labels = [PileLabel((STOCK,), form.margin, 0)]
    x = form.margin + wide + gap
    missing = 0
    if has_pile(game, WASTE):
        packet = FAN * (game.stock.draw - 1)
        spare = right - x - wide - gap - 1 - needed
        if is_aligned and spare > packet:
            # Only a packet that is drawn together may push the foundations to the right.
            spare = max(packet, spare - (right - end))
        fanned = 1 + max(0, min(spare // FAN, MOST_FANNED - 1))
        missing = max(0, packet - spare)
        areas.append(_area(WASTE, x, 1, form.above)._replace(fanned=fanned))
        labels.append(PileLabel((WASTE,), x, 0))
        x += wide + FAN * (fanned - 1) + gap
    x = max(x + 1, end - needed)
    areas += [area._replace(x=x + area.x) for area in foundations]
    for kind in (UP, DOWN) if game.down else (UP,):
        piles = tuple(f"{kind}.{suit}" for suit in SUIT_ORDER)
        labels.append(PileLabel(piles, next(a.x for a in areas if a.pile == piles[0]), 0))
    lower = 1 + high + form.airy
    room = form.height - lower - 1
    _add_columns(areas, labels, places, lower, room, form.below)
    width = max(places[-1] + form.below.width + form.margin, x + needed) + missing
    return PileLayout(areas, labels, width, room)


def _row_of_columns(form: _Form) -> list[int]:
    """Return the left edges of the columns, from the right in groups of four if the board is wide enough."""
    count, wide = form.game.columns.count, form.below.width
    free = form.width - 2 * form.margin - count * wide
    # A smaller group needs the space after it more than the columns need space between them.
    gap = max(1, min(3, (free - (2 if count % 4 else 0)) // (count - 1)))
    groups = max(0, min(2, (free - gap * (count - 1)) // max(1, (count - 1) // 4)))
    return [
        form.margin + index * (wide + gap) + (index + -count % 4) // 4 * groups
        for index in range(count)
    ]


def _foundations(form: _Form, gap: int, is_aligned: bool) -> Iterator[PileArea]:
    """Yield the foundations in one row from cell 0; two foundations of one suit overlap.

    Above one-row cards, neighbouring foundations share a border.
    """
    wide, shares_border = form.above.width, form.below.height == 1
    between = gap if is_aligned else int(not shares_border)
    x = 0
    for kind in filter(None, (form.game.up, form.game.down)):
        for suit in SUIT_ORDER:
            for copy in range(kind.for_each_suit):
                is_last = copy == kind.for_each_suit - 1
                is_whole = is_last and (not shares_border or suit == SUIT_ORDER[-1])
                area = _area(f"{kind.direction}.{suit}", x, 1, form.above)
                yield area._replace(copy=copy, seen=wide if is_whole else FAN)
                x += wide if is_whole else FAN
            x += between
        x += gap + 1 - between
