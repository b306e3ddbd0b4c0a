"""`saratoga verify RACE|FILE`: check a finished race from its record.

The network's modules take a fifth of the start-up time, so they are imported only to fetch a
record: records in files, for `replay` too, are read without them.
"""

import asyncio
import re
from functools import partial
from pathlib import Path

import click

from saratoga_client.cli.frame import example_command
from saratoga_client.cli.options import output_options, server_option
from saratoga_client.local.settings import Settings
from saratoga_client.output import OutputFormat, output_format, say, write_json, write_line
from saratoga_client.problems import Exit, Problem
from saratoga_client.session.record_store import MAX_BYTES, RecordStore
from saratoga_client.session.run_watch import OpenBook
from saratoga_client.session.verdict import Proof, prove
from saratoga_client.session.witness import Witness
from saratoga_rules.records.digest_words import parse_digest_words
from saratoga_rules.records.record import OPEN_ID, RACE_ID

OTHER_FILE = "Give another file, or a race's id such as mint-otter-42/3."


@example_command(
    ("saratoga verify mint-otter-42/3", "fetch the record and check it here"),
    ("saratoga verify mint-otter-42/3#oak-pear-lamp-river", "... and a friend's four words"),
    ("saratoga verify race.record", "check a record in a file"),
    ("saratoga verify mint-otter-42/3 --save race.record", "... and save it"),
)
@click.argument("race_or_file", metavar="RACE[#WORDS]|LINK|FILE")
@click.option(
    "--save", type=click.Path(dir_okay=False, path_type=Path), help="Save the record in this file."
)
@output_options
@server_option
def command(
    race_or_file: str, save: Path | None, as_json: bool, plain: bool, settings: Settings
) -> int:
    """Recompute a finished race from its record: deal, moves, endings, scores, order.

    RACE is a race's id such as mint-otter-42/3, LINK that to its boards; FILE is a saved record. WORDS are the four words
    that a friend was shown: whoever was shown another record has other words. If no server answers,
    the record that this machine saved is checked. The exit code is 7 if a check fails, and 5 if one
    can't be made here. The record is compared with all that the server has shown to this machine's
    players since before the deal.
    """
    shown_in = output_format(as_json=as_json, plain=plain)
    named, sign, typed = race_or_file.partition("#")
    if Path(race_or_file).is_file():
        named, sign = race_or_file, ""
    try:
        words = parse_digest_words(typed) if sign else ""
    except ValueError as fault:
        raise Problem(
            f"{typed!r} are not the words of a digest: {fault}.",
            "They look like mint-otter-42/3#oak-pear-lamp-river.",
            Exit.USAGE,
        ) from None
    race, server = race_named(named, settings.server_url)
    record = read_record(named, race, server)
    if save is not None:
        try:
            save.write_bytes(record)
        except OSError as error:
            why = f"The record cannot be saved in {save}: {error}."
            raise Problem(why, "Name another file with --save.", Exit.USAGE) from None
    proof = prove(record, race, Witness().evidence(race or _race_in(record)), words)
    show(proof, shown_in)
    wrong = []
    if proof.record is not None and proof.record.kind:
        wrong = OpenBook().wrong(proof.record, proof.digest)
        if OpenBook().has_run(proof.race) and not wrong:
            say("It agrees with what this machine saw of your run.")
    for each in wrong:
        say(f"ALARM: {each}")
    if proof.is_contradicted or wrong:
        return Exit.NOT_VERIFIED
    return Exit.DONE if proof.ok else Exit.TOO_OLD


def race_named(word: str, server: str) -> tuple[str, str]:
    """Return the id of the race that an argument names, empty for a file, and the race's server.

    The server is that of a link to the race, or else `server`. Raises `Problem`.
    """
    race = word.strip().lower()
    if Path(word).is_file():
        return "", server
    if link := re.fullmatch(r"(?:http|ws)(s?://[^/]+)/(?:races/|c/)?(.+)", race):
        server, race = f"ws{link[1]}", link[2]
    if not re.fullmatch(f"{RACE_ID}|{OPEN_ID}", race):
        raise Problem(
            f"{word!r} is neither a file nor a race's id.",
            "A race's id looks like mint-otter-42/3.",
            Exit.USAGE,
        )
    return race, server


def read_record(named: str, race: str, server: str, *, prefers_kept: bool = False) -> bytes:
    """Return the record of a race, or without a race the record in a file. Raises `Problem`.

    A race's record comes from the server, or from this machine if no server has it or with
    `prefers_kept`.
    """
    kept = RecordStore().text(race) if race else None
    if race and not (prefers_kept and kept):
        try:
            return asyncio.run(fetch(server, race))
        except Problem as problem:
            if kept is None or problem.code not in (Exit.UNREACHABLE, Exit.NOT_FOUND):
                raise
            say(problem.what)
    if kept is not None:
        say("This is the record that is saved on this machine.")
        return kept.encode()
    try:
        with Path(named).open("rb") as file:
            record = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise Problem(f"{named} cannot be read: {error}.", OTHER_FILE, Exit.USAGE) from None
    if len(record) > MAX_BYTES:
        raise Problem(f"{named} is too long to be a record.", OTHER_FILE, Exit.NOT_VERIFIED)
    return record


async def fetch(server: str, race: str) -> bytes:
    """Return the record of a race from the server. Raises `Problem`."""
    from saratoga_client.local.identity import new_token
    from saratoga_client.session.open_connection import open_connection
    from saratoga_protocol import events
    from saratoga_protocol.commands import GetRecord

    # records are public, so the request is anonymous
    async with open_connection(server, token=new_token()) as connection:
        record = await connection.ask(partial(GetRecord, race=race), events.Record)
    return record.text.encode()


def _race_in(record: bytes) -> str:
    """Return the id of the race that a record says it is of; empty without one."""
    found = re.search(rb"^(?:race|open) (\S{1,60})$", record, re.MULTILINE)
    return found[1].decode("ascii", "replace") if found else ""


def show(proof: Proof, shown_in: OutputFormat) -> None:
    """Print all checks and the verdict."""
    if shown_in is OutputFormat.JSON:
        record = proof.record
        fields = {
            "race": proof.race,
            "game": record.game if record else "",
            "verified": proof.ok,
            "voided": (record.voided or None) if record else None,
            "witness": proof.verdict,
            "contradictions": sorted({found.key[0] for found in proof.findings}),
            "digest": proof.digest,
            "words": proof.words,
            "checks": proof.checks,
            "places": proof.standing,
            "names": {racer.player: racer.name for racer in record.racers} if record else {},
        }
        write_json("saratoga.verify.v1", fields)
        return
    for check in proof.checks:
        mark = f"{check.mark:<5}"
        colour = "green" if check.ok else "red"
        drawn = f"{click.style(mark, fg=colour) if shown_in is OutputFormat.LIVE else mark} "
        write_line(f"{check.name}: {check.detail}", mark=drawn)
    write_line(proof.sentence)
