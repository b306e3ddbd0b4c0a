"""`saratoga doctor`: check the terminal, the files and the connection to the server."""

import asyncio
import os
import time
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import Final

import click
from msgspec import Struct

from saratoga_client.cli.commands import ExampleCommand
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


class Severity(StrEnum):
    """The severity of a finding."""

    OK = "ok"
    NOTE = "note"
    """The part works, but not as well as it could."""
    WRONG = "wrong"


COLOURS: Final = {Severity.OK: "green", Severity.NOTE: "yellow", Severity.WRONG: "red"}


class Finding(Struct, frozen=True):
    """The result of one check."""

    name: str
    verdict: Severity
    found: str
    remedy: str = ""


class ReportOut(Struct, frozen=True, kw_only=True):
    """The object that `--json` prints."""

    schema: str = "saratoga.doctor.v1"
    well: bool
    server: str
    findings: list[Finding]


@click.command(
    cls=ExampleCommand,
    examples=(
        ("saratoga doctor", "check the terminal, the files and the connection"),
        ("saratoga doctor --server wss://cards.example.org", "check the connection to that server"),
        ("saratoga doctor --json", "a report for a person who helps you"),
    ),
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
    try:
        chosen = load()
    except Problem:
        # the finding on the settings says what is wrong
        chosen = Settings()
    address = server or chosen.server_url
    findings = [*of_terminal(this_terminal()), *of_files()]
    findings.append(asyncio.run(of_connection(address, is_named=bool(server or chosen.server))))
    wrong = [finding.name for finding in findings if finding.verdict is Severity.WRONG]
    if shown_in is OutputFormat.JSON:
        write_json(ReportOut(well=not wrong, server=address, findings=findings))
    else:
        for finding in findings:
            show(finding, shown_in)
    if not wrong:
        return Exit.DONE
    return Exit.UNREACHABLE if wrong == ["connection"] else Exit.UNEXPECTED


def show(finding: Finding, shown_in: OutputFormat) -> None:
    """Print a finding and its remedy as lines."""
    colour = COLOURS[finding.verdict] if shown_in is OutputFormat.LIVE else None
    mark = click.style(f"{finding.verdict:<{MARGIN}}", fg=colour)
    write_line(f"{finding.name}: {finding.found}", mark=mark)
    if finding.remedy:
        write_line(f"{finding.name}: {finding.remedy}", mark=f"{'remedy':<{MARGIN}}")


def of_terminal(terminal: Capabilities) -> Iterator[Finding]:
    """Yield the findings on the capabilities of the terminal."""
    if terminal.why_plain:
        yield Finding(
            "terminal",
            Severity.NOTE,
            f"{terminal.why_plain}, so the game is shown as lines of text",
            "To play on the full screen, run saratoga in a terminal with TERM set, for example to xterm-256color.",
        )
    else:
        yield Finding("terminal", Severity.OK, f"TERM={terminal.term or 'unset'}")
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
    if terminal.colours > Colours.NONE or os.environ.get("NO_COLOR"):
        yield Finding("colours", Severity.OK, terminal.colours.words)
    else:
        yield Finding(
            "colours",
            Severity.NOTE,
            f"{terminal.colours.words}; red suits are hollow",
            "If the terminal has colours, set TERM=xterm-256color, or COLORTERM=truecolor.",
        )


def of_files() -> Iterator[Finding]:
    """Check the player's settings and folders, without creating any."""
    path = paths.config_path()
    try:
        found = settings.read(path)
    except Problem as failure:
        yield Finding("settings", Severity.WRONG, failure.what, failure.remedy)
    else:
        summary = ", ".join(found) if found else "none; the defaults hold"
        yield Finding("settings", Severity.OK, f"{path}: {summary}")
    yield _folder("state", paths.state_folder())
    yield _folder("data", paths.data_folder())


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
        verdict = Severity.WRONG if is_wrong else Severity.NOTE
        return Finding("connection", verdict, failure.what, failure.remedy)
    summary = (
        f"{server} answers ({connection.welcome.server}): round trip {round_trip_ms:.0f} ms, "
        f"public tables: {len(tables.tables)}"
    )
    if round_trip_ms > SLOW:
        return Finding(
            "connection",
            Severity.NOTE,
            summary,
            "Each move takes that long to be confirmed. Use a nearer server if there is one.",
        )
    return Finding("connection", Severity.OK, summary)
