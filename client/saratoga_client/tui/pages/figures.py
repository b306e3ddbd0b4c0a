"""Texts for hashes and for titles of games on pages."""

from saratoga_rules.games import GAMES


def short_hash(digits: str, dots: str = "…") -> str:
    """Return the first eight and last four digits of a hash, for players who compare it by voice.

    >>> short_hash("c0ffee" * 10)
    'c0ff eec0 … ffee'
    """
    return f"{digits[:4]} {digits[4:8]} {dots} {digits[-4:]}"


def grouped(digits: str, in_line: int = 0) -> str:
    """Return a hash in groups of four digits, with `in_line` groups per line; 0 is one line.

    >>> grouped("c0ffee" * 4, 3).split(chr(10))
    ['c0ff eec0 ffee', 'c0ff eec0 ffee']
    """
    groups = [digits[at : at + 4] for at in range(0, len(digits), 4)]
    step = in_line or len(groups) or 1
    lines = (groups[at : at + step] for at in range(0, len(groups), step))
    return "\n".join(" ".join(line) for line in lines)


def game_title(name: str) -> str:
    """Return the title of a game; a game unknown to this version keeps its name."""
    return GAMES[name].title if name in GAMES else name
