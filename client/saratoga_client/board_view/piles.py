"""The areas of a game's piles on a board of a given size, independent of the cards.

Stock, waste and foundations are above, reserve and columns below. In a game with few columns the
columns are below the foundations, and two foundations of a suit are one above the other. In a game
with many columns all foundations are in one row. The tallest usual column limits the card size.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

from saratoga_client.board_view.faces import Size
from saratoga_client.input.move_text import STOCK, has_pile
from saratoga_rules.game import Game
from saratoga_rules.moves import COLUMN_NAMES, RESERVE, WASTE

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


@dataclass(frozen=True, slots=True, kw_only=True)
class PileArea:
    """The area of one pile."""

    pile: str
    copy: int = 0
    """0 or 1: the index among two foundations of one name."""
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


@dataclass(frozen=True, slots=True, kw_only=True)
class PileLabel:
    """The area of a label with the key and the name of one or several piles."""

    piles: tuple[str, ...]
    x: int
    y: int
    width: int
    centred: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class PileLayout:
    """The areas and labels of all piles of a game."""

    areas: tuple[PileArea, ...]
    labels: tuple[PileLabel, ...]
    width: int
    """Number of screen columns that the piles take."""
    room: int
    """Number of screen rows for the columns of cards."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Form:
    """A combination of card sizes to try for a game and a board."""

    game: Game
    width: int
    height: int
    above: Size
    below: Size
    airy: bool
    tight: bool = False
    """True if neighbouring foundations share a border."""

    @property
    def margin(self) -> int:
        return 1 if self.width >= 50 else 0

    @property
    def aligns_foundations(self) -> bool:
        """True if each pile lies above a column."""
        is_single = self.game.down is None and self.game.up.for_each_suit == 1
        return is_single and not self.tight


def _stretched(labels: list[PileLabel], width: int) -> tuple[PileLabel, ...]:
    """Extend each label up to the next one."""
    stretched = []
    for label in labels:
        others = [other.x - 1 for other in labels if other.y == label.y and other.x > label.x]
        end = min([*others, width])
        fixed = label.centred or label.width == 1
        stretched.append(label if fixed else replace(label, width=end - label.x))
    return tuple(stretched)


@lru_cache(maxsize=1 << 8)
def pile_layout(game: Game, width: int, height: int) -> PileLayout:
    """Return the layout with the largest cards that fit; if none fit, with the smallest."""
    arranged = None
    for form in _forms(game, width, height):
        few = game.columns.count <= FEW_COLUMNS
        arranged = _in_two_parts(form) if few else _in_rows(form)
        # The last card of a long column shows two rows, or one if it has only one.
        enough = arranged.room - min(2, form.below.height) + 1 >= TALL[game.packs]
        if arranged.width <= width and enough:
            return arranged
    assert arranged is not None
    return arranged


def _forms(game: Game, width: int, height: int) -> Iterator[_Form]:
    for size in SIZES:
        # Small cards close together are better than even smaller cards.
        for airy in (True,) if size.height > 3 else (True, False):
            yield _Form(game=game, width=width, height=height, above=size, below=size, airy=airy)
    for strip in STRIPS:
        yield _Form(
            game=game, width=width, height=height, above=SMALL, below=strip, airy=False, tight=True
        )


