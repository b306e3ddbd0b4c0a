"""The valid values of each setting, with an example for error messages."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from json import dumps
from types import MappingProxyType
from typing import Final

from saratoga_rules.games import GAMES
from saratoga_rules.records.record import TABLE_CODE

CAPS: Final = (3, 5, 10, 20, 0)
"""The time limits of a race in minutes; 0 is no limit, at private tables only."""

FEWEST_SEATS: Final = 1
MOST_SEATS: Final = 16
"""The maximum number of seats at a table."""

NO_MATCH: Final = 1

MATCHES: Final = (NO_MATCH, 3, 5)
"""The numbers of races of a match."""

SUITS: Final = ("two", "four")
"""The values for the number of suit colours."""

THEMES: Final = ("felt", "paper", "plain")
"""Names of the colour themes; a copy of those in `tui.themes`, which settings must not import."""


def shown(value: object) -> str:
    """Return a value in TOML syntax."""
    # TOML and JSON escape strings in the same way.
    return dumps(value, ensure_ascii=False) if isinstance(value, str | bool | int) else str(value)


@dataclass(frozen=True, slots=True)
class SettingType:
    """The valid values of one setting; the readers return `None` for any other value."""

    read: Callable[[object], object]
    """A function that checks a value of the settings file and converts it."""
    read_word: Callable[[str], object]
    """A function that parses the text of an environment variable."""
    example: str
    """A valid line of the settings file, for error messages."""

    def example_of_variable(self, variable: str) -> str:
        """Return a valid assignment to an environment variable, for error messages."""
        words = self.example.partition(" = ")[2].replace('"', "")
        return f"{variable}={words}".replace("true", "1")


def _text(example: str, is_right: Callable[[str], bool] = bool) -> SettingType:
    def read(value: object) -> object:
        return value if isinstance(value, str) and is_right(value) else None

    return SettingType(read, read, example)


def _choice(key: str, *choices: str) -> SettingType:
    return _text(f"{key} = " + " or ".join(f'"{each}"' for each in choices), choices.__contains__)


def _switch(key: str) -> SettingType:
    def read_word(word: str) -> bool | None:
        return {"1": True, "true": True, "yes": True, "on": True}.get(
            word.lower(),
            {"0": False, "false": False, "no": False, "off": False}.get(word.lower()),
        )

    return SettingType(
        lambda value: value if isinstance(value, bool) else None,
        read_word,
        f"{key} = true or false",
    )


def _number(key: str, *choices: int) -> SettingType:
    def read(value: object) -> int | None:
        # In Python `True` is an `int` too.
        return value if isinstance(value, int) and value in choices and value is not True else None

    return SettingType(
        read,
        lambda word: read(int(word)) if word.isdecimal() else None,
        f"{key} = {', '.join(map(str, choices[:-1]))} or {choices[-1]}",
    )


def every_game(word: str) -> Mapping[str, str] | None:
    """Return the suits of every game for one word; `None` if the word is not valid."""
    return MappingProxyType(dict.fromkeys(GAMES, word)) if word in SUITS else None


SETTING_TYPES: Final[Mapping[str, SettingType]] = MappingProxyType(
    {
        "server": _text(
            'server = "ws://192.168.1.7:7470"',
            lambda url: url.startswith(("ws://", "wss://")),
        ),
        "name": _text('name = "Anna"', lambda name: 0 < len(name) <= 64 and name.isprintable()),
        "suits": SettingType(
            lambda value: every_game(value) if isinstance(value, str) else None,
            every_game,
            'suits = "two" or "four"',
        ),
        "theme": _choice("theme", *THEMES),
        "ascii": _switch("ascii"),
        "background": _switch("background"),
        "quick": _switch("quick"),
        "plain": _switch("plain"),
        "game": _choice("game", *GAMES),
        "cap": _number("cap", *CAPS),
        "races": _number("races", *MATCHES),
        "install": _text(
            'install = "pip install git+https://cards.example.org/saratoga"', str.isprintable
        ),
    }
)
"""Every setting by its key."""

LAST_TYPES: Final[Mapping[str, SettingType]] = MappingProxyType(
    {
        **SETTING_TYPES,
        "table": _text(
            'table = "mint-otter-42"',
            lambda code: not code or re.fullmatch(TABLE_CODE, code) is not None,
        ),
    }
)
"""Every last choice by its key: `table` is the last table at the last `server`."""
