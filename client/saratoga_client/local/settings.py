"""What a player chose: flags over the environment over the file over the defaults.

The file is `config.toml` in the folder of the configuration (`places`). Whatever stands there
wrongly is refused with the place and the remedy: a setting that does nothing is worse than none.
Flags are the commands' business; they take the place of what is loaded here (`Settings.given`).
"""

import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, Self

from saratoga_client.local import paths, settings_file
from saratoga_client.local.setting_values import SETTING_TYPES
from saratoga_client.local.settings_file import Value
from saratoga_client.problems import Exit, Problem

DEFAULT_SERVER: Final = "ws://127.0.0.1:7470"
"""Where a house is looked for if nobody says where one is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """All that can be chosen; the defaults suit most."""

    server: str = ""
    """The house to go to; empty: none is known."""
    name: str = ""
    """Claimed at the first visit to a house; empty: one is asked for."""
    suits: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    """`two` or `four` by game; a game that is not there has what suits it."""
    theme: str = ""
    """Of the screen's colours; empty: the first there is."""
    ascii: bool | None = None
    """Only letters and lines that every terminal has; `None`: as the terminal can."""
    background: bool = True
    """Paint the table; without, the terminal's own background shows."""
    quick: bool = False
    """A key with only one sense is a move at once."""
    plain: bool = False
    """Lines of text instead of pictures."""
    game: str = "canfield"
    """What was hosted last, and is offered first."""
    cap: int = 10
    """Minutes, likewise."""
    install: str = ""
    """The line in invitations that makes a friend's machine ready; empty: see `installation`."""

    @property
    def server_url(self) -> str:
        """The house to go to, named or not."""
        return self.server or DEFAULT_SERVER

    def given(self, **flags: object) -> Self:
        """With the flags that were given; `None` was not."""
        return replace(self, **{key: each for key, each in flags.items() if each is not None})  # type: ignore[arg-type]  # the commands' options give the types


def load(environment: Mapping[str, str] = os.environ, path: Path | None = None) -> Settings:
    """What the environment and the file say, and what was played last. Raises `Problem`."""
    path = paths.config_path() if path is None else path
    return Settings(
        **{
            **_last(),
            **settings_file.parse(settings_file.read(path), str(path)),
            **_of_environment(environment),
        }
    )


def keep(key: str, value: Value) -> None:
    """Keep a choice for the next run: a setting's key, or `suits.caprice`. Raises `Problem`."""
    settings_file.keep(paths.config_path(), key, value)


def remember_last(**choices: Value) -> None:
    """Offer this first the next time, such as the game that was hosted; no matter if it is lost."""
    for key, value in choices.items():
        with suppress(Problem):
            settings_file.keep(_last_path(), key, value)


def _last() -> dict[str, Any]:
    """What was chosen the last time; a file that cannot be read says nothing."""
    try:
        return settings_file.parse(settings_file.read(_last_path()), "")
    except Problem:
        return {}


def _last_path() -> Path:
    return paths.state_folder() / "last.toml"


def _of_environment(environment: Mapping[str, str]) -> dict[str, Any]:
    """The environment's settings, `SARATOGA_THEME` and so on; raises `Problem`."""
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
    """The environment's name of a setting."""
    return f"SARATOGA_{key.upper()}"


assert set(SETTING_TYPES) == {each.name for each in fields(Settings)}
