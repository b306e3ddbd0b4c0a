"""Judge moves and play them: for each kind of move one function, legality beside effect.

No rule looks at a hidden card, so a view is judged exactly like the position that it shows. A
face-down card turns up, and a space is filled, as part of the move that uncovered or made it.
"""

from enum import Enum

from saratoga_rules.cards import Card
from saratoga_rules.game import Game
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
from saratoga_rules.position import Cards, Heights, Position, with_item
from saratoga_rules.vocabulary.foundations import BUILT_UP, wanted_down, wanted_up


class Refusal(Enum):
    """A reason to refuse a move; its value is the sentence that the player reads."""

    NO_SUCH_PILE = "This game has no such pile."
    SAME_PILE = "A pile cannot be moved onto itself."
    NOTHING_TO_CARRY = "There is no card to move."
    NOT_SO_MANY = "The pile does not hold so many cards."
    ONE_AT_A_TIME = "Only one card at a time can move like that."
    NOT_A_PACKET = "These cards cannot be lifted together."
    DOES_NOT_BUILD = "That card cannot be laid on the top card of that column."
    FOUNDATION_WAITS = "The foundation waits for another card."
    ONLY_INTO_COLUMNS = "A card from a foundation comes back into a column, nowhere else."
    CHANGES_NOTHING = "Moving a whole column into an empty one would change nothing."
    NOT_INTO_A_SPACE = "That may not go into an empty column."
    NOT_FROM_FOUNDATIONS = "In this game a card on a foundation stays there."
    FIRST_CARD_STAYS = "The first card of a foundation stays there."
    STOCK_IS_EMPTY = "The stock is empty."
    STOCK_REMAINS = "The stock must be drawn to its end before a redeal."
    NOTHING_TO_REDEAL = "There is no waste to turn over."
    NO_REDEALS = "This game has no redeal."
    NO_REDEAL_LEFT = "This was the last pass: there is no redeal left."

    def __str__(self) -> str:
        return self.value


class IllegalMove(ValueError):
    """A move that is not legal; nothing has changed."""

    def __init__(self, move: Move, refusal: Refusal) -> None:
        super().__init__(move, refusal)
        self.move = move
        self.refusal = refusal

    def __str__(self) -> str:
        return f"{self.move}: {self.refusal}"


def play(game: Game, position: Position, move: Move) -> Position:
    """Return the position after a move; raise `IllegalMove` with the refusal if it is not legal."""
    after = outcome(game, position, move)
    if isinstance(after, Refusal):
        raise IllegalMove(move, after)
    return after


def refusal(game: Game, position: Position, move: Move) -> Refusal | None:
    """Return why a move may not be played; `None` if it may."""
    after = outcome(game, position, move)
    return after if isinstance(after, Refusal) else None


def is_won(game: Game, position: Position) -> bool:
    return position.banked == game.cards


def outcome(game: Game, position: Position, move: Move) -> Position | Refusal:
    """Return the position after a move, or why it may not be played."""
    match move:
        case Carry():
            if move.origin >= 0:
                return _carry_from_column(game, position, move)
            if move.count != 1:
                return Refusal.ONE_AT_A_TIME
            if move.source == WASTE or move.source == RESERVE:
                return _carry_from_hand(game, position, move)
            return _take_back(game, position, move)
        case Draw():
            return _draw(game, position)
        case Redeal():
            return _redeal(game, position)


def _draw(game: Game, position: Position) -> Position | Refusal:
    stock, waste, reserve, up, down, columns, base, passes, face_down = position
    if not stock:
        return Refusal.STOCK_IS_EMPTY
    if game.stock.onto is Pile.COLUMN:
        row, stock = stock[: len(columns)], stock[len(columns) :]
        grown = tuple([(*column, card) for column, card in zip(columns, row, strict=False)])
        columns = grown + columns[len(row) :]
    else:
        # one by one, so that the last card turned is on top
        waste, stock = waste + stock[: game.stock.draw], stock[game.stock.draw :]
    return Position(stock, waste, reserve, up, down, columns, base, passes, face_down)


def _redeal(game: Game, position: Position) -> Position | Refusal:
    stock, waste, reserve, up, down, columns, base, passes, face_down = position
    if game.stock.passes == 1:
        return Refusal.NO_REDEALS
    if stock:
        return Refusal.STOCK_REMAINS
    if passes >= game.stock.passes:
        return Refusal.NO_REDEAL_LEFT
    if not waste:
        return Refusal.NOTHING_TO_REDEAL
    # the waste's lowest card was drawn first, and is drawn first again
    return Position(waste, (), reserve, up, down, columns, base, passes + 1, face_down)


