"""The player's settings: options, environment variables, the settings file, last choices, defaults.

The first source in this order that has a setting counts. The file is `config.toml` in the
configuration folder (`paths`); only the player writes it. The program saves the last choices in
`last.json` in the state folder. An error for an invalid setting names its place and the valid
values. The commands apply their options with `Settings.given`.
"""

import json
import os
import re
import tomllib
from collections.abc import Iterable, Mapping
from contextlib import suppress
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any, Final, Literal, Self, TypeAlias, get_args

from msgspec import Meta, Struct, ValidationError, convert
from msgspec.structs import replace

from saratoga_client.local import paths
from saratoga_client.local.origins import DEFAULT_SERVER
from saratoga_client.local.paths import replace_file
from saratoga_client.problems import Exit, Problem
from saratoga_rules.games import GAMES
from saratoga_rules.records.record import TABLE_CODE

THEMES: Final = ("felt", "paper", "plain")
"""Names of the colour themes; a copy of those in `tui.theme`, which settings must not import."""


def _one_of(words: Iterable[str]) -> Meta:
    return Meta(pattern=f"^({'|'.join(words)})$")


Cap: TypeAlias = Literal[3, 5, 10, 20, 0]
Races: TypeAlias = Literal[1, 3, 5]
Suits: TypeAlias = Literal["two", "four"]
GameName: TypeAlias = Annotated[str, _one_of(GAMES)]

CAPS: Final[tuple[int, ...]] = get_args(Cap)
"""The time limits of a race in minutes; 0 is no limit, at private tables only."""

MATCHES: Final[tuple[int, ...]] = get_args(Races)
"""The numbers of races of a match."""

SUITS: Final[tuple[str, ...]] = get_args(Suits)
"""The values for the number of suit colours."""

_PRINTABLE: Final = r"[^\x00-\x1f\x7f-\x9f]"


class Settings(Struct, frozen=True, kw_only=True):
    """All settings with their defaults."""

    server: Annotated[str, Meta(pattern="^wss?://")] = ""
    """The address of the server that a flag, the environment or the file names; empty for none."""
    last_server: str = ""
    """The address of the server that was used last; empty for none."""
    last_table: Annotated[str, Meta(pattern=f"^({TABLE_CODE})?$")] = ""
    """The code of the last table at `last_server`; empty for none."""
    name: Annotated[str, Meta(pattern=f"^{_PRINTABLE}{{1,64}}\\Z")] = ""
    """The name to claim at a new server; if empty, the program asks for a name."""
    suits: dict[GameName, Suits] = {}
    """`two` or `four` by game; other games use their own default."""
    theme: Annotated[str, _one_of(THEMES)] = ""
    """The colour theme; empty for the default theme."""
    ascii: bool | None = None
    """True to use only ASCII characters; `None` to detect what the terminal can show."""
    background: bool = True
    """True to paint a background; false to keep the terminal's own background."""
    quick: bool = False
    """True to play a move at once if a key allows only that move."""
    plain: bool = False
    """True to use lines of text instead of the screen."""
    game: GameName = next(iter(GAMES))
    """The game that was hosted or practised last, which is the first choice for the next table."""
    cap: Cap = 10
    """The time limit of the table that was hosted last, in minutes; 0 for none."""
    races: Races = 1
    """The number of races of the match that was hosted last; 1 for no match."""
    install: Annotated[str, Meta(pattern=f"^{_PRINTABLE}+\\Z")] = ""
    """The installation command in invitations; empty for the usual one."""

    @property
    def server_url(self) -> str:
        """The address of the named server, or else of the last one, or else the default address."""
        return self.server or self.last_server or DEFAULT_SERVER

    def last_table_at(self, server: str) -> str:
        """Return the code of the last table, if it was at that server; else an empty text."""
        return self.last_table if server.rstrip("/") == self.last_server.rstrip("/") else ""

    def given(self, **flags: object) -> Self:
        """Return the settings with options applied; an option of `None` was not given."""
        return replace(self, **{key: each for key, each in flags.items() if each is not None})


_SWITCH: Final = "true or false"

