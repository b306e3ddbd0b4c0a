"""Draw a view of a game on a canvas: cards, keys, the selection and its targets, and the rules in short."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Final

from saratoga_client.board_view.canvas import Canvas
from saratoga_client.board_view.faces import (
    CardState,
    CardStyle,
    Rows,
    back_face,
    back_strip,
    card_face,
    gap_face,
    space_face,
)
from saratoga_client.board_view.layout import (
    BoardLayout,
    ColumnTiles,
    PileLabel,
    Tile,
    TileKind,
)
from saratoga_client.board_view.roles import Role
from saratoga_client.input.find import cards_matching
from saratoga_client.input.move_text import STOCK, key_of, pile_cards, rank_sign
from saratoga_client.input.selection import Marks
from saratoga_client.rules_text import column_rules
from saratoga_client.text import wrapped
from saratoga_client.wording import counted
from saratoga_rules.cards import SUITS, card_of
from saratoga_rules.game import Game
from saratoga_rules.moves import COLUMN_INDEX, DOWN, RESERVE, UP, WASTE
from saratoga_rules.piles import Pile
from saratoga_rules.position import View
from saratoga_rules.vocabulary.foundations import First, wanted_down, wanted_up
from saratoga_rules.vocabulary.stocks import UNLIMITED

MARGIN: Final = 1
"""Number of empty cells at both sides of the rules in short."""


def draw_board(
    game: Game, view: View, marks: Marks, style: CardStyle, layout: BoardLayout
) -> Canvas:
    """Draw a view by its layout."""
    canvas = Canvas(layout.width, layout.height)
    lit = frozenset(_lit(view, marks))
    picked_pile, picked_count = marks.picked or ("", 0)
    for column in layout.columns:
        first = column.tiles[0]
        picked = picked_count if picked_pile == first.pile else 0
        space = _space_words(game, view, style, first) if first.kind is TileKind.SPACE else ""
        picture = _column_picture(column, picked, (first.pile, 0) in lit, marks.find, space, style)
        # the picture of a column of one-row cards begins with a cell for marks
        canvas.paste(picture, first.x - (first.size.height == 1), first.y)
    for label in layout.labels:
        _put_label(canvas, label, game, view, marks, lit)
    for tile in layout.tiles:
        if tile.pile in COLUMN_INDEX:
            continue
        is_lit = (tile.pile, tile.copy) in lit
        if tile.kind is TileKind.SPACE:
            rows = space_face(_space_words(game, view, style, tile), tile.size, style, is_lit)
        else:
            is_top = tile.pile != WASTE or tile.index == len(view.waste) - 1
            # A card is taken back from the first of equal foundations.
            picked = picked_pile == tile.pile and is_top and not tile.copy
            rows = _tile_face(tile, style, _state(tile, picked, is_lit and is_top, marks.find))
        _put_tile(canvas, tile, rows)
    return canvas


def _state(tile: Tile, is_picked: bool, is_target: bool, find: str) -> CardState:
    if is_picked:
        return CardState.PICKED
    if is_target:
        return CardState.TARGET
    return CardState.FOUND if tile.card in cards_matching(find) else CardState.PLAIN


# Cards


@lru_cache(maxsize=1 << 9)
def _column_picture(
    column: ColumnTiles, picked: int, is_lit: bool, find: str, space: str, style: CardStyle
) -> Canvas:
    """Draw a column with its `picked` top cards selected; `space` is the word in an empty column.

    Equal arguments give the same cached canvas. One-row cards have a cell for marks at their left.
    """
    tiles = column.tiles
    first, last = tiles[0], tiles[-1]
    margin = int(first.size.height == 1)
    canvas = Canvas(first.width + margin, last.y + last.height - first.y)
    held = 0 if last.index is None else last.index + last.count
    for tile in tiles:
        on_top = 0 if tile.index is None else held - tile.index - tile.count
        is_picked = tile.index is not None and on_top < picked
        state = _state(tile, is_picked, is_lit and not on_top, find)
        if tile.kind is TileKind.SPACE:
            rows = space_face(space, tile.size, style, is_lit)
        else:
            rows = _tile_face(tile, style, state)
        y = tile.y - first.y
        _put_tile(canvas, replace(tile, x=margin, y=y), rows)
        if margin and state in style.symbols.marks:
            role = Role.KEY_LIT if state is CardState.PICKED else Role.KEY_TARGET
            canvas.put(0, y, style.symbols.marks[state], role)
    return canvas


def _tile_face(tile: Tile, style: CardStyle, state: CardState) -> Rows:
    """Return the rows of the whole face of a tile that is not an empty pile."""
    match tile.kind:
        case TileKind.CARD:
            assert tile.card is not None
            return card_face(tile.card, tile.size, style, state, tile.width >= tile.size.width)
        case TileKind.GAP:
            return gap_face(tile.count, tile.size, style, state)
        case _ if tile.pile in COLUMN_INDEX:
            return back_strip(tile.count, tile.size, style)
        case _:
            return back_face(0 if tile.pile == RESERVE else tile.count, tile.size, style)


def _put_tile(canvas: Canvas, tile: Tile, rows: Rows) -> None:
    """Put the visible part of a face on its cells."""
    if 1 < tile.height < len(rows):
        # A shortened card still ends with its bottom line.
        rows = (*rows[: tile.height - 1], rows[-1])
    for y, pieces in enumerate(rows[: tile.height], start=tile.y):
        skipped, x = tile.cut, tile.x
        for text, role in pieces:
            seen = text[skipped : skipped + tile.x + tile.width - x]
            skipped = max(0, skipped - len(text))
            x = canvas.put(x, y, seen, role)


def _lit(view: View, marks: Marks) -> Iterator[tuple[str, int]]:
    """Yield the piles that accept the selected cards, each with its number among equal foundations."""
    pile, count = marks.picked or ("", 0)
    cards = () if pile.partition(".")[0] in (UP, DOWN, STOCK) else pile_cards(view, pile)
    card = cards[-count] if 0 < count <= len(cards) else None
    for target in marks.targets:
        direction, _, suit = target.partition(".")
        if direction not in (UP, DOWN):
            yield target, 0
            continue
        heights = view.up if direction == UP else view.down
        copies = len(heights) // len(SUITS)
        if card is None:
            yield from ((f"{direction}.{s}", n) for s in suit or SUITS for n in range(copies))
            continue
        wanted = wanted_up(heights, view.base) if direction == UP else wanted_down(heights)
        if card in wanted:
            yield f"{direction}.{card[1]}", wanted[card] % copies


def _space_words(game: Game, view: View, style: CardStyle, tile: Tile) -> str:
    if tile.pile == STOCK:
        can_redeal = len(view.waste) and view.passes < game.stock.passes
        return style.symbols.redeal if can_redeal else "end"
    if tile.pile in COLUMN_INDEX:
        admits = game.columns.space.admits
        kings = [rank for rank in range(1, 14) if admits(Pile.COLUMN, card_of(rank, "S"))] == [13]
        return "K" if kings else ""
    if tile.pile in (WASTE, RESERVE):
        return ""
    direction, suit = tile.pile.split(".")
    return rank_sign(view.base if direction == UP else 13) + style.suit(suit)


# Labels


def _put_label(
    canvas: Canvas,
    label: PileLabel,
    game: Game,
    view: View,
    marks: Marks,
    lit: frozenset[tuple[str, int]],
) -> None:
    """Write the key and the longest name of a pile for which there is room."""
    pile, families = label.piles[0], {pile.partition(".")[0] for pile in label.piles}
    key, role = "", Role.KEY
    if len(families) == 1:
        key = key_of(pile) if marks.has_keys else pile[1:] if label.centred else ""
    if any(target in label.piles for target, _ in lit):
        role = Role.KEY_TARGET
        if key and label.width >= len(key) + 2:
            key = f"[{key}]"
    elif marks.sources & families.union(label.piles):
        role = Role.KEY_LIT
    if label.centred:
        canvas.put(label.x + (label.width - len(key) + 1) // 2, label.y, key, role)
        return
    for name in _names(game, view, pile, len(families) > 1):
        after = f" {name}" if key and name else name
        if len(key) + len(after) <= label.width:
            canvas.put(canvas.put(label.x, label.y, key, role), label.y, after, Role.LABEL)
            return
    canvas.put(label.x, label.y, key[: label.width], role)


def _names(game: Game, view: View, pile: str, in_both_directions: bool) -> tuple[str, ...]:
    """Return the names of a pile, or of its foundations, from the longest to the shortest."""
    up = f"up from {rank_sign(view.base)}"
    if in_both_directions:
        return (f"{up}, down from K", "")
    match pile.partition(".")[0]:
        case "stock":
            return ("stock", "")
        case "w":
            count = len(view.waste)
            return (f"waste {count}" if count else "waste", "waste", f"{count}", "")
        case "r":
            return (f"reserve {len(view.reserve)}", f"{len(view.reserve)}", "")
        case "down":
            return ("down from K", "down", "")
        case _:
            corner = game.up.first is First.BASE_CARD
            return (*((f"{up}, around the corner",) if corner else ()), up, "up", "")


# Words about the board


def rule_rows(game: Game, view: View, layout: BoardLayout) -> Mapping[int, str]:
    """Return how columns build and what fills a space, by row: the last rows, if no card lies there.

    The text takes one line if the board is wide enough, else a line or more for each sentence. The
    last sentence is left out first if there is too little room.
    """
    sentences = column_rules(game, view)
    width = layout.width - 2 * MARGIN
    free = layout.height - max(tile.y + tile.height for tile in layout.tiles)
    lines = wrapped(" ".join(sentences), width)
    if len(lines) > 1:
        first, second = (wrapped(sentence, width) for sentence in sentences)
        lines = [*first, *second] if len(first) + len(second) <= free else first
    if len(lines) > free:
        return {}
    return dict(enumerate(lines, start=layout.height - len(lines)))


def title_facts(game: Game, view: View) -> tuple[str, ...]:
    """Return the progress, the most important first: `pass 3/3`, `base 6`, `deals left 4`."""
    if game.stock.onto is Pile.COLUMN:
        deals, short = divmod(len(view.stock), game.columns.count)
        if not short:
            return (f"deals left {deals}" if deals else "no deal left",)
        return (
            f"deals left {deals + 1} (last one short)" if deals else f"last deal, {counted(short)}",
        )
    most = game.stock.passes
    facts = f"pass {view.passes}" + ("" if most == UNLIMITED else f"/{most}")
    base = (f"base {rank_sign(view.base)}",) if game.up.first is First.BASE_CARD else ()
    return ("one pass" if most == 1 else facts, *base)
