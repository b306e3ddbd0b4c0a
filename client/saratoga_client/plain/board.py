"""A board in plain lines: its piles, the places of cards, and the answers to questions about it. Pure."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from saratoga_client.input.find import Found, banked_words, cards_matching, known_places
from saratoga_client.input.move_text import (
    carried,
    foundations,
    has_pile,
    plain_pile_name,
    turned_up,
)
from saratoga_client.input.typed_moves import MOVE_FORM, typed_move
from saratoga_client.plain.card_names import LETTERS, CardNames
from saratoga_client.plain.grammar import Context, not_understood, parse_line
from saratoga_client.rules_text import column_rules, plain_lines
from saratoga_client.wording import counted, dollars
from saratoga_rules.analysis import legal_moves
from saratoga_rules.cards import Card, rank
from saratoga_rules.game import Game
from saratoga_rules.games import GAMES
from saratoga_rules.money import net
from saratoga_rules.moves import (
    DOWN,
    RESERVE,
    TAKE_BACK_INDEX,
    UP,
    WASTE,
    Carry,
    Draw,
    Move,
    Redeal,
)
from saratoga_rules.piles import Pile
from saratoga_rules.position import View
from saratoga_rules.vocabulary.foundations import First
from saratoga_rules.vocabulary.stocks import UNLIMITED


def move_words(game: Game, view: View, move: Move, card_names: CardNames = LETTERS) -> str:
    """Describe a legal move, such as `7C from the waste onto 8D in column 3`."""
    match move:
        case Draw() if game.stock.onto is Pile.COLUMN:
            return f"deal {counted(min(len(view.stock), game.columns.count))} over the columns"
        case Draw():
            return f"turn {counted(min(len(view.stock), game.stock.draw))} from the stock"
        case Redeal():
            return f"turn the waste over, {counted(len(view.waste))}"
        case Carry():
            cards, source = card_names.cards(carried(view, move)), "back from its foundation"
            if move.source not in TAKE_BACK_INDEX:
                source = f"from {plain_pile_name(game, move.source)}"
            return f"{cards} {source} {_target_words(game, view, move, card_names)}"


def _target_words(game: Game, view: View, move: Carry, card_names: CardNames) -> str:
    if move.destination < 0:
        return "to its foundation" + ("" if game.down is None else f", built {move.target}")
    target = plain_pile_name(game, move.target)
    column = view.columns[move.destination]
    return (
        f"onto {card_names.card(column[-1])} in {target}" if column else f"into the empty {target}"
    )


def moved_line(
    game: Game, before: View, after: View, move: Move, number: int, card_names: CardNames = LETTERS
) -> str:
    """Return the line for a move that was made; `number` counts from 1."""
    done = _done_words(game, before, after, move, card_names)
    return f"move {number} {move}: " + "; ".join(
        (done, *_changes(game, before, after, move, card_names))
    )


def _done_words(game: Game, before: View, after: View, move: Move, card_names: CardNames) -> str:
    match move:
        case Draw() if game.stock.onto is Pile.COLUMN:
            dealt = [
                column[-1]
                for column, old in zip(after.columns, before.columns, strict=True)
                if len(column) > len(old)
            ]
            return f"dealt {card_names.cards(dealt)} on columns 1 to {len(dealt)}"
        case Draw():
            return f"turned {card_names.cards(after.waste[len(before.waste) :])}"
        case Redeal():
            return "the waste is the stock again"
        case Carry():
            return move_words(game, before, move, card_names)


def _changes(
    game: Game, before: View, after: View, move: Move, card_names: CardNames
) -> Iterator[str]:
    """Return phrases for the other changes, the source pile's first."""
    if isinstance(move, Carry) and move.origin >= 0:
        yield _column_left(game, before, after, move.origin, card_names)
    if isinstance(move, Carry) and move.source == WASTE:
        yield f"waste {_pile_words(after.waste, card_names)}"
    if len(after.reserve) != len(before.reserve):
        yield f"reserve {_pile_words(after.reserve, card_names)}"
    if len(after.stock) != len(before.stock):
        yield f"stock {len(after.stock) or 'empty'}"
    if after.passes != before.passes and game.stock.passes < UNLIMITED:
        yield f"pass {after.passes} of {game.stock.passes}"
    if after.banked != before.banked:
        yield money_words(game, after)