def _in_two_parts(form: _Form) -> PileLayout:
    """Put stock, waste and reserve at the left, and foundations above columns at the right."""
    wide, high = form.above
    count = form.game.columns.count
    gap = 3 if form.airy and form.width >= 60 else 2
    fanned = max(2, form.game.stock.draw)
    fan = wide + FAN * (fanned - 1)
    left = form.margin + wide + gap
    right = left + fan + gap + (2 if form.game.down else 0)
    between = max(1, min(4, (form.width - form.margin - right - count * wide) // (count - 1)))
    pitch = wide + between
    spare = form.width - form.margin - right - (count * pitch - between)
    if spare >= FAN and form.game.stock.draw == 1:
        more = min(spare // FAN, MOST_FANNED - fanned)
        fanned, right, spare = fanned + more, right + FAN * more, spare - FAN * more
        fan += FAN * more
    shift = max(0, spare) // 2
    left, right, first = left + shift, right + shift, form.margin + shift

    seen = high if form.airy else min(2, high)
    tower = seen + high if form.game.down else high
    lower = 1 + tower + (1 if form.airy else 0)
    room = form.height - lower - 1

    areas = [_site(STOCK, first, 1, form.above), _fan(WASTE, left, 1, form.above, fanned)]
    labels = [
        PileLabel(piles=(STOCK,), x=first, y=0, width=wide + gap - 1),
        PileLabel(piles=(WASTE,), x=left, y=0, width=fan),
    ]
    span = count * pitch - between
    labels += _tower_signs(form, right, span, seen)
    for index, suit in enumerate(SUIT_ORDER):
        x = right + index * pitch
        y = 1
        if form.game.down:
            areas.append(_site(f"up.{suit}", x, y, form.above, rows=seen))
            areas.append(_site(f"down.{suit}", x, y + seen, form.above))
        else:
            areas.append(_site(f"up.{suit}", x, y, form.above))
    if has_pile(form.game, RESERVE):
        areas.append(_site(RESERVE, first, lower + 1, form.below, rows=room))
        labels.append(PileLabel(piles=(RESERVE,), x=first, y=lower, width=right - first - 1))
    for index, name in enumerate(COLUMN_NAMES[:count]):
        x = right + index * pitch
        areas.append(_site(name, x, lower + 1, form.below, rows=room))
        labels.append(PileLabel(piles=(name,), x=x, y=lower, width=wide, centred=True))
    return PileLayout(
        areas=tuple(areas),
        labels=_stretched(labels, form.width),
        width=right - shift + span,
        room=room,
    )


def _tower_signs(form: _Form, right: int, span: int, seen: int) -> list[PileLabel]:
    ups = tuple(f"up.{suit}" for suit in SUIT_ORDER)
    if not form.game.down:
        return [PileLabel(piles=ups, x=right, y=0, width=span)]
    downs = tuple(f"down.{suit}" for suit in SUIT_ORDER)
    return [
        PileLabel(piles=ups, x=right - 2, y=1, width=1),
        PileLabel(piles=downs, x=right - 2, y=1 + seen, width=1),
        PileLabel(piles=(*ups, *downs), x=right, y=0, width=span),
    ]


def _in_rows(form: _Form) -> PileLayout:
    """Put all other piles in one row above the columns."""
    wide, high = form.above
    columns = _row_of_columns(form)
    gap = 2 if form.airy else 1
    if form.aligns_foundations:
        gap = columns[1] - columns[0] - wide
    x = form.margin
    areas = [_site(STOCK, x, 1, form.above)]
    labels = [PileLabel(piles=(STOCK,), x=x, y=0, width=wide + gap - 1)]
    x += wide + gap
    span = columns[-1] + form.below.width
    end = min(span, form.width - form.margin)
    groups = _groups(form, gap)
    needed = sum(group.width(wide) for group in groups) + (len(groups) - 1) * (gap + 1)
    missing = 0
    for pile in (RESERVE, WASTE):
        if not has_pile(form.game, pile):
            continue
        fanned = 1
        if pile == WASTE:
            packet = FAN * (form.game.stock.draw - 1)
            spare = form.width - form.margin - x - wide - gap - 1 - needed
            if form.aligns_foundations and spare > packet:
                # Only a packet that is drawn together may push the foundations to the right.
                spare = max(packet, spare - (form.width - form.margin - end))
            fanned += max(0, min(spare // FAN, MOST_FANNED - 1))
            missing = max(0, packet - spare)
        fan = wide + FAN * (fanned - 1)
        areas.append(_fan(pile, x, 1, form.above, fanned))
        labels.append(PileLabel(piles=(pile,), x=x, y=0, width=fan + gap - 1))
        x += fan + gap
    x = max(x + 1, end - needed)
    for group in groups:
        areas += group.areas(x, form.above)
        labels.append(PileLabel(piles=group.piles, x=x, y=0, width=group.width(wide)))
        x += group.width(wide) + gap + 1
    lower = 1 + high + (1 if form.airy else 0)
    room = form.height - lower - 1
    for name, left in zip(COLUMN_NAMES, columns, strict=False):
        areas.append(_site(name, left, lower + 1, form.below, rows=room))
        labels.append(
            PileLabel(piles=(name,), x=left, y=lower, width=form.below.width, centred=True)
        )
    return PileLayout(
        areas=tuple(areas),
        labels=_stretched(labels, form.width),
        width=max(span + form.margin, x - gap - 1) + missing,
        room=room,
    )


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


def _groups(form: _Form, gap: int) -> list["_Group"]:
    """Return the groups of foundations; other piles lie `gap` cells apart."""
    up, down = form.game.up.for_each_suit, form.game.down
    between = gap if form.aligns_foundations else int(not form.tight)
    groups = [_Group("up", up, between)]
    if down:
        groups.append(_Group("down", down.for_each_suit, between))
    return groups


@dataclass(frozen=True, slots=True)
class _Group:
    """A group of foundations side by side; two foundations of one suit overlap."""

    direction: str
    copies: int
    between: int
    """Empty cells between two suits; if 0, neighbouring foundations share a border."""

    @property
    def piles(self) -> tuple[str, ...]:
        return tuple(f"{self.direction}.{suit}" for suit in SUIT_ORDER)

    def width(self, wide: int) -> int:
        if not self.between:
            return FAN * (len(SUIT_ORDER) * self.copies - 1) + wide
        pair = wide + FAN * (self.copies - 1)
        return len(SUIT_ORDER) * (pair + self.between) - self.between

    def areas(self, x: int, size: Size) -> Iterator[PileArea]:
        for pile in self.piles:
            for copy in range(self.copies):
                covered = copy < self.copies - 1 or (not self.between and pile != self.piles[-1])
                yield PileArea(
                    pile=pile,
                    copy=copy,
                    x=x,
                    y=1,
                    size=size,
                    seen=FAN if covered else size.width,
                    rows=size.height,
                )
                x += FAN if covered else size.width
            x += self.between


def _site(pile: str, x: int, y: int, size: Size, rows: int | None = None) -> PileArea:
    return PileArea(pile=pile, x=x, y=y, size=size, seen=size.width, rows=rows or size.height)


def _fan(pile: str, x: int, y: int, size: Size, fanned: int) -> PileArea:
    return PileArea(
        pile=pile, x=x, y=y, size=size, seen=size.width, rows=size.height, fanned=fanned
    )
