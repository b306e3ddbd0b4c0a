"""Texts for hashes on pages."""


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