def _column_left(game: Game, before: View, after: View, index: int, card_names: CardNames) -> str:
    """Return a phrase for the column that the cards came from."""
    column = after.columns[index]
    if not column:
        return f"column {index + 1} is empty"
    if len(after.reserve) < len(before.reserve) or len(after.stock) < len(before.stock):
        return f"{card_names.card(column[-1])} fills column {index + 1} from {game.columns.space.filled_from}"
    if turned_up(before, after) is not None:
        return f"{card_names.card(column[-1])} turns up in column {index + 1}"
    return f"column {index + 1} shows {card_names.card(column[-1])}"


def _pile_words(pile: tuple[Card, ...], card_names: CardNames) -> str:
    return f"{len(pile)} {card_names.card(pile[-1])}" if pile else "empty"


WASTE_SHOWN: Final = 3
"""Number of waste cards that are listed; the last one is the top card, which can be played."""


def position_lines(game: Game, view: View, card_names: CardNames = LETTERS) -> Iterator[str]:
    """Return a line for every pile."""
    yield f"stock: {stock_words(game, view)}"
    if game.stock.onto is Pile.WASTE:
        shown = card_names.cards(view.waste[-WASTE_SHOWN:])
        yield f"waste: {len(view.waste)}, {shown}" if view.waste else "waste: empty"
    if has_pile(game, RESERVE):
        top = card_names.cards(view.reserve[-1:])
        yield f"reserve: {len(view.reserve)}, {top}" if view.reserve else "reserve: empty"
    yield foundations_line(game, view, UP, card_names)
    if game.down is not None:
        yield foundations_line(game, view, DOWN, card_names)
    for index in range(len(view.columns)):
        yield column_line(view, index, card_names)


def rule_line(game: Game, view: View) -> str:
    """Return the line on how columns build and what fills a space now."""
    return f"rule: {' '.join(column_rules(game, view))}"


def money_words(game: Game, view: View) -> str:
    """Return the cards banked and the net: `14 banked, +$20`."""
    return f"{view.banked} banked, {dollars(net(game, view.banked))}"


def stock_words(game: Game, view: View) -> str:
    """Return the number of cards in the stock and, if the game has redeals, the pass."""
    left = f"{len(view.stock) or 'empty'}"
    if game.stock.passes == 1:
        return left
    if game.stock.passes == UNLIMITED:
        return f"{left}, pass {view.passes}"
    return f"{left}, pass {view.passes} of {game.stock.passes}"


def foundations_line(
    game: Game, view: View, direction: str, card_names: CardNames = LETTERS
) -> str:
    """Return the line of the foundations built `up` or `down`: the count and top card of each."""
    piles = [pile for pile in foundations(view) if pile.direction == direction]
    words = [
        f"{card_names.suit(pile.suit)} {len(pile.cards)} to {card_names.rank(rank(pile.cards[-1]))}"
        if pile.cards
        else f"{card_names.suit(pile.suit)} empty"
        for pile in piles
    ]
    has_base = direction == UP and game.up.first is First.BASE_CARD
    base = f", base {card_names.rank(view.base)}" if has_base else ""
    return f"{direction}: {', '.join(words) if any(p.cards for p in piles) else 'empty'}{base}"


def column_line(view: View, index: int, card_names: CardNames = LETTERS) -> str:
    """Return the line of one column: the number of its face-down cards, and all others."""
    below = view.face_down_counts[index] if view.face_down else 0
    cards = card_names.cards(view.columns[index]) or "empty"
    return f"column {index + 1}: {f'{below} face down, then ' if below else ''}{cards}"


