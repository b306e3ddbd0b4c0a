"""Times, caps and hashes as they are written on pages."""

from saratoga_rules.games import GAMES


def minutes(milliseconds: int) -> str:
    """A time span as on a clock.

    >>> minutes(192_400), minutes(0)
    ('3:12', '0:00')
    """
    seconds = milliseconds // 1000
    return f"{seconds // 60}:{seconds % 60:02d}"


def cap_text(cap: int) -> str:
    """The cap of a race in words."""
    return f"{cap} minutes" if cap else "no cap"


def short_hash(digits: str, dots: str = "…") -> str:
    """Enough of a hash to compare it aloud.

    >>> short_hash("c0ffee" * 10)
    'c0ff eec0 … ffee'
    """
    return f"{digits[:4]} {digits[4:8]} {dots} {digits[-4:]}"


def grouped(digits: str) -> str:
    """A hash in groups of four, all of it."""
    return " ".join(digits[at : at + 4] for at in range(0, len(digits), 4))


def game_title(name: str) -> str:
    """What people call a game; a game of a newer house goes by its name."""
    return GAMES[name].title if name in GAMES else name
