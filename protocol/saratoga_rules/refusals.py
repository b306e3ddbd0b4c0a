"""Every reason to refuse a move, with a sentence for the player."""

from enum import Enum

from saratoga_rules.moves import Move


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
    CHANGES_NOTHING = "Moving a whole column into a space would change nothing."
    NOT_INTO_A_SPACE = "That may not go into a space."
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