def board_line(game: Game, view: View, count: int | None) -> str:
    """Return the heading above the piles; `count` is the number of moves made, `None` to omit it."""
    moves = "" if count is None else f"{counted(count, 'move')}, "
    return f"board: {game.name}, {moves}{money_words(game, view)}"


def where_lines(
    game: Game, view: View, cards: Sequence[Card], card_names: CardNames = LETTERS
) -> Iterator[str]:
    """Return a line for every visible copy of these cards, and one for each pack's hidden copies."""
    seen = dict.fromkeys(cards, 0)
    for found in known_places(view):
        if found.card in seen:
            seen[found.card] += 1
            yield f"where {card_names.card(found.card)}: {_place(game, found, card_names)}"
    places = {
        "in the stock": view.stock,
        "deep in the reserve": len(view.reserve) > 1,
        "under a column": view.face_down,
    }
    hidden = " or ".join(place for place, may_hide in places.items() if may_hide)
    for known in range(game.packs):
        unseen = [card for card in cards if seen[card] == known]
        if unseen:
            # In a game of two packs one copy may be visible and the other hidden.
            copy = "another " if known else ""
            yield f"where {card_names.cards(unseen)}: {copy}face down, {hidden}"


def _place(game: Game, found: Found, card_names: CardNames) -> str:
    if found.pile in (UP, DOWN):
        return banked_words(game, found.pile) + ("" if found.above else ", on top")
    return f"{plain_pile_name(game, found.pile)}, {_depth(found, card_names)}"


def _depth(found: Found, card_names: CardNames) -> str:
    if found.covered_by is None:
        return "on top"
    return f"under {counted(found.above)}, directly under {card_names.card(found.covered_by)}"


def parse_typed_move(
    game: Game, view: View, words: str, context: Context, card_names: CardNames
) -> Move | str:
    """Return the typed legal move, or the `no:` line with the reason why there is none."""
    typed = typed_move(game, view, words, card_names.card)
    if typed is None and not parse_line(words, context).is_move_command:
        return not_understood(words, context)
    says = MOVE_FORM if typed is None else typed
    return f"no: {says}" if isinstance(says, str) else says


@dataclass(frozen=True, slots=True)
class BoardAnswers:
    """The answers to `look`, `where` and `legal` for one board."""

    game: Game
    view: View
    count: int | None
    """Number of moves made; `None` for a board that has ended."""
    card_names: CardNames
    has_ended: bool = False

    def look(self) -> Iterator[str]:
        """Return the whole position, a line for each pile, and how columns build."""
        yield board_line(self.game, self.view, self.count)
        yield from position_lines(self.game, self.view, self.card_names)
        yield rule_line(self.game, self.view)

    def where(self, words: str) -> Iterator[str]:
        """Return the places of the cards that `words` names."""
        if not words:
            yield "no: Which card? Type where 7C, where 10H, or where K for all kings."
            return
        cards = cards_matching(words)
        if not cards:
            yield f"no: {words!r} is not a card. Type, for example, where 7C, where 10H or where K."
            return
        yield from where_lines(self.game, self.view, cards, self.card_names)

    def legal(self) -> Iterator[str]:
        """Return the number of legal moves, then a line for each: its notation and its effect."""
        moves = [] if self.has_ended else legal_moves(self.game, self.view)
        yield f"legal: {len(moves)}"
        for move in moves:
            yield f"legal {move}: {move_words(self.game, self.view, move, self.card_names)}"


def rules_lines(words: str, current: Game | None) -> Iterator[str]:
    """Return the rules of the game that `words` names; without words, of the current game.

    Return a `no:` line if there is no such game.
    """
    name = words.strip().lower()
    game = GAMES.get(name) if name else current
    if game is None:
        yield f"no: Which game? There are {', '.join(GAMES)}."
        return
    yield from (f"rules {line}" for line in plain_lines(game))
