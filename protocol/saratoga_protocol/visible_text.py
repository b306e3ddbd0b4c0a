"""Text of other people for a terminal: characters that obey or deceive are shown as their numbers.

Names, notices and messages stay as they were sent until they are shown. Client and server call
`sanitised` where they write to a terminal.
"""

import re
from typing import Final

UNSEEN: Final = re.compile(
    "["
    "\x00-\x1f\x7f-\x9f"  # control characters
    "\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f"  # directions, line breaks, no width
    "\u00ad\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\uffa0"  # joiners and fillers
    "\ufe00-\ufe0f\U000e0000-\U000e0fff"  # variation selectors and tags
    "\ufeff\ufff0-\ufffb\U00013430-\U00013455\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    "\ud800-\udfff"  # surrogates
    "]"
)
"""Characters that a terminal obeys or does not show.

They are the control characters, the line breaks, the surrogates and the format characters, and all
other code points that Unicode calls ignorable by default. No name may have one of them.
"""


def sanitised(text: str) -> str:
    r"""Return a text as one line of visible characters; replace line feeds and tabs too.

    >>> sanitised("Anna\x1b[2J")
    'Anna<U+001B>[2J'
    """
    return UNSEEN.sub(lambda found: f"<U+{ord(found[0]):04X}>", text)
