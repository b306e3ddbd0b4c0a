"""Make text from a server safe for a terminal.

Names, notices and refusals come from the server. Some characters are commands to a terminal: they can
change colours, overwrite text, or reverse the writing direction. Each such character is replaced by
its visible number: `<U+001B>`.

Names, messages and other texts stay as they were sent until they are shown. `sanitised` is called in
one place for each kind of output:

- screens: `board_view.canvas.Canvas` and `tui.rich_view.Ink`
- lines of text, messages and questions: `output`; JSON: `output.write_json`
- tables of commands: `cli.rich_text`
- log records on standard error: `cli.commands.WordsOnly`
- the clipboard: the two modules `share_text`
"""

import re
from typing import Final

COMMANDS: Final = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff]"
)
"""Control characters (C0, C1), direction marks, line breaks, and characters without width.

The two joiners are allowed, because some languages need them.
"""


def sanitised(text: str) -> str:
    r"""Return a text as one line without terminal commands; replace line feeds and tabs too.

    >>> sanitised("Anna\x1b[2J")
    'Anna<U+001B>[2J'
    """
    return COMMANDS.sub(lambda found: f"<U+{ord(found[0]):04X}>", text)


def shown_in_json(text: str) -> str:
    r"""Return equivalent JSON on one line, with escapes for the characters of `COMMANDS`.

    >>> shown_in_json('{"name": "\x9b2J"}')
    '{"name": "\\u009b2J"}'
    """
    return COMMANDS.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
