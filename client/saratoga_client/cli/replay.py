"""`saratoga replay RACE|FILE`: step through a finished race.

Only the chosen interface is imported, so lines of text do not wait for Textual.
"""

import asyncio

import click

from saratoga_client.cli.frame import example_command
from saratoga_client.cli.options import in_lines, viewing_options
from saratoga_client.cli.verify import OTHER_FILE, race_named, read_record
from saratoga_client.local.hosting import friends_address
from saratoga_client.local.printed_command import printed_command
from saratoga_client.local.settings import Settings, server_to_name
from saratoga_client.output import write_line
from saratoga_client.plain.finished_race import replay_lines
from saratoga_client.problems import Exit, Problem
from saratoga_client.review.boards import open_boards
from saratoga_client.session.record_store import RecordStore
from saratoga_client.session.result_text import voided_problem, wrong_race
from saratoga_rules.records.record import RaceRecord, RecordError, UnknownFormat, parse_record
from saratoga_rules.records.replay import ReplayError, game_of


@example_command(
    ("saratoga replay mint-otter-42/3", "every board of the race, move by move"),
    ("saratoga replay race.record", "a record in a file"),
    ("saratoga replay mint-otter-42/3 --plain", "one move per line"),
)
@click.argument("race_or_file", metavar="RACE|LINK|FILE")
@viewing_options
def command(race_or_file: str, settings: Settings) -> None:
    """Step through a finished race with all boards open.

    RACE is a race's id such as mint-otter-42/3, LINK that to its boards; FILE is a saved record. Your own races are saved on
    this machine and need no server.
    """
    race, server = race_named(race_or_file, settings.server_url)
    record = _record(race_or_file, race, server)
    if in_lines(settings):
        for line in replay_lines(record):
            write_line(line)
        return
    asyncio.run(_on_screen(record, settings, server if race else ""))


async def _on_screen(record: RaceRecord, settings: Settings, server: str) -> None:
    from saratoga_client.tui.app import open_screen, review_flow

    friends = await friends_address(server) if server else ""
    await open_screen(review_flow(record, _own(record), friends), settings)


def _own(record: RaceRecord) -> str:
    """Return the id of the racer who played on this machine; empty if none did."""
    own = {raced.player for raced in RecordStore().races()}
    return next((racer.player for racer in record.racers if racer.player in own), "")


def _record(race_or_file: str, race: str, server: str) -> RaceRecord:
    """Return a record whose boards can all be replayed; raises `Problem`."""
    usual = server_to_name(server)
    try:
        record = parse_record(read_record(race_or_file, race, server, prefers_kept=True).decode())
    except UnknownFormat as fault:
        why = f"This program cannot read {race_or_file}: {fault}."
        raise Problem(why, "Update this program.", Exit.TOO_OLD) from None
    except (RecordError, UnicodeDecodeError) as fault:
        why = f"{race_or_file} is not a race record: {fault}."
        raise Problem(why, OTHER_FILE, Exit.NOT_VERIFIED) from None
    if record.voided:
        raise voided_problem(record, race, usual)
    if race and record.race_id != race:
        raise wrong_race(race, record.race_id)
    remedy, code = "Update this program: a newer one may know these rules.", Exit.TOO_OLD
    try:
        game_of(record)
        checking = printed_command("verify", race_or_file, server=usual)
        remedy, code = f"See what is wrong: {checking}", Exit.NOT_VERIFIED
        open_boards(record)
    except ReplayError as fault:
        reason = str(fault).removesuffix(".")
        raise Problem(f"This race cannot be replayed: {reason}.", remedy, code) from None
    return record
