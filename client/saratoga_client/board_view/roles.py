"""The roles of cells; a theme gives each role its colours."""

from enum import StrEnum


class Role(StrEnum):
    """The role of a cell. Cards have a role for each suit colour in each state."""

    TABLE = "table"
    TEXT = "text"
    DIM = "dim"
    TITLE = "title"
    FRAME = "frame"

    CARD_BLACK = "card-black"
    CARD_RED = "card-red"
    CARD_CLUB = "card-club"
    """Clubs, with four suit colours."""
    CARD_DIAMOND = "card-diamond"
    """Diamonds, with four suit colours."""
    CARD_EDGE = "card-edge"

    PICKED_BLACK = "picked-black"
    PICKED_RED = "picked-red"
    PICKED_CLUB = "picked-club"
    PICKED_DIAMOND = "picked-diamond"
    PICKED_EDGE = "picked-edge"

    TARGET_BLACK = "target-black"
    TARGET_RED = "target-red"
    TARGET_CLUB = "target-club"
    TARGET_DIAMOND = "target-diamond"
    TARGET_EDGE = "target-edge"

    FOUND_BLACK = "found-black"
    FOUND_RED = "found-red"
    FOUND_CLUB = "found-club"
    FOUND_DIAMOND = "found-diamond"
    FOUND_EDGE = "found-edge"

    CARD_BACK = "card-back"
    BACK_COUNT = "back-count"
    """The number on a face-down pile."""
    SPACE = "space"
    SPACE_TARGET = "space-target"

    LABEL = "label"
    KEY = "key"
    KEY_LIT = "key-lit"
    """The key of a pile from which cards can be moved."""
    KEY_TARGET = "key-target"
    """The key of a pile that accepts the selected cards."""
    COUNT = "count"

    MONEY_UP = "money-up"
    MONEY_DOWN = "money-down"
    BAR = "bar"
    BAR_REST = "bar-rest"
    TICK = "tick"
    LEADER = "leader"
    YOU = "you"
    PRACTICE = "practice"
    """The title line of practice, which must not look like a race."""
    WARNING = "warning"
    ALARM = "alarm"


def money_role(amount: int) -> Role:
    """Return the role of an amount that was won or lost."""
    return Role.MONEY_DOWN if amount < 0 else Role.MONEY_UP
