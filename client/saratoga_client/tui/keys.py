"""Keys by the one name used here, whatever the terminal calls them."""

from textual import events

from saratoga_client.input.pile_keys import key_called


def key_of(event: events.Key) -> str:
    """The sign on the key, or what it is called: `w`, `?`, `space`, `shift+tab`.

    A letter is that letter: what else it may stand for is the hand's to say, not a name's.
    """
    sign = event.character
    if sign is not None and sign.isprintable():
        return sign.lower() if sign.isalpha() else key_called(sign)
    return key_called(event.key)
