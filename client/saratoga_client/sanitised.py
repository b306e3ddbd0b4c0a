"""Make text from a server safe for a terminal.

Names, notices and refusals come from the server. Some characters are commands to a terminal: they can
change colours, overwrite text, or reverse the writing direction. Others cannot be seen, so that one
name looks like another. Each such character is replaced by its visible number, such as `<U+001B>`.

Names, messages and other texts stay as they were sent until they are shown. `sanitised` is called in
one place for each kind of output:

- screens: `board_view.canvas.Canvas` and `tui.rich_view.Ink`
- lines of text, messages and questions: `output`; JSON: `output.write_json`
- log records on standard error: `cli.frame.WordsOnly`
- the clipboard: `review.share_text`, `practice.practice_session` and `tui.screens.gathering`
"""

from saratoga_protocol.visible_text import UNSEEN, sanitised

__all__ = ["UNSEEN", "sanitised"]
