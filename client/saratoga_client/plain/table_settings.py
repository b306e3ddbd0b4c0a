"""Parse typed table settings, for a new table or a change. Pure."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from saratoga_client.local.settings import CAPS, MATCHES
from saratoga_client.session.state import FEWEST_SEATS, MOST_SEATS
from saratoga_rules.games import GAMES

VALUES: Final[Mapping[str, tuple[Mapping[str, Any], str]]] = MappingProxyType(
    {
        "game": ({name: name for name in GAMES}, f"The games are {', '.join(GAMES)}."),
        "cap": (
            {"none": 0, **{str(cap): cap for cap in CAPS}},
            "The time limit is 3, 5, 10 or 20 minutes, or none at a private table.",
        ),
        "seats": (
            {str(seats): seats for seats in range(FEWEST_SEATS, MOST_SEATS + 1)},
            f"A table has {FEWEST_SEATS} to {MOST_SEATS} seats.",
        ),
        "races": (
            {str(races): races for races in MATCHES},
            "A match has 3 or 5 races; races 1 is no match.",
        ),
    }
)
"""The settings with a value: its words, and the answer to any other word."""


def read_settings(words: str) -> dict[str, Any] | str:
    """Parse settings such as `canfield cap 5 seats 4 public`; return a sentence on an error.

    The keys are those of `ChangeSettings`: `game`, `cap` in minutes (0: none), `seats`, `races`, `public`.
    """
    chosen: dict[str, Any] = {}
    rest = words.lower().split()
    while rest:
        word, *rest = rest
        if word in ("public", "private"):
            chosen["public"] = word == "public"
        elif word in GAMES:
            chosen["game"] = word
        elif word in VALUES:
            values, remedy = VALUES[word]
            value = rest.pop(0) if rest else ""
            rest = rest[1:] if rest[:1] == ["minutes"] else rest
            if value not in values:
                return remedy
            chosen[word] = values[value]
        else:
            return (
                f"{word[:40]!r} is not a setting. The settings are a game, cap, seats, races, "
                "public and private."
            )
    return chosen
