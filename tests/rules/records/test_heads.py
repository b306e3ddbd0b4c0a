"""The heads of a log: the written definition, repeated here with nothing but hashlib."""

from hashlib import blake2b

from saratoga_rules.records.heads import heads, shown
from saratoga_rules.records.record import LogLine

KEY = bytes(range(32))
RACE, ANNA = "mint-otter-42/3", "abcdefghijklmnop"
LOG = (LogLine(1186, 16, "r>up"), LogLine(9120, 40, "t1>t2x3"), LogLine(9120, 41, "stuck"))


def hashed(message: bytes) -> bytes:
    return blake2b(message, digest_size=32, key=KEY).digest()


FIRST = hashed(
    b"\x00\x00\x00\x0fsaratoga head 1\x00\x00\x00\x0fmint-otter-42/3\x00\x00\x00\x10abcdefghijklmnop"
)
MOVED = hashed(
    b"\x00\x00\x00\x20" + FIRST + b"\x00\x00\x00\x010\x00\x00\x00\x010\x00\x00\x00\x04r>up"
)
AGAIN = hashed(
    b"\x00\x00\x00\x20" + MOVED + b"\x00\x00\x00\x041186\x00\x00\x00\x0216\x00\x00\x00\x07t1>t2x3"
)
ENDED = hashed(
    b"\x00\x00\x00\x20" + AGAIN + b"\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x05stuck"
)


def test_the_heads_of_a_log_are_as_they_are_written_down() -> None:
    assert heads(KEY, RACE, ANNA, LOG) == [head[:8].hex() for head in (FIRST, MOVED, AGAIN, ENDED)]
    assert shown(FIRST) == "0fd0e7f48694b269"
