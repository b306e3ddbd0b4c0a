"""Options that several verbs share, and how their work is begun."""

import asyncio
import re
from collections.abc import Callable, Coroutine
from typing import Any, Final, TypeVar

import click

from saratoga_client import codes

DEFAULT_SERVER: Final = "ws://127.0.0.1:7470"
SERVER_VARIABLE: Final = "SARATOGA_SERVER"

Function = TypeVar("Function", bound=Callable[..., Any])
Result = TypeVar("Result")


class Written(click.ParamType[str]):
    """A word that must look a certain way; capitals and stray blanks are forgiven."""

    def __init__(self, name: str, pattern: str, example: str) -> None:
        self.name = name
        self._pattern = re.compile(pattern)
        self._example = example

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        word = value.strip().lower()
        if not self._pattern.fullmatch(word):
            self.fail(f"{value!r} does not look like {self._example}.", param, ctx)
        return word


TABLE_CODE: Final = Written("code", codes.TABLE_CODE, "mint-otter-42")
RACE_ID: Final = Written("race", codes.RACE_ID, "mint-otter-42/3")


def server_option(function: Function) -> Function:
    """Where the house is: by flag, then by environment, then on this machine."""
    return click.option(
        "--server",
        metavar="URL",
        envvar=SERVER_VARIABLE,
        default=DEFAULT_SERVER,
        show_default=True,
        help=f"The house to go to; {SERVER_VARIABLE} says the same.",
    )(function)


def manner_options(function: Function) -> Function:
    """In which form results are written."""
    function = click.option(
        "--plain", is_flag=True, help="One fact a line, no colours, nothing that moves."
    )(function)
    return click.option(
        "--json", "as_json", is_flag=True, help="For programs: versioned JSON, one object a line."
    )(function)


def begin(work: Coroutine[Any, Any, Result]) -> Result:
    """Do the work of a verb that talks to the house."""
    return asyncio.run(work)
