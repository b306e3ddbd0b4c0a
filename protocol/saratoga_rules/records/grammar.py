"""The parts of a record's lines as regular expressions; protocol/README.md lists the same ones.

A text is a record only if it is written with exactly these forms: the server writes no others.
"""

from typing import Final

NUMBER: Final = "(?:0|[1-9][0-9]{0,14})"
POSITIVE: Final = "[1-9][0-9]{0,5}"
"""A version of the rules, or the number of a race at its table."""
COMMIT: Final = "[1-9][0-9]{0,5}"
"""A commit number: at most 16 logs of 5001 entries."""
COUNT: Final = "(?:0|[1-9][0-9]{0,3})"
"""A number of banked cards or of moves."""
SEAT: Final = "(?:[1-9]|1[0-6])"
"""A place in the order of finish."""
DOLLARS: Final = "(?:0|-?[1-9][0-9]{0,2})"
CAP: Final = "(?:0|3|5|10|20)"
GAME: Final = "[a-z][a-z0-9-]{0,31}"
TABLE_CODE: Final = "[a-z]{2,12}-[a-z]{2,12}-[0-9]{2}"
RACE_ID: Final = f"{TABLE_CODE}/{POSITIVE}"
PLAYER: Final = "[a-z2-7]{16}"
_ESCAPE: Final = r"\\u(?:00[89a-f][0-9a-f]|0[1-9a-f][0-9a-f]{2}|[1-9a-f][0-9a-f]{3})"
NAME: Final = rf"\"(?:[A-Za-z0-9' ._-]|{_ESCAPE}){{2,40}}\""
"""A name as a JSON string; only characters beyond ASCII are escaped, and one above U+FFFF is two escapes."""
HASH: Final = "[0-9a-f]{64}"
"""A hash, or a seed of 32 bytes."""
NONCE: Final = "[0-9a-f]{32}"
CHOSEN: Final = "(?:[0-9a-f]{2}){1,64}"
"""A seed that a person chose."""
MOVE: Final = (
    "(?:draw|redeal|(?:w|r|t[1-9][0-9]?|up[.][CSHD])>(?:up|down|t[1-9][0-9]?)"
    "(?::(?:[2-9]|[1-9][0-9]))?)"
)
ENDING: Final = (
    "(?:cash-out|stuck|out-of-time|left|gone|ended-by-host|idle|bots-stopped|ended-by-vote)"
)
STATE: Final = (
    "(?:won|cashed out|stuck|out of time|left|gone|ended by host|idle|bots stopped|ended by vote)"
)
CARDS: Final = "(?:-|(?:[A2-9TJQK][CSHD])+)"
COLUMN: Final = "(?:-|(?:(?:[A2-9TJQK][CSHD])+[|])?(?:[A2-9TJQK][CSHD])+)"
"""Face-down cards, if there are any, stand before the bar."""
HEIGHTS: Final = "(?:-|(?:[0-9]|1[0-3])(?:,(?:[0-9]|1[0-3]))*)"
DEAL: Final = (
    f"stock={CARDS} waste={CARDS} reserve={CARDS} up={HEIGHTS} down={HEIGHTS}"
    f" columns={COLUMN}(?:/{COLUMN})* base=(?:[1-9]|1[0-3]) passes=1"
)

NEVER_IN_A_NAME: Final = (
    "[\\u0000-\\u001f\\u007f-\\u00a0\\u00ad\\u034f\\u061c\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180f"
    "\\u2000-\\u206f\\u3000\\u3164\\ud800-\\uf8ff\\ufe00-\\ufe0f\\ufeff\\uffa0\\ufff0-\\uffff"
    "\\U000e0000-\\U0010ffff]"
)
"""Control characters, spaces but one, invisible characters, direction marks, private and unpaired ones."""
SHORTEST_NAME: Final = 2
LONGEST_NAME: Final = 20
