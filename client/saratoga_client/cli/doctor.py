"""`saratoga doctor`: check the terminal, the files and the connection to the server."""

import asyncio
from textwrap import wrap
from typing import Final

import click
from msgspec import Struct

from saratoga_client.cli.commands import ExampleCommand
from saratoga_client.cli.doctor_checks import (
    Finding,
    Severity,
    check_connection,
    of_files,
    of_parts,
    of_terminal,
)
from saratoga_client.cli.options import output_options
from saratoga_client.local.settings import Settings, load
from saratoga_client.local.terminal import this_terminal
from saratoga_client.output import OutputFormat, output_format, write_json, write_line
from saratoga_client.problems import Exit, Problem


class FindingOut(Struct, frozen=True, kw_only=True):
    """The result of one check."""

    name: str
    verdict: Severity
    found: str
    remedy: str


class ReportOut(Struct, frozen=True, kw_only=True):
    """The object that `--json` prints."""

    schema: str = "saratoga.doctor.v1"
    well: bool
    server: str
    findings: list[FindingOut]


MARGIN: Final = 7
"""Width of the verdict before each finding, in cells."""

COLOURS: Final = {Severity.OK: "green", Severity.NOTE: "yellow", Severity.WRONG: "red"}


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
    chosen = _settings()
    address = server or chosen.server_url
    findings = [*of_terminal(this_terminal(), chosen), *of_parts(), *of_files()]
    findings.append(asyncio.run(check_connection(address, is_named=bool(server or chosen.server))))
    show(findings, address, shown_in)
    wrong = [finding.name for finding in findings if finding.verdict is Severity.WRONG]
    if not wrong:
        return Exit.DONE
    return Exit.UNREACHABLE if wrong == ["way"] else Exit.UNEXPECTED


def _settings() -> Settings:
    """Return the player's settings; the defaults if the settings are invalid."""
    try:
        return load()
    except Problem:
        return Settings()


def show(findings: list[Finding], server: str, shown_in: OutputFormat) -> None:
    """Print the findings, in the given format."""
    if shown_in is OutputFormat.JSON:
        write_json(
            ReportOut(
                well=all(finding.verdict is not Severity.WRONG for finding in findings),
                server=server,
                findings=[
                    FindingOut(
                        name=finding.name,
                        verdict=finding.verdict,
                        found=finding.found,
                        remedy=finding.remedy,
                    )
                    for finding in findings
                ],
            )
        )
        return
    for finding in findings:
        _show_finding(finding, shown_in)


def _show_finding(finding: Finding, shown_in: OutputFormat) -> None:
    line = f"{finding.name}: {finding.found}"
    mark = f"{finding.verdict:<{MARGIN}}"
    if shown_in is OutputFormat.PLAIN:
        write_line(line, mark=mark)
        if finding.remedy:
            write_line(f"{finding.name}: {finding.remedy}", mark=f"{'remedy':<{MARGIN}}")
        return
    width = max(40, this_terminal().columns - MARGIN)
    first, *more = (*wrap(line, width), *wrap(finding.remedy, width))
    write_line(first, mark=click.style(mark, fg=COLOURS[finding.verdict]))
    for line in more:
        write_line(" " * MARGIN + line)
