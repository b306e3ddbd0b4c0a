"""`saratoga doctor`: check the terminal, the files and the connection to the server."""

import asyncio
import os
import time
from collections.abc import Iterator
from contextlib import suppress
from typing import Final, Literal

import click
from msgspec import Struct

from saratoga_client.cli.frame import example_command
from saratoga_client.cli.options import output_options
from saratoga_client.local import identity, paths, settings
from saratoga_client.local.settings import Settings, load
from saratoga_client.local.terminal import SMALLEST, Capabilities, Colours, this_terminal
from saratoga_client.output import OutputFormat, output_format, write_json, write_line
from saratoga_client.problems import Exit, Problem
from saratoga_client.session.open_connection import open_connection
from saratoga_protocol import events
from saratoga_protocol.commands import ListTables

SLOW: Final = 250.0
"""Minimum round trip, in milliseconds, that is reported as slow."""

MARGIN: Final = 7
"""Width of the verdict before each finding, in cells."""

COLOUR_WORDS: Final = {
    Colours.NONE: "none",
    Colours.SIXTEEN: "16",
    Colours.MANY: "256",
    Colours.ALL: "all (24 bit)",
}

COLOURS: Final = {"ok": "green", "note": "yellow", "wrong": "red"}


class Finding(Struct, frozen=True):
    """The result of one check."""

    name: str
    verdict: Literal["ok", "note", "wrong"]
    """`note`: the part works, but not as well as it could."""
    found: str
    remedy: str = ""


@example_command(
    ("saratoga doctor", "check the terminal, the files and the connection"),
    ("saratoga doctor --server wss://cards.example.org", "check the connection to that server"),
    ("saratoga doctor --json", "a report for a person who helps you"),
)
@click.option(
    "--server", metavar="URL", help="The server to connect to.  [default: as for playing]"
)
@output_options
def command(server: str | None, as_json: bool, plain: bool) -> int:
    """Check the terminal, the files and the connection to the server, and print remedies.

    The exit code is 0 if nothing is wrong, 3 if only the connection is, else 1.
    """
    shown_in = output_format(as_json=as_json, plain=plain)
    chosen = Settings()
    # a finding says what is wrong with the settings
    with suppress(Problem):
        chosen = load()
    address = server or chosen.server_url
    connection = asyncio.run(of_connection(address, is_named=bool(server or chosen.server)))
    findings = [*of_terminal(this_terminal()), *of_files(), connection]
    wrong = [finding.name for finding in findings if finding.verdict == "wrong"]
    if shown_in is OutputFormat.JSON:
        report = {"well": not wrong, "server": address, "findings": findings}
        write_json("saratoga.doctor.v1", report)
    else:
        for finding in findings:
            colour = COLOURS[finding.verdict] if shown_in is OutputFormat.LIVE else None
            mark = click.style(f"{finding.verdict:<{MARGIN}}", fg=colour)
            write_line(f"{finding.name}: {finding.found}", mark=mark)
            if finding.remedy:
                write_line(f"{finding.name}: {finding.remedy}", mark=f"{'remedy':<{MARGIN}}")
    if not wrong:
        return Exit.DONE
    return Exit.UNREACHABLE if wrong == ["connection"] else Exit.UNEXPECTED


def _judged(name: str, is_well: bool, found: str, remedy: str) -> Finding:
    """Return a finding that is a note with a remedy unless all is well."""
    return Finding(name, "ok", found) if is_well else Finding(name, "note", found, remedy)


def of_terminal(terminal: Capabilities) -> Iterator[Finding]:
    """Yield the findings on the capabilities of the terminal."""
    why = terminal.why_plain
    yield _judged(
        "terminal",
        not why,
        f"{why}, so the game is shown as lines of text"
        if why
        else f"TERM={terminal.term or 'unset'}",
        "To play on the full screen, run saratoga in a terminal with TERM set, for example to xterm-256color.",
    )
    yield _judged(
        "size",
        terminal.columns >= SMALLEST[0] and terminal.rows >= SMALLEST[1],
        f"{terminal.columns} columns, {terminal.rows} rows",
        f"The panel is cut short: make the window {SMALLEST[0]} x {SMALLEST[1]} or larger.",
    )
    yield _judged(
        "colours",
        terminal.colours > Colours.NONE or bool(os.environ.get("NO_COLOR")),
        COLOUR_WORDS[terminal.colours],
        "Red suits are hollow. If the terminal has colours, set TERM=xterm-256color, or COLORTERM=truecolor.",
    )


def of_files() -> Iterator[Finding]:
    """Check the player's settings and folders, without creating any."""
    try:
        found = ", ".join(settings.read()) or "none; the defaults hold"
        yield Finding("settings", "ok", f"{paths.config_path()}: {found}")
    except Problem as failure:
        yield Finding("settings", "wrong", failure.what, failure.remedy)
    for name, folder in (("state", paths.state_folder()), ("data", paths.data_folder())):
        nearest = next(each for each in (folder, *folder.parents) if each.exists())
        if os.access(nearest, os.W_OK):
            new = "" if nearest == folder else ", not created yet"
            yield Finding(name, "ok", f"{folder}{new}")
        else:
            remedy = f"Make {nearest} writable, or set {paths.HOME_VARIABLE} to another folder."
            yield Finding(name, "wrong", f"{folder} cannot be written", remedy)


async def of_connection(server: str, *, is_named: bool = True) -> Finding:
    """Connect to the server and measure the round trip.

    No answer is an error only if the player has named the server.
    """
    try:
        # a token for this check only; listing the tables needs no name
        async with open_connection(server, token=identity.new_token()) as connection:
            began = time.monotonic()
            tables = await connection.ask(ListTables, events.Tables)
            round_trip_ms = (time.monotonic() - began) * 1000
    except Problem as failure:
        is_wrong = is_named or failure.code != Exit.UNREACHABLE
        return Finding("connection", "wrong" if is_wrong else "note", failure.what, failure.remedy)
    return _judged(
        "connection",
        round_trip_ms <= SLOW,
        f"{server} answers ({connection.welcome.server}): round trip {round_trip_ms:.0f} ms, "
        f"public tables: {len(tables.tables)}",
        "Each move takes that long to be confirmed. Use a nearer server if there is one.",
    )
