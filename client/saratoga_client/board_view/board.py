"""Draw a view of a game on a canvas: cards, keys, the selection and its targets."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final, NamedTuple

from saratoga_client.board_view.canvas import Canvas
from saratoga_client.board_view.card_faces import (
    CardState,
    CardStyle,
    Rows,
    space_face,
)
from saratoga_client.board_view.column_picture import column_picture, put_tile, tile_face
from saratoga_client.board_view.layout import (
    BoardLayout,
    ColumnTiles,
    PileLabel,
    Tile,
    TileKind,
)
from saratoga_client.board_view.roles import Role
from saratoga_client.board_view.title import rank_sign
from saratoga_client.input.find import cards_matching
from saratoga_rules.cards import SUITS, Card, card_of
from saratoga_rules.game import Game
from saratoga_rules.moves import COLUMN_INDEX, DOWN, RESERVE, UP, WASTE
from saratoga_rules.piles import Pile
from saratoga_rules.position import View
from saratoga_rules.vocabulary.foundations import First, wanted_down, wanted_up

NO_LABELS: Final[Mapping[str, str]] = MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class Marks:
    """The highlights of a board.

    The names of piles are those of `Spot.pile`. Here `up` and `down` mean the foundation of that
    direction that accepts the selected card.
    """

    picked: tuple[str, int] | None = None
    """The pile with selected cards, and their number; `None` without selected cards."""
    targets: frozenset[str] = frozenset()
    """Piles that accept the selected cards."""
    source_lit: frozenset[str] = frozenset()
    """Piles from which cards can be moved."""
    find: str = ""
    """The cards to highlight: a rank, a suit or both, as `cards_matching` reads them."""
    labels: Mapping[str, str] = field(default_factory=lambda: NO_LABELS)
    """The key of every pile, by pile name: `stock`, `w`, `r`, `t1`, .., `up`, `down`."""


NO_MARKS: Final = Marks()


class _LabelText(NamedTuple):
    """The key of a pile, its names from the longest to the shortest, and the role of the key."""

    key: str
    names: tuple[str, ...]
    role: Role


def draw_board(
    game: Game, view: View, marks: Marks, style: CardStyle, layout: BoardLayout
) -> Canvas:
    """Draw a view by its layout."""
    drawing = _Drawing(game, view, marks, style, layout)
    canvas = Canvas(layout.width, layout.height)
    for column in layout.columns:
        first = column.tiles[0]
        # the picture of a column of one-row cards begins with a cell for marks
        canvas.paste(drawing.column(column), first.x - (first.size.height == 1), first.y)
    for label in layout.labels:
        _put_label(canvas, label, drawing.label_text(label))
    for tile in layout.tiles:
        if tile.pile not in COLUMN_INDEX:
            put_tile(canvas, tile, drawing.face(tile))
    return canvas


def _put_label(canvas: Canvas, label: PileLabel, text: _LabelText) -> None:
    """Write the key and the longest name of a pile for which there is room."""
    key, names, role = text
    if role is Role.KEY_TARGET and key and label.width >= len(key) + 2:
        key = f"[{key}]"
    if label.centred:
        blank = label.width - len(key)
        canvas.put(label.x + (blank + 1) // 2, label.y, key, role)
        return
    for name in names:
        after = f" {name}" if key and name else name
        if len(key) + len(after) <= label.width:
            canvas.put(canvas.put(label.x, label.y, key, role), label.y, after, Role.LABEL)
            return
    canvas.put(label.x, label.y, key[: label.width], role)


@dataclass(slots=True)
class _Drawing:
    """The drawing of one view."""

    game: Game
    view: View
    marks: Marks
    style: CardStyle
    layout: BoardLayout
    lit: frozenset[tuple[str, int]] = field(init=False)
    """The piles that accept the selected cards, each with its number among equal foundations."""

    def __post_init__(self) -> None:
        self.lit = frozenset(self._lit())

    def column(self, column: ColumnTiles) -> Canvas:
        """Return the picture of a column."""
        first = column.tiles[0]
        pile = first.pile
        picked = self.marks.picked
        return column_picture(
            column,
            picked[1] if picked is not None and picked[0] == pile else 0,
            (pile, 0) in self.lit,
            self.marks.find,
            self._space_words(first) if first.kind is TileKind.SPACE else "",
            self.style,
        )

    def face(self, tile: Tile) -> Rows:
        """Return the face of a tile of a pile that is not a column."""
        if tile.kind is TileKind.SPACE:
            lit = (tile.pile, tile.copy) in self.lit
            return space_face(self._space_words(tile), tile.size, self.style, lit)
        return tile_face(tile, self.style, self._state(tile))

    def label_text(self, label: PileLabel) -> _LabelText:
        """Return the text of a pile's label."""
        return _LabelText(self._key(label), self._names(label), self._key_role(label))

    def _state(self, tile: Tile) -> CardState:
        if self._is_picked(tile):
            return CardState.PICKED
        if (tile.pile, tile.copy) in self.lit and self._is_top(tile):
            return CardState.TARGET
        if tile.card in cards_matching(self.marks.find):
            return CardState.FOUND
        return CardState.PLAIN

    def _is_picked(self, tile: Tile) -> bool:
        if self.marks.picked is None or self.marks.picked[0] != tile.pile:
            return False
        # A card is taken back from the first of equal foundations.
        return self._is_top(tile) and not tile.copy

    def _is_top(self, tile: Tile) -> bool:
        return tile.pile != WASTE or tile.index == len(self.view.waste) - 1

    def _lit(self) -> set[tuple[str, int]]:
        lit: set[tuple[str, int]] = set()
        card = self._picked_card()
        for target in self.marks.targets:
            direction, _, suit = target.partition(".")
            if direction not in (UP, DOWN):
                lit.add((target, 0))
            elif card is not None:
                lit |= self._lit_by(card, direction)
            else:
                copies = len(self.view.up if direction == UP else self.view.down) // len(SUITS)
                lit |= {(f"{direction}.{s}", n) for s in suit or SUITS for n in range(copies)}
        return lit

    def _lit_by(self, card: Card, direction: str) -> set[tuple[str, int]]:
        view = self.view
        heights = view.up if direction == UP else view.down
        wanted = wanted_up(heights, view.base) if direction == UP else wanted_down(heights)
        if card not in wanted:
            return set()
        copies = len(heights) // len(SUITS)
        return {(f"{direction}.{card[1]}", wanted[card] % copies)}

    def _picked_card(self) -> Card | None:
        if self.marks.picked is None:
            return None
        pile, count = self.marks.picked
        cards: tuple[Card, ...] = ()
        if pile in COLUMN_INDEX:
            cards = self.view.columns[COLUMN_INDEX[pile]]
        elif pile == WASTE:
            cards = self.view.waste
        elif pile == RESERVE:
            cards = self.view.reserve
        return cards[-count] if 0 < count <= len(cards) else None

    def _space_words(self, tile: Tile) -> str:
        if tile.pile == "stock":
            redeal = len(self.view.waste) and self.view.passes < self.game.stock.passes
            if redeal:
                return "@" if self.style.ascii else "↻"
            return "end"
        if tile.pile in COLUMN_INDEX:
            return "K" if self._only_kings() else ""
        if tile.pile in (WASTE, RESERVE):
            return ""
        direction, suit = tile.pile.split(".")
        first = self.view.base if direction == UP else 13
        return rank_sign(first) + self.style.suit(suit)

    def _only_kings(self) -> bool:
        admits = self.game.columns.space.admits
        return [r for r in range(1, 14) if admits(Pile.COLUMN, card_of(r, "S"))] == [13]

    def _key(self, label: PileLabel) -> str:
        labels = self.marks.labels
        if len({pile.partition(".")[0] for pile in label.piles}) > 1:
            return ""
        pile = label.piles[0]
        key = labels.get(pile) or labels.get(pile.partition(".")[0], "")
        return key or (pile[1:] if label.centred else "")

    def _key_role(self, label: PileLabel) -> Role:
        piles = {name for pile in label.piles for name in (pile, pile.partition(".")[0])}
        if any(pile in label.piles for pile, _ in self.lit):
            return Role.KEY_TARGET
        if piles & self.marks.source_lit:
            return Role.KEY_LIT
        return Role.KEY

    def _names(self, label: PileLabel) -> tuple[str, ...]:
        pile = label.piles[0]
        if label.centred:
            return ("",)
        if pile == "stock":
            return ("stock", "")
        if pile == WASTE:
            count = len(self.view.waste)
            return (f"waste {count}" if count else "waste", "waste", f"{count}", "")
        if pile == RESERVE:
            return (f"reserve {len(self.view.reserve)}", f"{len(self.view.reserve)}", "")
        if len(label.piles) > len(SUITS):
            return (self._both(), "")
        return (*self._direction(pile.partition(".")[0]), "")

    def _direction(self, direction: str) -> tuple[str, ...]:
        if direction == DOWN:
            return ("down from K", "down")
        first = rank_sign(self.view.base)
        corner = self.game.up.first is First.BASE_CARD
        words = f"up from {first}"
        return (f"{words}, around the corner", words, "up") if corner else (words, "up")

    def _both(self) -> str:
        return f"up from {rank_sign(self.view.base)}, down from K"
