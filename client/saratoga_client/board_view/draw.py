"""Draw a view of a game on a canvas: cards, keys, the selection and its targets, and the rules in short."""

from collections.abc import Iterator, Mapping
from typing import Final

from saratoga_client.board_view.canvas import Canvas
from saratoga_client.board_view.faces import (
    CardState,
    CardStyle,
    back_face,
    back_strip,
    card_face,
    gap_face,
    space_face,
)
from saratoga_client.board_view.layout import BoardLayout, Tile, TileKind
from saratoga_client.board_view.piles import PileLabel
from saratoga_client.board_view.roles import Role
from saratoga_client.input.find import cards_matching
from saratoga_client.input.move_text import STOCK, key_of, pile_cards, rank_sign
from saratoga_client.input.selection import Marks
from saratoga_client.rules_text import column_rules
from saratoga_client.text import wrapped
from saratoga_client.wording import counted
from saratoga_rules.cards import SUITS, Card, card_of
from saratoga_rules.game import Game
from saratoga_rules.moves import COLUMN_INDEX, RESERVE, UP
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
    found = cards_matching(marks.find)
    for tile in layout.tiles:
        state = _state(tile, marks, lit, found)
        word = _space_word(game, view, style, tile.pile) if tile.kind is TileKind.SPACE else ""
        face = _face(tile, style, state, word)
        for row in range(tile.height):
            # A shortened card still ends with its bottom line.
            seen = face.height - 1 if row == tile.height - 1 > 0 else row
            canvas.paste_row(face, seen, tile.x, tile.y + row, tile.cut, tile.cut + tile.width)
        if tile.pile in COLUMN_INDEX and tile.size.height == 1 and state in style.symbols.marks:
            role = Role.KEY_LIT if state is CardState.PICKED else Role.KEY_TARGET
            canvas.put(tile.x - 1, tile.y, style.symbols.marks[state], role)
    for label in layout.labels:
        _put_label(canvas, label, game, view, marks, {pile for pile, _ in lit})
    return canvas


# Cards


def _state(
    tile: Tile, marks: Marks, lit: frozenset[tuple[str, int]], found: tuple[Card, ...]
) -> CardState:
    pile, count = marks.picked or ("", 0)
    # A card is taken back from the first of equal foundations.
    if tile.pile == pile and tile.above < count and not tile.copy:
        return CardState.PICKED
    if (tile.pile, tile.copy) in lit and not tile.above:
        return CardState.TARGET
    return CardState.FOUND if tile.card in found else CardState.PLAIN


def _face(tile: Tile, style: CardStyle, state: CardState, word: str) -> Canvas:
    """Draw the whole face of a tile; `word` is shown on an empty pile."""
    match tile.kind:
        case TileKind.SPACE:
            return space_face(word, tile.size, style, state is CardState.TARGET)
        case TileKind.GAP:
            return gap_face(tile.count, tile.size, style, state)
        case TileKind.BACK if tile.pile in COLUMN_INDEX:
            return back_strip(tile.count, tile.size, style)
        case TileKind.BACK:
            return back_face(0 if tile.pile == RESERVE else tile.count, tile.size, style)
    assert tile.card is not None
    return card_face(tile.card, tile.size, style, state, tile.width >= tile.size.width)


def _lit(view: View, marks: Marks) -> Iterator[tuple[str, int]]:
    """Yield the piles that accept the selected cards, each with its number among equal foundations."""
    card = next(iter(pile_cards(view, marks.picked[0])[-1:]), None) if marks.picked else None
    for target in marks.targets:
        direction, _, suit = target.partition(".")
        copies = len(view.up if direction == UP else view.down) // len(SUITS) if suit else 1
        wanted = wanted_up(view.up, view.base) if direction == UP else wanted_down(view.down)
        if suit and card is not None and card in wanted:
            yield target, wanted[card] % copies
        else:
            yield from ((target, copy) for copy in range(copies))


def _space_word(game: Game, view: View, style: CardStyle, pile: str) -> str:
    """Return the word in an empty pile."""
    if pile == STOCK:
        can_redeal = len(view.waste) and view.passes < game.stock.passes
        return style.symbols.redeal if can_redeal else "end"
    if pile in COLUMN_INDEX:
        admits = game.columns.space.admits
        kings = [rank for rank in range(1, 14) if admits(Pile.COLUMN, card_of(rank, "S"))] == [13]
        return "K" if kings else ""
    direction, _, suit = pile.partition(".")
    return rank_sign(view.base if direction == UP else 13) + style.suit(suit) if suit else ""


# Labels


def _put_label(
    canvas: Canvas, label: PileLabel, game: Game, view: View, marks: Marks, lit: set[str]
) -> None:
    """Write the key and the longest name of a pile for which there is room."""
    pile, families = label.piles[0], {pile.partition(".")[0] for pile in label.piles}
    key, role = "", Role.KEY
    if len(families) == 1:
        key = key_of(pile) if marks.has_keys else pile[1:] if label.centred else ""
    if lit.intersection(label.piles):
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
        if not name or len(key) + len(after) <= label.width:
            x = canvas.put(label.x, label.y, key[: label.width], role)
            canvas.put(x, label.y, after, Role.LABEL)
            return


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
