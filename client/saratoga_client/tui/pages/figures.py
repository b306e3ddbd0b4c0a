"""Hashes and games as pages write them."""

from saratoga_rules.games import GAMES


def short_hash(digits: str, dots: str = "…") -> str:
    """Return enough of a hash to compare it aloud.

    >>> short_hash("c0ffee" * 10)
    'c0ff eec0 … ffee'
    """
    return f"{digits[:4]} {digits[4:8]} {dots} {digits[-4:]}"


def grouped(digits: str, in_line: int = 0) -> str:
    """Return a hash in groups of four digits, with so many groups in a line; 0 is one line.

    >>> grouped("c0ffee" * 4, 3).split(chr(10))
    ['c0ff eec0 ffee', 'c0ff eec0 ffee']
    """
    groups = [digits[at : at + 4] for at in range(0, len(digits), 4)]
    step = in_line or len(groups) or 1
    lines = (groups[at : at + step] for at in range(0, len(groups), step))
    return "\n".join(" ".join(line) for line in lines)


def game_title(name: str) -> str:
    """Return the title of a game, or the name of a game that this version does not have."""
    return GAMES[name].title if name in GAMES else name
