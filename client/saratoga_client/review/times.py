"""Durations in words."""


def duration_text(milliseconds: int) -> str:
    """Return a duration in words.

    >>> duration_text(940), duration_text(12_340), duration_text(75_000)
    ('0.9 s', '12.3 s', '1 min 15 s')
    """
    if milliseconds < 60_000:
        return f"{milliseconds // 100 / 10:.1f} s"
    return f"{milliseconds // 60_000} min {milliseconds % 60_000 // 1000} s"
