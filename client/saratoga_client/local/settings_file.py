"""The settings file: read with the line of each error, and changed one line at a time.

Players edit the file too, so all other lines stay as they are.
"""

import re
import tomllib
from collections.abc import Callable
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, TypeAlias

from saratoga_client.local.files import replace_file
from saratoga_client.local.setting_values import SETTING_TYPES, SUITS, shown
from saratoga_client.problems import Exit, Problem
from saratoga_rules.games import GAMES

Value: TypeAlias = str | bool | int

_HEADER: Final = re.compile(r"\s*\[")
_COMMENT: Final = re.compile(r"\s*#.*$")


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


def parse(text: str, source: str) -> dict[str, Any]:
    """Return the settings in a file's text; `source` names it in messages. Raises `Problem`."""
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise Problem(
            f"The settings in {source} are not valid TOML: {error}.",
            'A line looks like: name = "Anna"',
            Exit.USAGE,
        ) from None
    return {
        key: _read(key, value, lambda name: f"{source}, line {line_of(text, name)}")
        for key, value in table.items()
    }


def _read(key: str, value: object, place: Callable[[str], str]) -> object:
    """Return the value of a setting; raises `Problem` with the line."""
    if key not in SETTING_TYPES:
        raise Problem(
            f"{place(key)}: there is no setting {key!r}.",
            f"The settings are {', '.join(SETTING_TYPES)}.{_nearest(key)}",
            Exit.USAGE,
        )
    kind = SETTING_TYPES[key]
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
    from difflib import get_close_matches

    near = get_close_matches(key, SETTING_TYPES, n=1)
    return f' Did you mean "{near[0]}"?' if near else ""


def changed(text: str, key: str, value: Value) -> str:
    """Return the file's text with one setting changed and all other lines unchanged.

    `key` is a setting, or `suits.` and a game. Raises `ValueError` if the file sets the key in a form
    that cannot be changed by line.
    """
    before = tomllib.loads(text)
    wanted = _table_with(before, key, value)
    lines = text.removesuffix("\n").split("\n") if text else []
    whole, _, game = key.partition(".")
    if game and isinstance(before.get(whole), str):
        at = line_of(text, whole) - 1
        lines[at : at + 1] = [f"{whole}.{each} = {shown(wanted[whole][each])}" for each in GAMES]
    else:
        _put(lines, key, value)
    after = "\n".join(lines) + "\n"
    try:
        is_right = tomllib.loads(after) == wanted
    except tomllib.TOMLDecodeError:
        is_right = False
    if not is_right:
        raise ValueError(f"{key} is set in a form that cannot be changed by line")
    return after


def _table_with(table: dict[str, Any], key: str, value: Value) -> dict[str, Any]:
    whole, _, game = key.partition(".")
    if not game:
        return {**table, key: value}
    suits = table.get(whole, {})
    by_game = dict.fromkeys(GAMES, suits) if isinstance(suits, str) else suits
    return {**table, whole: {**by_game, game: value}}


def _put(lines: list[str], key: str, value: Value) -> None:
    """Change the line of the key, or insert one."""
    whole, _, game = key.partition(".")
    root_ends = next((at for at, line in enumerate(lines) if _HEADER.match(line)), len(lines))
    section = next(
        (at for at, line in enumerate(lines) if re.match(rf"\s*\[\s*{whole}\s*\]", line)), None
    )
    if game and section is not None:
        ends = next(
            (at for at in range(section + 1, len(lines)) if _HEADER.match(lines[at])), len(lines)
        )
        _put_between(lines, section + 1, ends, game, value)
    else:
        _put_between(lines, 0, root_ends, key, value)


def _put_between(lines: list[str], first: int, ends: int, key: str, value: Value) -> None:
    sought = re.compile(rf"\s*{key.replace('.', '[ ]*[.][ ]*')}\s*=\s*(?P<value>.*)$")
    for at in range(first, ends):
        if found := sought.match(lines[at]):
            lines[at] = (
                f"{lines[at][: found.start('value')]}{shown(value)}{_comment(found['value'])}"
            )
            return
    last = next((at for at in range(ends, first, -1) if lines[at - 1].strip()), first)
    lines.insert(last, f"{key} = {shown(value)}")


def _comment(rest: str) -> str:
    """Return the comment after a simple value; a `#` in quotes does not begin one."""
    quoted = re.match(r'"(?:[^"\\]|\\.)*"|\'[^\']*\'|[^#"\']*?(?=\s*(#|$))', rest)
    comment = _COMMENT.match(rest, quoted.end()) if quoted else None
    return comment[0] if comment else ""


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
