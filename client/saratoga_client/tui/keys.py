"""The names of keys, the same for every terminal."""

from textual import events

from saratoga_client.input.pile_keys import key_called


def key_of(event: events.Key) -> str:
    """Return the character of a key or its name: `w`, `?`, `space`, `shift+tab`.

    Letters are in lower case, with or without shift.
    """
    sign = event.character
    if sign is not None and sign.isprintable():
        return sign.lower() if sign.isalpha() else key_called(sign)
    return key_called(event.key)
