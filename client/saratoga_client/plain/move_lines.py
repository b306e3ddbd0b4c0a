"""Lines for moves: the moved cards, then all other changes of the board. Pure."""

from collections.abc import Iterator

from saratoga_client.input.move_text import carried, plain_pile_name, turned_up
from saratoga_client.plain.card_names import LETTERS, CardNames
from saratoga_client.plain.position import money_words
from saratoga_client.wording import counted
from saratoga_rules.cards import Card
from saratoga_rules.game import Game
from saratoga_rules.moves import TAKE_BACK_INDEX, WASTE, Carry, Draw, Move, Redeal
from saratoga_rules.piles import Pile
from saratoga_rules.position import View
from saratoga_rules.vocabulary.stocks import UNLIMITED


def move_words(game: Game, view: View, move: Move, card_names: CardNames = LETTERS) -> str:
    """Describe a legal move, such as `7C from the waste onto 8D in column 3`."""
    match move:
        case Draw():
            return _draw_words(game, view)
        case Redeal():
            return f"turn the waste over, {counted(len(view.waste))}"
        case Carry():
            cards = card_names.cards(carried(view, move))
            return (
                f"{cards} {_source_words(game, move)} {_target_words(game, view, move, card_names)}"
            )


def _draw_words(game: Game, view: View) -> str:
    if game.stock.onto is Pile.COLUMN:
        return f"deal {counted(min(len(view.stock), game.columns.count))} over the columns"
    return f"turn {counted(min(len(view.stock), game.stock.draw))} from the stock"


def _source_words(game: Game, move: Carry) -> str:
    if move.source in TAKE_BACK_INDEX:
        return "back from its foundation"
    return f"from {plain_pile_name(game, move.source)}"


def _target_words(game: Game, view: View, move: Carry, card_names: CardNames) -> str:
    if move.destination < 0:
        return "to its foundation" + ("" if game.down is None else f", built {move.target}")
    target = plain_pile_name(game, move.target)
    column = view.columns[move.destination]
    return (
        f"onto {card_names.card(column[-1])} in {target}" if column else f"into the space {target}"
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
        return f"column {index + 1} is a space"
    if len(after.reserve) < len(before.reserve) or len(after.stock) < len(before.stock):
        return f"{card_names.card(column[-1])} fills column {index + 1} from {game.columns.space.filled_from}"
    if turned_up(before, after) is not None:
        return f"{card_names.card(column[-1])} turns up in column {index + 1}"
    return f"column {index + 1} shows {card_names.card(column[-1])}"


def _pile_words(pile: tuple[Card, ...], card_names: CardNames) -> str:
    return f"{len(pile)} {card_names.card(pile[-1])}" if pile else "empty"
