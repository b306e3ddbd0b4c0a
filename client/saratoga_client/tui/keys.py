"""Keys by the one name used here, whatever the terminal calls them."""

from textual import events

from saratoga_client.hand.keys import key_called


def key_of(event: events.Key) -> str:
    """The sign on the key, or what it is called: `w`, `?`, `space`, `shift+tab`."""
    sign = event.character
    if sign is not None and sign.isprintable():
        return key_called(sign)
    return key_called(event.key)
