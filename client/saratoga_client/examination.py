"""What `saratoga doctor` looks at: the terminal, the files, the way to the house.

Each finding says how it is, whether that is well, and if not, what to do. Only `way_to_house` leaves
this machine.
"""

import os
import platform
import stat
import time
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Final

from saratoga_client import house_process, identity, places, settings_file
from saratoga_client.problems import Problem
from saratoga_client.settings import Settings
from saratoga_client.terminal import SMALLEST, Capabilities, Colours

SLOW: Final = 250.0
"""Milliseconds there and back from which on every move is felt."""

PARTS: Final = ("saratoga", "textual", "rich", "websockets", "msgspec", "click")


class Verdict(StrEnum):
    """How it is with one thing."""

    OK = "ok"
    NOTE = "note"
    """Works, but less well than it could."""
    WRONG = "wrong"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing looked at."""

    name: str
    verdict: Verdict
    found: str
    remedy: str = ""


def of_terminal(terminal: Capabilities, settings: Settings) -> Iterator[Finding]:
    """What the screen can show."""
    if terminal.why_plain:
        yield Finding(
            "terminal",
            Verdict.NOTE,
            f"{terminal.why_plain}: everything is lines of text",
            "Run it in a terminal, with TERM such as xterm-256color, to see pictures.",
        )
    else:
        yield Finding("terminal", Verdict.OK, f"TERM={terminal.term or 'unset'}{_within()}")
    size = f"{terminal.columns} columns, {terminal.rows} rows"
    if terminal.is_roomy:
        yield Finding("size", Verdict.OK, size)
    else:
        yield Finding(
            "size",
            Verdict.NOTE,
            f"{size}: the panel is cut short",
            f"Make the window {SMALLEST[0]} x {SMALLEST[1]} or larger, or the letters smaller.",
        )
    yield _colours(terminal)
    yield _signs(terminal, settings)
    mouse = "reported by most terminals" if terminal.is_full_screen else "of no use here"
    inside = "; in tmux it needs: set -g mouse on" if os.environ.get("TMUX") else ""
    yield Finding("mouse", Verdict.OK, f"{mouse}{inside}; every move has keys too")


def _within() -> str:
    around = [
        name for name, sign in (("tmux", "TMUX"), ("ssh", "SSH_CONNECTION")) if os.environ.get(sign)
    ]
    return f", in {' over '.join(around)}" if around else ""


def _colours(terminal: Capabilities) -> Finding:
    words = terminal.colours.words
    if terminal.colours > Colours.NONE:
        return Finding("colours", Verdict.OK, words)
    if os.environ.get("NO_COLOR"):
        return Finding("colours", Verdict.OK, "none, as NO_COLOR asks; red suits are hollow")
    return Finding(
        "colours",
        Verdict.NOTE,
        f"{words}; red suits are hollow",
        "If the terminal has colours, say so: TERM=xterm-256color, or COLORTERM=truecolor.",
    )


def _signs(terminal: Capabilities, settings: Settings) -> Finding:
    if settings.ascii:
        return Finding("signs", Verdict.OK, "letters for suits, as was chosen")
    if terminal.unicode or settings.ascii is False:
        return Finding("signs", Verdict.OK, "UTF-8: \u2660 \u2665 \u2666 \u2663 \u2502 \u2588")
    locale = next(
        (
            f"{name}={os.environ[name]}"
            for name in ("LC_ALL", "LC_CTYPE", "LANG")
            if os.environ.get(name)
        ),
        "the output is not UTF-8",
    )
    why = "the console of Linux has few signs" if terminal.term == "linux" else locale
    return Finding(
        "signs",
        Verdict.NOTE,
        f"letters for suits, since {why}",
        "Set a locale such as LANG=C.UTF-8, or say --no-ascii if the signs do show.",
    )


def of_parts() -> Iterator[Finding]:
    """The versions of what plays together."""
    told = ", ".join(f"{part} {_version(part)}" for part in PARTS)
    yield Finding("versions", Verdict.OK, f"Python {platform.python_version()}, {told}")
    yield Finding("system", Verdict.OK, f"{platform.system()} {platform.release()}")
    if house_process.is_installed():
        yield Finding("house", Verdict.OK, "can be opened on this machine")
    else:
        problem = house_process.not_installed()
        yield Finding("house", Verdict.NOTE, "cannot be opened on this machine", problem.remedy)


def _version(part: str) -> str:
    try:
        return version(part)
    except PackageNotFoundError:
        return "not installed"


def of_files() -> Iterator[Finding]:
    """The files that are kept; nothing is made by looking."""
    yield _settings_file(places.config_path())
    yield _folder("state", places.state_folder())
    yield _folder("data", places.data_folder())
    yield _token(identity.token_path())


def _settings_file(path: Path) -> Finding:
    try:
        found = settings_file.parse(settings_file.read(path), str(path))
    except Problem as problem:
        return Finding("settings", Verdict.WRONG, problem.what, problem.remedy)
    told = ", ".join(found) if found else "none; the defaults hold"
    return Finding("settings", Verdict.OK, f"{path}: {told}")


def _folder(name: str, path: Path) -> Finding:
    nearest = next(each for each in (path, *path.parents) if each.exists())
    if not os.access(nearest, os.W_OK):
        return Finding(
            name,
            Verdict.WRONG,
            f"{path} cannot be written",
            f"Mend that, or name another folder with {places.HOME_VARIABLE}.",
        )
    return Finding(name, Verdict.OK, f"{path}{'' if nearest == path else ', to be made'}")


def _token(path: Path) -> Finding:
    try:
        identity.load_token(path)
    except FileNotFoundError:
        return Finding("token", Verdict.OK, f"{path}: to be made at the first visit to a house")
    except identity.TokenUnusable as unusable:
        return Finding("token", Verdict.WRONG, unusable.what, unusable.remedy)
    mode = stat.S_IMODE(path.stat().st_mode)
    return Finding("token", Verdict.OK, f"{path}, for you alone ({mode:04o})")


async def way_to_house(server: str) -> Finding:
    """Go there, and measure how long the way is."""
    from saratoga_client.connection import Connection
    from saratoga_client.trouble import (
        HouseClosed,
        Refused,
        Unanswered,
        UnexpectedAnswer,
        Unreachable,
    )
    from saratoga_client.visit import PATIENT, check_address, problem_of
    from saratoga_protocol import events
    from saratoga_protocol.commands import ListTables

    try:
        check_address(server)
        began = time.monotonic()
        # a guest of the moment: to look around nobody has to be anybody
        async with Connection(
            server, identity.new_token(), client="saratoga doctor", timing=PATIENT
        ) as house:
            came = _milliseconds(began)
            began = time.monotonic()
            tables = await house.ask(ListTables, events.Tables)
            there_and_back = _milliseconds(began)
    except Problem as wrong:
        return Finding("way", Verdict.WRONG, wrong.what, wrong.remedy)
    except (Refused, HouseClosed, Unreachable, Unanswered, UnexpectedAnswer) as trouble:
        problem = problem_of(server, trouble)
        return Finding("way", Verdict.WRONG, problem.what, problem.remedy)
    told = (
        f"{server} answers ({house.welcome.server}): {came:.0f} ms to come in, "
        f"{there_and_back:.0f} ms there and back, {len(tables.tables)} public tables"
    )
    if there_and_back > SLOW:
        return Finding(
            "way", Verdict.NOTE, told, "Every move is felt that late. Is there a nearer house?"
        )
    return Finding("way", Verdict.OK, told)


def _milliseconds(since: float) -> float:
    return (time.monotonic() - since) * 1000
