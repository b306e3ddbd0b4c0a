"""Small words that every part of the client says alike. Pure."""

from typing import Final

BOT_MARK: Final = "bot"
"""Follows the name of every bot, wherever a name is shown."""


def counted(number: int, noun: str = "card") -> str:
    """A number with its noun.

    >>> counted(1), counted(3, "move"), counted(2, "pass")
    ('1 card', '3 moves', '2 passes')
    """
    plural = "" if number == 1 else "es" if noun.endswith("s") else "s"
    return f"{number} {noun}{plural}"


def capitalised(sentence: str) -> str:
    """A sentence with a great letter in front; signs and figures stay."""
    return sentence[:1].upper() + sentence[1:]


def cap_words(minutes: int) -> str:
    """How long a race may last; 0 is for ever.

    >>> cap_words(10), cap_words(0)
    ('10 minutes', 'no cap')
    """
    return f"{minutes} minutes" if minutes else "no cap"
