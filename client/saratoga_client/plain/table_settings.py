"""Parse typed table settings, for a new table or a change. Pure."""

from dataclasses import dataclass

from saratoga_client.local.setting_values import CAPS, FEWEST_SEATS, MOST_SEATS
from saratoga_rules.games import GAMES


@dataclass(frozen=True, slots=True, kw_only=True)
class TypedSettings:
    """The settings in a typed line; `None` for each missing one."""

    game: str | None = None
    cap: int | None = None
    seats: int | None = None
    public: bool | None = None


def read_settings(words: str) -> TypedSettings | str:
    """Parse settings such as `canfield cap 5 seats 4 public`; return a sentence on an error."""
    game: str | None = None
    cap: int | None = None
    seats: int | None = None
    public: bool | None = None
    rest = words.lower().split()
    while rest:
        word, *rest = rest
        match word:
            case "public" | "private":
                public = word == "public"
            case "game" if rest and rest[0] in GAMES:
                game = rest.pop(0)
            case _ if word in GAMES:
                game = word
            case "game":
                return f"The games are {', '.join(GAMES)}."
            case "cap":
                value = rest.pop(0) if rest else ""
                rest = rest[1:] if rest[:1] == ["minutes"] else rest
                cap = _cap(value)
                if cap is None:
                    return "The time limit is 3, 5, 10 or 20 minutes, or none at a private table."
            case "seats":
                seats = _seats(rest.pop(0) if rest else "")
                if seats is None:
                    return f"A table has {FEWEST_SEATS} to {MOST_SEATS} seats."
            case _:
                return (
                    f"{word[:40]!r} is not a setting. The settings are a game, cap, seats, "
                    "public and private."
                )
    return TypedSettings(game=game, cap=cap, seats=seats, public=public)


def _cap(word: str) -> int | None:
    if word == "none":
        return 0
    return int(word) if word.isdecimal() and int(word) in CAPS else None


def _seats(word: str) -> int | None:
    seats = int(word) if word.isdecimal() else 0
    return seats if FEWEST_SEATS <= seats <= MOST_SEATS else None
