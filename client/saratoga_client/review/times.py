"""Times as people read them. All in milliseconds."""


def clock(at: int) -> str:
    """Minutes and seconds.

    >>> clock(0), clock(75_999), clock(600_000)
    ('0:00', '1:15', '10:00')
    """
    return f"{at // 60_000}:{at % 60_000 // 1000:02}"


def precise(at: int) -> str:
    """Minutes, seconds and tenths, for moves that follow one another fast.

    >>> precise(75_960)
    '1:15.9'
    """
    return f"{clock(at)}.{at % 1000 // 100}"


def lasting(duration: int) -> str:
    """How long something took.

    >>> lasting(940), lasting(12_340), lasting(75_000)
    ('0.9 s', '12.3 s', '1 min 15 s')
    """
    if duration < 60_000:
        return f"{duration // 100 / 10:.1f} s"
    return f"{duration // 60_000} min {duration % 60_000 // 1000} s"