def _carry_from_column(game: Game, position: Position, move: Carry) -> Position | Refusal:
    stock, waste, reserve, up, down, columns, base, passes, face_down = position
    origin, destination, count = move.origin, move.destination, move.count
    if origin >= len(columns) or destination >= len(columns):
        return Refusal.NO_SUCH_PILE
    column = columns[origin]
    below = face_down[origin] if face_down else ()
    if not 0 < count <= len(column):
        return _refused_count(column, below, count)
    piles = list(columns)
    if destination < 0:
        banked = _bank(position, move.target, column[-1]) if count == 1 else Refusal.ONE_AT_A_TIME
        if isinstance(banked, Refusal):
            return banked
        up, down = banked
    else:
        refused = _refused_packet(game, move, columns, below)
        if refused is not None:
            return refused
        piles[destination] += column[-count:]
    piles[origin] = column[:-count]
    if count == len(column):
        if below:
            piles[origin], face_down = below[-1:], _uncovered(face_down, origin)
        elif game.columns.space.filled_from is Pile.RESERVE:
            piles[origin], reserve = reserve[-1:], reserve[:-1]
        elif game.columns.space.filled_from is Pile.STOCK:
            piles[origin], stock = stock[:1], stock[1:]
    return Position(stock, waste, reserve, up, down, tuple(piles), base, passes, face_down)


def _refused_count(column: Cards, below: Cards, count: int) -> Refusal:
    if len(column) < count <= len(column) + len(below):
        return Refusal.NOT_A_PACKET
    return Refusal.NOT_SO_MANY if column else Refusal.NOTHING_TO_CARRY


def _refused_packet(
    game: Game, move: Carry, columns: tuple[Cards, ...], below: Cards
) -> Refusal | None:
    column, target, count = columns[move.origin], columns[move.destination], move.count
    if move.origin == move.destination:
        return Refusal.SAME_PILE
    if count == len(column) and not below and not target:
        return Refusal.CHANGES_NOTHING
    if not game.columns.packet.allows(column, count, game.columns.build):
        return Refusal.NOT_A_PACKET
    return _refused_on_column(game, target, Pile.COLUMN, column[-count])


def _carry_from_hand(game: Game, position: Position, move: Carry) -> Position | Refusal:
    stock, waste, reserve, up, down, columns, base, passes, face_down = position
    if move.destination >= len(columns):
        return Refusal.NO_SUCH_PILE
    source, pile = (Pile.WASTE, waste) if move.source == WASTE else (Pile.RESERVE, reserve)
    if not pile:
        return Refusal.NOTHING_TO_CARRY
    if move.destination < 0:
        banked = _bank(position, move.target, pile[-1])
        if isinstance(banked, Refusal):
            return banked
        up, down = banked
    else:
        refused = _refused_on_column(game, columns[move.destination], source, pile[-1])
        if refused is not None:
            return refused
        grown = (*columns[move.destination], pile[-1])
        columns = with_item(columns, move.destination, grown)
    if source is Pile.WASTE:
        waste = waste[:-1]
    else:
        reserve = reserve[:-1]
    return Position(stock, waste, reserve, up, down, columns, base, passes, face_down)


def _take_back(game: Game, position: Position, move: Carry) -> Position | Refusal:
    stock, waste, reserve, up, down, columns, base, passes, face_down = position
    index = TAKE_BACK_INDEX.get(move.source)
    if index is None or move.destination >= len(columns):
        return Refusal.NO_SUCH_PILE
    if not game.up.gives_back:
        return Refusal.NOT_FROM_FOUNDATIONS
    if move.destination < 0:
        return Refusal.ONLY_INTO_COLUMNS
    height = up[index]
    if height < 2:
        return Refusal.FIRST_CARD_STAYS if height else Refusal.NOTHING_TO_CARRY
    card = BUILT_UP[base][index][height - 1]
    refused = _refused_on_column(game, columns[move.destination], Pile.FOUNDATION, card)
    if refused is not None:
        return refused
    up = with_item(up, index, height - 1)
    columns = with_item(columns, move.destination, (*columns[move.destination], card))
    return Position(stock, waste, reserve, up, down, columns, base, passes, face_down)


def _refused_on_column(game: Game, column: Cards, source: Pile, card: Card) -> Refusal | None:
    """Return why a card, or a packet headed by it, may not be laid on a column, if it may not."""
    if column:
        return None if card in game.columns.build.onto[column[-1]] else Refusal.DOES_NOT_BUILD
    return None if game.columns.space.admits(source, card) else Refusal.NOT_INTO_A_SPACE


def _bank(position: Position, target: str, card: Card) -> tuple[Heights, Heights] | Refusal:
    """Return the foundations built up and down when they have taken a card, or a refusal."""
    up, down = position.up, position.down
    if target == UP:
        index = wanted_up(up, position.base).get(card)
        if index is not None:
            return with_item(up, index, up[index] + 1), down
    elif target == DOWN and down:
        index = wanted_down(down).get(card)
        if index is not None:
            return up, with_item(down, index, down[index] + 1)
    else:
        return Refusal.NO_SUCH_PILE
    return Refusal.FOUNDATION_WAITS


def _uncovered(face_down: tuple[Cards, ...], index: int) -> tuple[Cards, ...]:
    """Return the face-down cards that are left when the last one of a column turns up."""
    left = with_item(face_down, index, face_down[index][:-1])
    return left if any(left) else ()
