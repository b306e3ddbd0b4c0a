"""Cards, piles and moves in words."""

from collections.abc import Callable
from functools import lru_cache
from typing import Final, NamedTuple, TypeAlias

from saratoga_client.wording import counted
from saratoga_rules.cards import HIDDEN, RANKS, SUITS, Card, card_of, rank, suit
from saratoga_rules.game import Game
from saratoga_rules.moves import (
    COLUMN_INDEX,
    COLUMN_NAMES,
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
from saratoga_rules.position import Heights, View
from saratoga_rules.vocabulary.foundations import rank_at
from saratoga_rules.vocabulary.stocks import UNLIMITED

CardName: TypeAlias = Callable[[Card], str]
"""A function that returns the name of a card for a sentence."""

LINE: Final = 78
"""Maximum cells of a sentence: an 80-column message line without its margins."""

STOCK: Final = "stock"
"""The pile name of the stock, which the notation of moves does not have."""

COLUMN_KEYS: Final = "1234567890-="
"""The keys of the columns from the left, as on the keyboard."""

_KEYS_UNLIKE_NUMBERS: Final = dict(zip(COLUMN_NAMES[9:12], COLUMN_KEYS[9:], strict=True))
"""The keys of the columns after the ninth, which differ from the columns' numbers."""

PileName: TypeAlias = Callable[[Game, str], str]
"""A function that returns the name of a pile for a sentence."""

SUIT_SIGNS: Final = dict(zip("CSHD", "♣♠♥♦", strict=True))


def card_name(card: Card) -> str:
    """Return a card's name with its symbol: `Q♦`, `10♦`."""
    return "a hidden card" if card == HIDDEN else rank_sign(rank(card)) + SUIT_SIGNS[suit(card)]


def ascii_card_name(card: Card) -> str:
    """Return a card's name in ASCII: `Qd`, `10d`."""
    return "a hidden card" if card == HIDDEN else rank_sign(rank(card)) + suit(card).lower()


def pile_name(game: Game, pile: str) -> str:
    """Return a pile's name in a sentence on the screen: `column 3`, `column 11 (key -)`, `the waste`.

    The screen shows only the keys of columns. Up to column 9 the key is the number.
    """
    key = _KEYS_UNLIKE_NUMBERS.get(pile)
    return plain_pile_name(game, pile) + (f" (key {key})" if key else "")


def plain_pile_name(game: Game, pile: str) -> str:
    """Return a pile's name in a plain line: `column 11`, `the waste`, `the foundations built up`."""
    if pile.startswith("t") and pile[1:].isdigit():
        return f"column {pile[1:]}"
    if pile in (UP, DOWN) or pile.startswith((f"{UP}.", f"{DOWN}.")):
        if game.down is None:
            return "the foundations"
        return f"the foundations built {'down' if pile.startswith(DOWN) else 'up'}"
    return {WASTE: "the waste", RESERVE: "the reserve", STOCK: "the stock"}.get(pile, "no pile")


def source_of(move: Move) -> str:
    """Return the pile that a move takes cards from; for draws and redeals this is the stock."""
    return move.source if isinstance(move, Carry) else STOCK


def target_of(view: View, move: Carry) -> str:
    """Return the target pile of a carry; a foundation has its suit: `up.D`."""
    if move.destination >= 0:
        return move.target
    return f"{move.target}.{suit(carried(view, move)[-1])}"


class Foundation(NamedTuple):
    """A foundation and its cards, the top one last."""

    direction: str
    """`up` or `down`."""
    suit: str
    copy: int
    """The index among the foundations of this direction and suit; the higher one comes first."""
    cards: tuple[Card, ...]


def foundations(view: View) -> tuple[Foundation, ...]:
    """Return every foundation, those built up first, in the order of suits."""
    return _foundations(view.up, view.down, view.base)


@lru_cache(maxsize=1 << 4)
def _foundations(up: Heights, down: Heights, base: int) -> tuple[Foundation, ...]:
    return tuple(
        Foundation(
            direction,
            letter := SUITS[index * len(SUITS) // len(heights)],
            index % (len(heights) // len(SUITS)),
            tuple(
                card_of(rank_at(base, level) if direction == UP else 14 - level, letter)
                for level in range(1, height + 1)
            ),
        )
        for direction, heights in ((UP, up), (DOWN, down))
        for index, height in enumerate(heights)
    )


def pile_cards(view: View, pile: str, copy: int = 0) -> tuple[Card, ...]:
    """Return the face-up cards of a pile and all cards of the stock, the top one last.

    `copy` is the index among equal foundations. A pile that the game lacks has no cards.
    """
    if pile in COLUMN_INDEX:
        index = COLUMN_INDEX[pile]
        return view.columns[index] if index < len(view.columns) else ()
    if pile.startswith((f"{UP}.", f"{DOWN}.")):
        wanted = (*pile.split("."), copy)
        return next((cards for *where, cards in foundations(view) if (*where,) == wanted), ())
    return {STOCK: view.stock, WASTE: view.waste, RESERVE: view.reserve}.get(pile, ())


def carried(view: View, move: Carry) -> tuple[Card, ...]:
    """Return the cards of a carry, the top one last."""
    return pile_cards(view, move.source)[-(move.count if move.origin >= 0 else 1) :]


def describe(game: Game, view: View, move: Move, card_name: CardName = card_name) -> str:
    """Describe a legal move of a view: `7♠ from column 3 to column 5`."""
    match move:
        case Draw():
            return _describe_draw(game, view)
        case Redeal():
            return f"the waste turned over, {pass_words(game, view.passes + 1)}"
        case Carry():
            return _describe_carry(game, view, move, card_name)


def turned_up(before: View, after: View) -> Card | None:
    """Return the card of a column that a move has turned up; `None` if it has turned up none there."""
    counts = after.face_down_counts or (0,) * len(after.columns)
    for column, now, earlier in zip(after.columns, counts, before.face_down_counts, strict=False):
        if now < earlier:
            return column[-1]
    return None


def with_turned_up(says: str, before: View, after: View, card_name: CardName = card_name) -> str:
    """Return a sentence on a move with the card of a column that the move has turned up, if it did."""
    card = turned_up(before, after)
    if card is None:
        return says
    return first_that_fits(f"{says.removesuffix('.')}; {card_name(card)} turns up.", says)


def pass_words(game: Game, number: int) -> str:
    """Return the number of a pass: `pass 2`, `pass 2 of 3`, `pass 3 of 3, the last`."""
    most = game.stock.passes
    if most == UNLIMITED:
        return f"pass {number}"
    return f"pass {number} of {most}" + (", the last" if number == most > 1 else "")


def first_that_fits(*sentences: str) -> str:
    """Return the first sentence that fits the message line, or else the last one, truncated.

    Pass the sentences in descending order of length.
    """
    shortest = sentences[-1]
    return next(
        (sentence for sentence in sentences if len(sentence) <= LINE), shortest[: LINE - 2] + ".."
    )


def rank_sign(number: int) -> str:
    """Return a rank from 1 to 13 as printed on a card: `A`, `10`, `K`."""
    return "10" if number == 10 else RANKS[number - 1]


def _describe_draw(game: Game, view: View) -> str:
    if game.stock.onto is Pile.COLUMN:
        if len(view.stock) < game.columns.count:
            return f"the last {counted(len(view.stock))} dealt to the columns from the left"
        return "a card dealt to each column"
    return f"{counted(min(len(view.stock), game.stock.draw))} from the stock to the waste"


def _describe_carry(game: Game, view: View, move: Carry, card_name: CardName) -> str:
    cards = carried(view, move)
    what = card_name(cards[0])
    if len(cards) > 1:
        what = f"{counted(len(cards))} ({what} to {card_name(cards[-1])})"
    if move.source in TAKE_BACK_INDEX:
        source = "back from its foundation"
    else:
        source = f"from {pile_name(game, move.source)}"
    if move.destination < 0:
        direction = "" if game.down is None else f" {move.target}"
        return f"{what} {source} banked{direction}"
    space = "" if view.columns[move.destination] else ", a space"
    return f"{what} {source} to {pile_name(game, move.target)}{space}"
