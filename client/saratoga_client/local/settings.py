"""The player's settings: options, environment variables, the settings file, last choices, defaults.

The first source in this order that has a setting counts. The file is `config.toml` in the
configuration folder (`paths`). An error for an invalid setting names the line and a remedy. The
commands apply their options with `Settings.given`.
"""

import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, Self

from saratoga_client.local import paths, settings_file
from saratoga_client.local.origins import DEFAULT_SERVER
from saratoga_client.local.setting_values import LAST_TYPES, NO_MATCH, SETTING_TYPES
from saratoga_client.local.settings_file import Value
from saratoga_client.problems import Exit, Problem
from saratoga_rules.games import GAMES


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """All settings with their defaults."""

    server: str = ""
    """The address of the server that a flag, the environment or the file names; empty for none."""
    last_server: str = ""
    """The address of the server that was used last; empty for none."""
    last_table: str = ""
    """The code of the last table at `last_server`; empty for none."""
    name: str = ""
    """The name to claim at a new server; if empty, the program asks for a name."""
    suits: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    """`two` or `four` by game; other games use their own default."""
    theme: str = ""
    """The colour theme; empty for the default theme."""
    ascii: bool | None = None
    """True to use only ASCII characters; `None` to detect what the terminal can show."""
    background: bool = True
    """True to paint a background; false to keep the terminal's own background."""
    quick: bool = False
    """True to play a move at once if a key allows only that move."""
    plain: bool = False
    """True to use lines of text instead of the screen."""
    game: str = next(iter(GAMES))
    """The game that was hosted or practised last, which is the first choice for the next table."""
    cap: int = 10
    """The time limit of the table that was hosted last, in minutes; 0 for none."""
    races: int = NO_MATCH
    """The number of races of the match that was hosted last; 1 for no match."""
    install: str = ""
    """The installation command in invitations; empty for the command from `installation`."""

    @property
    def server_url(self) -> str:
        """The address of the named server, or else of the last one, or else the default address."""
        return self.server or self.last_server or DEFAULT_SERVER

    def last_table_at(self, server: str) -> str:
        """Return the code of the last table, if it was at that server; else an empty text."""
        return self.last_table if server.rstrip("/") == self.last_server.rstrip("/") else ""

    def given(self, **flags: object) -> Self:
        """Return the settings with options applied; an option of `None` was not given."""
        return replace(self, **{key: each for key, each in flags.items() if each is not None})  # type: ignore[arg-type]  # the commands' options give the types


def load(environment: Mapping[str, str] = os.environ, path: Path | None = None) -> Settings:
    """Read the environment, the file and the last choices. Raises `Problem`."""
    path = paths.config_path() if path is None else path
    return Settings(
        **{
            **_last(),
            **settings_file.parse(settings_file.read(path), str(path)),
            **_of_environment(environment),
        }
    )


def keep(key: str, value: Value) -> None:
    """Save a setting in the settings file; `key` may be `suits.GAME` too. Raises `Problem`."""
    settings_file.keep(paths.config_path(), key, value)


def remember_last(**choices: Value) -> None:
    """Save the last choices, such as the hosted game; ignore failures."""
    for key, value in choices.items():
        with suppress(Problem):
            settings_file.keep(_last_path(), key, value)


def remember_server(server: str, table: str = "") -> None:
    """Save the server that is used, and the table there; ignore failures.

    Without a `table`, the last table at that server stays saved.
    """
    last = Settings(**_last())
    table = table or last.last_table_at(server)
    if (last.last_server, last.last_table) != (server, table):
        remember_last(server=server, table=table)


def server_to_name(server: str) -> str:
    """Return the address that a printed command has to name; empty if commands go there anyway."""
    try:
        usual = load().server_url
    except Problem:
        usual = DEFAULT_SERVER
    return "" if usual.rstrip("/") == server.rstrip("/") else server


def load_last_server() -> str:
    """Return the address of the server that was used last; empty for none."""
    return Settings(**_last()).last_server


def last_table_at(server: str) -> str:
    """Return the code of the last table at a server, if that server was the last one; else empty."""
    return Settings(**_last()).last_table_at(server)


def _last() -> dict[str, Any]:
    """Return the last choices that are valid; none if their file cannot be read."""
    try:
        last = settings_file.valid(settings_file.read(_last_path()), LAST_TYPES)
    except Problem:
        return {}
    # the last server counts less than a server that the player names
    return {_LAST_NAMES.get(key, key): value for key, value in last.items()}


def _last_path() -> Path:
    return paths.state_folder() / "last.toml"


def _of_environment(environment: Mapping[str, str]) -> dict[str, Any]:
    """Return the settings from environment variables such as `SARATOGA_THEME`; raises `Problem`."""
    found: dict[str, Any] = {}
    for key, kind in SETTING_TYPES.items():
        variable = variable_of(key)
        word = environment.get(variable)
        if not word:
            continue
        read = kind.read_word(word)
        if read is None:
            raise Problem(
                f"{variable} cannot be {word!r}.",
                f"Write {kind.example_of_variable(variable)}.",
                Exit.USAGE,
            )
        found[key] = read
    return found


def variable_of(key: str) -> str:
    """Return the environment variable of a setting."""
    return f"SARATOGA_{key.upper()}"


_LAST_NAMES: Final = {"server": "last_server", "table": "last_table"}
"""The settings that only the last choices have, by their keys in that file."""

assert {*SETTING_TYPES, *_LAST_NAMES.values()} == {each.name for each in fields(Settings)}
