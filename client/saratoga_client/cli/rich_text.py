"""Text in rich's pictures: never read as markup, never a command to the terminal."""

from rich.text import Text

from saratoga_client.sanitised import sanitised
from saratoga_client.wording import BOT_MARK


def cell(text: str, style: str = "") -> Text:
    """Anybody's words, as they are."""
    return Text(sanitised(text), style)


def name_cell(name: str, bot: bool) -> Text:
    """A name with its mark."""
    return cell(name).append(f" [{BOT_MARK}]", "dim") if bot else cell(name)
