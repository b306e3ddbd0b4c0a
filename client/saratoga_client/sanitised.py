"""Other people's words, made fit for a terminal.

Names, notices and refusals come from the house. A terminal takes some characters for commands:
they could colour, overwrite or rename what it shows, or turn the direction of writing around. Here
such a character becomes its number, so that it can be seen: `<U+001B>`.
"""

import re
from typing import Final

COMMANDS: Final = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff]"
)
"""Control characters (C0, C1), marks of direction, breaks of lines, and what has no width at all.

The two joiners stay: there are languages that need them.
"""


def sanitised(text: str) -> str:
    r"""One line of text as a terminal may have it; line feeds and tabs are commands too.

    >>> sanitised("Anna\x1b[2J")
    'Anna<U+001B>[2J'
    """
    return COMMANDS.sub(lambda found: f"<U+{ord(found[0]):04X}>", text)


def shown_in_json(text: str) -> str:
    r"""JSON on one line that means the same, and has no such characters either.

    >>> shown_in_json('{"name": "\x9b2J"}')
    '{"name": "\\u009b2J"}'
    """
    return COMMANDS.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
