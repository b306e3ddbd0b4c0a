"""The settings file: read with the line of each error, and changed one setting at a time.

Players edit the file too, so a change keeps their comments and all other lines.
"""

import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from difflib import get_close_matches
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeAlias

import tomlkit
from tomlkit.exceptions import ParseError

from saratoga_client.local.files import replace_file
from saratoga_client.local.setting_values import SETTING_TYPES, SUITS, SettingType, shown
from saratoga_client.problems import Exit, Problem
from saratoga_rules.games import GAMES

Value: TypeAlias = str | bool | int


def read(path: Path) -> str:
    """Return the file's text; empty if there is no file. Raises `Problem`."""
    try:
        return path.read_text(encoding="utf-8")
    except (FileNotFoundError, NotADirectoryError):
        return ""
    except (OSError, UnicodeDecodeError) as error:
        raise Problem(
            f"The settings in {path} cannot be read: {error}.",
            "Correct the file, or move it away to use the defaults.",
            Exit.USAGE,
        ) from None


def parse(
    text: str, source: str, types: Mapping[str, SettingType] = SETTING_TYPES
) -> dict[str, Any]:
    """Return the settings in a file's text; `source` names the file in messages. Raises `Problem`."""
    try:
        table = tomlkit.parse(text).unwrap()
    except ParseError as error:
        raise Problem(
            f"The settings in {source} are not valid TOML: {error}.",
            'A line looks like: name = "Anna"',
            Exit.USAGE,
        ) from None
    return {
        key: _read(key, value, lambda name: f"{source}, line {line_of(text, name)}", types)
        for key, value in table.items()
    }


def valid(text: str, types: Mapping[str, SettingType]) -> dict[str, Any]:
    """Return the valid settings in a file's text, without the others."""
    found: dict[str, Any] = {}
    with suppress(ParseError):
        for key, value in tomlkit.parse(text).unwrap().items():
            with suppress(Problem):
                found[key] = _read(key, value, str, types)
    return found


def _read(
    key: str, value: object, place: Callable[[str], str], types: Mapping[str, SettingType]
) -> object:
    """Check and return the value of a setting; raises `Problem` with its line."""
    if key not in types:
        raise Problem(
            f"{place(key)}: there is no setting {key!r}.",
            f"The settings are {', '.join(types)}.{_nearest(key)}",
            Exit.USAGE,
        )
    kind = types[key]
    if key == "suits" and isinstance(value, dict):
        return MappingProxyType({game: _suits_of(game, value[game], place) for game in value})
    read = kind.read(value)
    if read is None:
        raise Problem(
            f"{place(key)}: {key} cannot be {shown(value)}.", f"Write {kind.example}.", Exit.USAGE
        )
    return read


def _suits_of(game: str, value: object, place: Callable[[str], str]) -> str:
    if game not in GAMES:
        raise Problem(
            f"{place(game)}: there is no game {game!r}.",
            f"The games are {', '.join(GAMES)}.",
            Exit.USAGE,
        )
    if value not in SUITS:
        raise Problem(
            f"{place(game)}: the suits of {game} cannot be {shown(value)}.",
            f'Write {game} = "two" or {game} = "four".',
            Exit.USAGE,
        )
    return str(value)


def line_of(text: str, key: str) -> int:
    """Return the number of the line that sets a key, from 1; 1 if no line is found."""
    sought = re.compile(rf'^\s*(\[\s*)?(\w+\s*\.\s*)?["\']?{re.escape(key)}["\']?\s*([.=\]])')
    return next(
        (number for number, line in enumerate(text.split("\n"), 1) if sought.match(line)), 1
    )


def _nearest(key: str) -> str:
    near = get_close_matches(key, SETTING_TYPES, n=1)
    return f' Did you mean "{near[0]}"?' if near else ""


def changed(text: str, key: str, value: Value) -> str:
    """Return the file's text with one setting changed, and all comments and other lines kept.

    `key` is a setting, or `suits.` and a game. Raises `ParseError` if the text is not valid TOML.
    """
    table = tomlkit.parse(text)
    whole, _, game = key.partition(".")
    if not game:
        table[whole] = value
    elif isinstance(by_game := table.get(whole), dict):
        by_game[game] = value
    else:
        # one value for every game becomes one value for each
        new = tomlkit.inline_table()
        new.update({**dict.fromkeys(GAMES if by_game else (), by_game), game: value})
        table[whole] = new
    return tomlkit.dumps(table)


def keep(path: Path, key: str, value: Value) -> None:
    """Change one setting in the file, or create the file. Raises `Problem`."""
    try:
        text = changed(read(path), key, value)
        # a file kept elsewhere and linked here stays a link
        path = path.resolve()
        replace_file(path, text.encode())
    except (OSError, ValueError) as error:
        raise Problem(
            f"{key} = {shown(value)} could not be saved in {path}: {error}.",
            "Add it there by hand; the file is unchanged.",
            Exit.UNEXPECTED,
        ) from None
