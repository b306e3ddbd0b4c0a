"""Text for rich tables: never markup, and without control characters."""

from rich.text import Text

from saratoga_client.sanitised import sanitised
from saratoga_client.wording import bot_mark


def cell(text: str, style: str = "") -> Text:
    """Return untrusted text as a cell."""
    return Text(sanitised(text), style)


def name_cell(name: str, bot: bool, level: str = "") -> Text:
    """Return a player's name as a cell; a bot's name carries its mark."""
    return cell(name).append(f" {bot_mark(level)}", "dim") if bot else cell(name)
