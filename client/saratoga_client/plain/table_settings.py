"""Parse typed table settings, for a new table or a change. Pure."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, Final

from saratoga_client.local.settings import CAPS, MATCHES
from saratoga_client.session.state import FEWEST_SEATS, MOST_SEATS
from saratoga_rules.games import GAMES


@dataclass(frozen=True, slots=True, kw_only=True)
class TypedSettings:
    """The settings in a typed line; `None` for each missing one."""

    game: str | None = None
    cap: int | None = None
    seats: int | None = None
    public: bool | None = None
    races: int | None = None


def read_settings(words: str) -> TypedSettings | str:
    """Parse settings such as `canfield cap 5 seats 4 public`; return a sentence on an error."""
    chosen = TypedSettings()
    rest = words.lower().split()
    while rest:
        word, *rest = rest
        if word in ("public", "private"):
            chosen = replace(chosen, public=word == "public")
        elif word in GAMES:
            chosen = replace(chosen, game=word)
        elif word in _VALUES:
            read, remedy = _VALUES[word]
            value = read(rest.pop(0) if rest else "")
            rest = rest[1:] if rest[:1] == ["minutes"] else rest
            if value is None:
                return remedy
            chosen = replace(chosen, **{word: value})
        else:
            return (
                f"{word[:40]!r} is not a setting. The settings are a game, cap, seats, races, "
                "public and private."
            )
    return chosen


def _game(word: str) -> str | None:
    return word if word in GAMES else None


def _cap(word: str) -> int | None:
    if word == "none":
        return 0
    return int(word) if word.isdecimal() and int(word) in CAPS else None


def _seats(word: str) -> int | None:
    seats = int(word) if word.isdecimal() else 0
    return seats if FEWEST_SEATS <= seats <= MOST_SEATS else None


def _races(word: str) -> int | None:
    return int(word) if word in map(str, MATCHES) else None


_VALUES: Final[Mapping[str, tuple[Callable[[str], Any], str]]] = MappingProxyType(
    {
        "game": (_game, f"The games are {', '.join(GAMES)}."),
        "cap": (_cap, "The time limit is 3, 5, 10 or 20 minutes, or none at a private table."),
        "seats": (_seats, f"A table has {FEWEST_SEATS} to {MOST_SEATS} seats."),
        "races": (_races, "A match has 3 or 5 races; races 1 is no match."),
    }
)
"""The settings with a value: the function that reads the value, and the answer to a wrong one."""
