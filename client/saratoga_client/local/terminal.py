"""The capabilities of the terminal, from environment variables and the output's encoding.

`capabilities` is pure. Nothing here writes to the terminal.
"""

import os
import shutil
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from enum import IntEnum
from typing import Final

SMALLEST: Final = (80, 24)
"""Columns and rows of the smallest terminal that shows every game with its panel."""

_TRUE_COLOUR: Final = ("truecolor", "24bit")


class Colours(IntEnum):
    """The number of colours of a terminal."""

    NONE = 0
    SIXTEEN = 16
    MANY = 256
    ALL = 1 << 24


@dataclass(frozen=True, slots=True, kw_only=True)
class Capabilities:
    """The capabilities of a terminal."""

    is_terminal: bool
    """True if standard input and standard output are both a terminal."""
    term: str
    why_plain: str
    """The reason why the terminal shows only lines of text; empty if it can show the screen."""
    colours: Colours
    unicode: bool
    """True if the terminal shows suit and line symbols; otherwise only ASCII is safe."""
    columns: int
    rows: int


def capabilities(
    environment: Mapping[str, str],
    *,
    is_terminal: bool,
    size: tuple[int, int],
    encoding: str = "utf-8",
    is_windows: bool = False,
) -> Capabilities:
    """Return the capabilities of a terminal; `encoding` is the encoding of standard output."""
    term = environment.get("TERM", "")
    redraws = term != "dumb" and (bool(term) or is_windows)
    why_plain = "" if redraws else f"the terminal cannot redraw (TERM={term or 'unset'})"
    return Capabilities(
        is_terminal=is_terminal,
        term=term,
        why_plain=why_plain if is_terminal else "input or output is not a terminal",
        colours=_colours(environment, term, is_windows) if redraws else Colours.NONE,
        unicode=_speaks_unicode(environment, term, encoding, is_windows),
        columns=size[0],
        rows=size[1],
    )


def this_terminal() -> Capabilities:
    """Return the capabilities of this program's terminal now; a closed stream is no terminal."""
    is_terminal = False
    with suppress(AttributeError, ValueError):
        is_terminal = sys.stdin.isatty() and sys.stdout.isatty()
    size = shutil.get_terminal_size(SMALLEST)
    return capabilities(
        os.environ,
        is_terminal=is_terminal,
        size=(size.columns, size.lines),
        encoding=getattr(sys.stdout, "encoding", None) or "ascii",
        is_windows=sys.platform == "win32",
    )


def _colours(environment: Mapping[str, str], term: str, is_windows: bool) -> Colours:
    # https://no-color.org: any value except an empty one disables colours
    if environment.get("NO_COLOR"):
        return Colours.NONE
    if environment.get("COLORTERM", "").lower() in _TRUE_COLOUR or "WT_SESSION" in environment:
        return Colours.ALL
    if term.startswith("vt1") or term.endswith("-m") or "mono" in term:
        return Colours.NONE
    if "direct" in term:
        return Colours.ALL
    if "256color" in term or "kitty" in term or is_windows:
        return Colours.MANY
    return Colours.SIXTEEN


def _speaks_unicode(
    environment: Mapping[str, str], term: str, encoding: str, is_windows: bool
) -> bool:
    charsets = [encoding]
    locale = next(filter(None, map(environment.get, ("LC_ALL", "LC_CTYPE", "LANG"))), "")
    # Most terminals use UTF-8 if no locale variable is set.
    if locale and not is_windows:
        # Such as en_GB.UTF-8 and de_DE.UTF-8@euro, or only UTF-8 on macOS.
        charsets.append(locale.partition("@")[0].rpartition(".")[2])
    plain = (charset.lower().replace("-", "").replace("_", "") for charset in charsets)
    # The Linux console has 256 or 512 glyphs, usually without suit symbols.
    return term != "linux" and all(charset in ("utf8", "cp65001") for charset in plain)
