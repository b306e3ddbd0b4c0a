"""Cards, piles and moves in words, and the key of every pile."""

from collections.abc import Callable, Iterator
from typing import Final, NamedTuple, TypeAlias

from saratoga_client.wording import counted
from saratoga_rules.cards import HIDDEN, RANKS, SUITS, Card, rank, suit
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
from saratoga_rules.position import View
from saratoga_rules.vocabulary.deal_steps import ToReserve
from saratoga_rules.vocabulary.foundations import BUILT_UP
from saratoga_rules.vocabulary.stocks import UNLIMITED

LINE: Final = 78
"""Maximum cells of a sentence: an 80-column message line without its margins."""

STOCK: Final = "stock"
"""The pile name of the stock, which the notation of moves does not have."""

SUIT_SIGNS: Final = dict(zip("CSHD", "♣♠♥♦", strict=True))

PILE_KEYS: Final = {
    STOCK: "space",
    WASTE: "w",
    RESERVE: "r",
    **dict(zip(COLUMN_NAMES, "1234567890-=", strict=False)),
    UP: "f",
    DOWN: "g",
}
"""The key of every pile, the same in all games; `up` and `down` are all foundations of a kind."""


def key_of(pile: str) -> str:
    """Return the key of a pile, such as `t3` or `up.S`."""
    return PILE_KEYS.get(pile.partition(".")[0], "")


def has_pile(game: Game, pile: str) -> bool:
    """Return whether a game has this pile, empty or not."""
    if pile == WASTE:
        return game.stock.onto is Pile.WASTE
    if pile == RESERVE:
        return any(isinstance(step, ToReserve) for step in game.deal)
    if pile in COLUMN_INDEX:
        return COLUMN_INDEX[pile] < game.columns.count
    if pile.partition(".")[0] == DOWN:
        return game.down is not None
    return pile == STOCK or pile.partition(".")[0] == UP


def column_keys(game: Game) -> str:
    """Return the keys of a game's columns in short: `1-4`; in Caprice `1-9 0 - =`."""
    keys = [key_of(name) for name in COLUMN_NAMES[: game.columns.count]]
    return " ".join((f"1-{keys[:9][-1]}", *keys[9:]))


# Cards and piles

CardName: TypeAlias = Callable[[Card], str]
"""A function that returns the name of a card for a sentence."""


def rank_sign(number: int) -> str:
    """Return a rank from 1 to 13 as printed on a card: `A`, `10`, `K`."""
    return "10" if number == 10 else RANKS[number - 1]


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
    has_other_key = COLUMN_INDEX.get(pile, 0) >= 9
    return plain_pile_name(game, pile) + (f" (key {key_of(pile)})" if has_other_key else "")


def plain_pile_name(game: Game, pile: str) -> str:
    """Return a pile's name in a plain line: `column 11`, `the waste`, `the foundations built up`."""
    if pile in COLUMN_INDEX:
        return f"column {pile[1:]}"
    direction = pile.partition(".")[0]
    if direction in (UP, DOWN):
        return "the foundations" + (f" built {direction}" if game.down else "")
    return {WASTE: "the waste", RESERVE: "the reserve"}.get(pile, "the stock")


class Foundation(NamedTuple):
    """A foundation and its cards, the top one last."""

    direction: str
    """`up` or `down`."""
    suit: str
    copy: int
    """The index among the foundations of this direction and suit; the higher one comes first."""
    cards: tuple[Card, ...]


def foundations(view: View) -> Iterator[Foundation]:
    """Yield every foundation, those built up first, in the order of suits."""
    down = tuple(cards[::-1] for cards in BUILT_UP[1])
    for direction, heights, built in ((UP, view.up, BUILT_UP[view.base]), (DOWN, view.down, down)):
        copies = len(heights) // len(SUITS)
        for index, height in enumerate(heights):
            at, copy = divmod(index, copies)
            yield Foundation(direction, SUITS[at], copy, built[at][:height])


def pile_cards(view: View, pile: str, copy: int = 0) -> tuple[Card, ...]:
    """Return the face-up cards of a pile and all cards of the stock, the top one last.

    `copy` is the index among equal foundations. A pile that the game lacks has no cards.
    """
    if pile in COLUMN_INDEX:
        index = COLUMN_INDEX[pile]
        return view.columns[index] if index < len(view.columns) else ()
    direction, _, letter = pile.partition(".")
    if letter:
        wanted = (direction, letter, copy)
        return next((cards for *where, cards in foundations(view) if (*where,) == wanted), ())
    return {STOCK: view.stock, WASTE: view.waste, RESERVE: view.reserve}.get(pile, ())


# Moves


def source_of(move: Move) -> str:
    """Return the pile that a move takes cards from; for draws and redeals this is the stock."""
    return move.source if isinstance(move, Carry) else STOCK


def target_of(view: View, move: Carry) -> str:
    """Return the target pile of a carry; a foundation has its suit: `up.D`."""
    if move.destination >= 0:
        return move.target
    return f"{move.target}.{suit(carried(view, move)[-1])}"


def carried(view: View, move: Carry) -> tuple[Card, ...]:
    """Return the cards of a carry, the top one last."""
    return pile_cards(view, move.source)[-move.count :]


def describe(game: Game, view: View, move: Move, card_name: CardName = card_name) -> str:
    """Describe a legal move of a view: `7♠ from column 3 to column 5`."""
    match move:
        case Redeal():
            most, number = game.stock.passes, view.passes + 1
            of_most = "" if most == UNLIMITED else f" of {most}"
            last = ", the last" if number == most else ""
            return f"the waste turned over, pass {number}{of_most}{last}"
        case Draw() if game.stock.onto is Pile.WASTE:
            return f"{counted(min(len(view.stock), game.stock.draw))} from the stock to the waste"
        case Draw() if len(view.stock) < game.columns.count:
            return f"the last {counted(len(view.stock))} dealt to the columns from the left"
        case Draw():
            return "a card dealt to each column"
        case Carry():
            what, source = cards_words(carried(view, move), card_name), "back from its foundation"
            if move.source not in TAKE_BACK_INDEX:
                source = f"from {pile_name(game, move.source)}"
            if move.destination < 0:
                return f"{what} {source} banked" + (f" {move.target}" if game.down else "")
            space = "" if view.columns[move.destination] else ", an empty one"
            return f"{what} {source} to {pile_name(game, move.target)}{space}"


def cards_words(cards: tuple[Card, ...], card_name: CardName) -> str:
    """Return the cards of a packet in words: `7♠`, `3 cards (7♠ to 5♠)`."""
    if len(cards) == 1:
        return card_name(cards[0])
    return f"{counted(len(cards))} ({card_name(cards[0])} to {card_name(cards[-1])})"


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


# Sentences


def first_that_fits(*sentences: str) -> str:
    """Return the first sentence that fits the message line, or else the last one, truncated.

    Pass the sentences in descending order of length.
    """
    shortest = sentences[-1]
    return next(
        (sentence for sentence in sentences if len(sentence) <= LINE), shortest[: LINE - 2] + ".."
    )


def either(words: list[str]) -> str:
    """Join words as alternatives: `2`, `2 or 5`, `2, 5 or f`."""
    return " or ".join(filter(None, (", ".join(words[:-1]), *words[-1:])))
