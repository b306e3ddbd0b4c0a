"""Text of other people for a terminal: characters that obey or deceive are shown as their numbers.

Names, notices and messages stay as they were sent until they are shown. Client and server call
`sanitised` where they write to a terminal.
"""

import re
import unicodedata
from typing import Final

UNSEEN: Final = re.compile(
    "["
    "\x00-\x1f\x7f-\x9f"  # control characters
    "\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f"  # directions, line breaks, no width
    "\u00ad\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\uffa0"  # joiners and fillers
    "\ufe00-\ufe0f\U000e0000-\U000e0fff"  # variation selectors and tags
    "\ufeff\ufff0-\ufffb\U00013430-\U00013455\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    "\ud800-\udfff"
    "]"
)
"""Characters that a terminal obeys or does not show.

They are the control characters, the line breaks, the surrogates and the format characters, and all
other code points that Unicode calls ignorable by default; without the two joiners.
"""

_UNSEEN_OR_JOINER: Final = re.compile(UNSEEN.pattern[:-1] + "\u200c\u200d]")
_VIRAMA: Final = 9
"""The combining class of the signs after which a joiner chooses the form of a letter."""
_ARABIC: Final = re.compile("[\u0620-\u08ff]")


def sanitised(text: str) -> str:
    r"""Return a text as one line of visible characters; replace line feeds and tabs too.

    A joiner stays where a language needs it.

    >>> sanitised("Anna\x1b[2J")
    'Anna<U+001B>[2J'
    """
    return _UNSEEN_OR_JOINER.sub(_shown, text)


def _shown(found: re.Match[str]) -> str:
    character, text, place = found[0], found.string, found.start()
    if character in "\u200c\u200d" and _is_needed(text[place - 1 : place], text[place + 1 :][:1]):
        return character
    return f"<U+{ord(character):04X}>"


def _is_needed(before: str, after: str) -> bool:
    """Test whether a joiner between these two characters changes how they are written."""
    if not before:
        return False
    is_arabic = bool(_ARABIC.match(before) and _ARABIC.match(after))
    return unicodedata.combining(before) == _VIRAMA or is_arabic


def sanitised_json(text: str) -> str:
    r"""Return equivalent JSON on one line, with escapes for the characters of `UNSEEN`.

    >>> sanitised_json('{"name": "\x9b2J"}')
    '{"name": "\\u009b2J"}'
    """
    return UNSEEN.sub(_escaped, text)


def _escaped(found: re.Match[str]) -> str:
    code = ord(found[0])
    if code < 0x10000:
        return f"\\u{code:04x}"
    high, low = divmod(code - 0x10000, 0x400)
    return f"\\u{0xD800 + high:04x}\\u{0xDC00 + low:04x}"
