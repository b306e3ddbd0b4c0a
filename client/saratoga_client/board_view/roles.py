"""What a cell of the screen is, for whoever gives it its colours."""

from enum import StrEnum


class Role(StrEnum):
    """What a cell shows. Cards have a role for every suit colour and every state they can be in."""

    TABLE = "table"
    TEXT = "text"
    DIM = "dim"
    TITLE = "title"
    FRAME = "frame"

    CARD_BLACK = "card-black"
    CARD_RED = "card-red"
    CARD_CLUB = "card-club"
    """Clubs where suits have four colours."""
    CARD_DIAMOND = "card-diamond"
    """Diamonds where suits have four colours."""
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
    """How many cards lie face down, on their backs."""
    SPACE = "space"
    SPACE_TARGET = "space-target"

    LABEL = "label"
    KEY = "key"
    KEY_LIT = "key-lit"
    """The key of a pile from which something can be moved."""
    KEY_TARGET = "key-target"
    """The key of a pile that takes what is picked."""
    COUNT = "count"

    MONEY_UP = "money-up"
    MONEY_DOWN = "money-down"
    BAR = "bar"
    BAR_REST = "bar-rest"
    TICK = "tick"
    LEADER = "leader"
    YOU = "you"
    PRACTICE = "practice"
    """The title where nothing counts, so that nobody takes it for a race."""
    WARNING = "warning"
    ALARM = "alarm"