VALUES: Final[Mapping[str, str]] = {
    "server": 'an address such as "ws://192.168.1.7:7470"',
    "name": 'a text such as "Anna", of 64 characters at most',
    "suits": '"two" or "four", or one of these for a game: suits.caprice = "two"',
    "theme": '"felt", "paper" or "plain"',
    "ascii": _SWITCH,
    "background": _SWITCH,
    "quick": _SWITCH,
    "plain": _SWITCH,
    "game": ", ".join(GAMES),
    "cap": "3, 5, 10, 20 or 0",
    "races": "1, 3 or 5",
    "install": 'a command such as "pip install git+https://cards.example.org/saratoga"',
}
"""Every setting of the file and the environment, with its valid values in words."""


def every_game(suits: str) -> dict[str, str]:
    """Return one number of suit colours for every game."""
    return dict.fromkeys(GAMES, suits)


def load() -> Settings:
    """Read the environment, the file and the last choices. Raises `Problem`."""
    last, file = _last(), read()
    suits = {"suits": {**last.get("suits", {}), **file.get("suits", {})}}
    named = {
        key: _checked(key, word, variable, strict=False)
        for key in VALUES
        if (word := os.environ.get(variable := f"SARATOGA_{key.upper()}"))
    }
    return Settings(**{**last, **file, **suits, **named})


def read() -> dict[str, Any]:
    """Return the settings in the file; none if there is no file. Raises `Problem`."""
    path = paths.config_path()
    try:
        text = path.read_text(encoding="utf-8")
        table = tomllib.loads(text)
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except (OSError, ValueError) as error:
        raise Problem(
            f"The settings in {path} cannot be read: {error}.",
            'Correct the file, in which a line looks like name = "Anna", or move it away to use the defaults.',
            Exit.USAGE,
        ) from None
    found = {}
    for key, value in table.items():
        place = f"{path}, line {_line_of(text, key)}"
        if key not in VALUES:
            near = get_close_matches(key, VALUES, n=1)
            meant = f' Did you mean "{near[0]}"?' if near else ""
            raise Problem(
                f"{place}: there is no setting {key!r}.",
                f"The settings are {', '.join(VALUES)}.{meant}",
                Exit.USAGE,
            )
        found[key] = _checked(key, value, f"{place}: {key}")
    return found


def _line_of(text: str, key: str) -> int:
    """Return the number of the line that sets a key, from 1; 1 if no line is found."""
    sought = re.compile(rf'^\s*(\[\s*)?["\']?{re.escape(key)}["\']?\s*([.=\]])', re.MULTILINE)
    found = sought.search(text)
    return 1 if found is None else 1 + text.count("\n", 0, found.end())


def _checked(key: str, value: object, place: str, *, strict: bool = True) -> Any:
    """Return the value of a setting; raises `Problem` with its place.

    Without `strict` the value is a word of the environment, such as `1` for true.
    """
    try:
        return _converted(key, value, strict=strict)
    except ValidationError:
        shown = json.dumps(value, ensure_ascii=False, default=str)
        raise Problem(
            f"{place} cannot be {shown}.", f"It can be {VALUES[key]}.", Exit.USAGE
        ) from None


def _converted(key: str, value: object, *, strict: bool = True) -> Any:
    if key == "suits" and isinstance(value, str):
        value = every_game(value)
    return getattr(convert({key: value}, Settings, strict=strict), key)


def remember(**choices: object) -> None:
    """Save last choices, such as the hosted game; ignore failures."""
    with suppress(OSError):
        replace_file(_last_path(), json.dumps({**_last(), **choices}, indent=1).encode())


def remember_server(server: str, table: str = "") -> None:
    """Save the server that is used, and the table there; ignore failures.

    Without a `table`, the last table at that server stays saved.
    """
    last = last_choices()
    table = table or last.last_table_at(server)
    if (last.last_server, last.last_table) != (server, table):
        remember(last_server=server, last_table=table)


def last_choices() -> Settings:
    """Return the last choices that are valid, and else the defaults."""
    return Settings(**_last())


def server_to_name(server: str) -> str:
    """Return the address that a printed command has to name; empty if commands go there anyway."""
    try:
        usual = load().server_url
    except Problem:
        usual = DEFAULT_SERVER
    return "" if usual.rstrip("/") == server.rstrip("/") else server


def _last() -> dict[str, Any]:
    """Return the last choices that are valid; none if their file cannot be read."""
    found: dict[str, Any] = {}
    with suppress(OSError, ValueError, AttributeError):
        for key, value in json.loads(_last_path().read_bytes()).items():
            with suppress(ValidationError, AttributeError):
                found[key] = _converted(key, value)
    return found


def _last_path() -> Path:
    return paths.state_folder() / "last.json"
